# SPDX-License-Identifier: BSD-3-Clause
"""What ``co2forest segment train`` and ``co2forest segment predict`` do."""

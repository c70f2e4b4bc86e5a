# SPDX-License-Identifier: BSD-3-Clause
"""From parameters to trees."""

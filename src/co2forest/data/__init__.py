# SPDX-License-Identifier: BSD-3-Clause
"""X, y and weights as the native core sees them."""

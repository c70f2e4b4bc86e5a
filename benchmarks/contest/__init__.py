# SPDX-License-Identifier: BSD-3-Clause
"""Compare methods on data sets: regression, boosting of classes, refined trees."""

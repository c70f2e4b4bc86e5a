# SPDX-License-Identifier: BSD-3-Clause
"""What the outputs of a forest mean: classes, several labels, costs, numbers, raw scores."""

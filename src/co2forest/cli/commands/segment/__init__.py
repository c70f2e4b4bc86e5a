# SPDX-License-Identifier: BSD-3-Clause
"""Label every pixel of images."""

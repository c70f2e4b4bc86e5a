# SPDX-License-Identifier: BSD-3-Clause
"""Model files: how they are written, and read without trust."""

# SPDX-License-Identifier: BSD-3-Clause
"""Compare methods on ordinary tables: mixed columns, gaps, noisy labels."""

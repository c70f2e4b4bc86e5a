# SPDX-License-Identifier: BSD-3-Clause
"""The options of the commands: a file for each, which imports nothing that is slow to load."""

# SPDX-License-Identifier: BSD-3-Clause
"""What the commands do: a file for each, loaded when the command runs."""

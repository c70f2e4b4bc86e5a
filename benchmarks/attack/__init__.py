# SPDX-License-Identifier: BSD-3-Clause
"""Attacks at random, for as long as one likes. attack/run.py starts them."""

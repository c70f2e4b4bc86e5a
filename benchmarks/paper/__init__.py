# SPDX-License-Identifier: BSD-3-Clause
"""Repeat the experiments of the CO2 Forest paper; `make paper` runs them."""

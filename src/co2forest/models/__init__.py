# SPDX-License-Identifier: BSD-3-Clause
"""Reading a fitted model: the one interface of export, inspection, report, tables, tuning and CLI.

- `view`: a model and its trees, with names and in units of y;
- `outputs`: what the outputs of a model mean;
- `evaluation`: a model on rows whose truth is known;
- `metrics`, `calibration`, `mistakes`, `curves`: how good its predictions are.
"""

# SPDX-License-Identifier: BSD-3-Clause
"""Fitted models for places without this library."""

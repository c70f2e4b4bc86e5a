# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest demo``."""

from table_command import done, found


def test_demo(monkeypatch):
    monkeypatch.setattr("co2forest.demo._TREES", (2,))
    rows = found("demo")["measurements"]
    assert [row["method"] for row in rows] == ["random forest", "CO2 forest"]
    printed = done("demo").stdout
    assert "Handwritten digits" in printed
    assert "CO2 forest                   2" in printed

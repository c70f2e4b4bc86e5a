# SPDX-License-Identifier: BSD-3-Clause
"""The table of all libraries' counts for docs/robustness.md."""

from collections import Counter

from adapters import ADAPTERS, adapter_class
from attack.outcomes import OUTCOMES
from regions import markdown


def of(rows):
    """The last run of each library that met an attack."""
    latest = {(row["library"], row["attack"]): row["run"] for row in rows}
    counts = Counter()
    for row in rows:
        if latest[row["library"], row["attack"]] == row["run"]:
            counts[row["library"], row["attack"], row["outcome"]] += int(row["count"])
    order = list(ADAPTERS)
    lines = []
    for library, attack in sorted(latest, key=lambda key: (order.index(key[0]), key[1])):
        numbers = [counts[library, attack, outcome] for outcome in OUTCOMES]
        lines.append([adapter_class(library).label, attack, sum(numbers), *numbers])
    ours = {key: run for key, run in latest.items() if key[0] == "co2forest"}
    tries = sum(counts[(*key, outcome)] for key in ours for outcome in OUTCOMES)
    minutes = {row["run"]: float(row["minutes"]) for row in rows if row["run"] in ours.values()}
    heading = f"Against co2forest: {tries:,} tries, {sum(minutes.values()):g} minutes.\n"
    return f"{heading}\n{markdown(['library', 'attack', 'tries', *OUTCOMES], lines)}"

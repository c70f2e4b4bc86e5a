# SPDX-License-Identifier: BSD-3-Clause
"""What a try can come to."""

FINE, REFUSED = "fine", "refused"
# What must not happen. A worker reports the last three; the others are its end.
SIGNAL, HANG = "process ended", "hang"
MEMORY, WRONG, UNCLEAR = "over 4 GiB", "wrong", "unclear error"
OUTCOMES = (FINE, REFUSED, UNCLEAR, WRONG, MEMORY, HANG, SIGNAL)
DEFECTS = OUTCOMES[2:]


class Wrong(Exception):  # noqa: N818 (it is a finding)
    """An answer that is silently other than it should be."""


def expect(condition, what):
    """Raise `Wrong` unless the condition holds."""
    if not condition:
        raise Wrong(what)

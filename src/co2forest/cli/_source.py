"""What the command line says about a table to learn from; nothing is read yet."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class TableSource:
    """A file, its target and the roles of its columns."""

    path: Path
    target: str | None  # some formats say themselves what it is
    task: str
    header: bool
    weights: str | None
    roles: dict[str, list[str]]  # by option: columns, or several between commas

    @classmethod
    def of(
        cls,
        path: Path,
        target: str | None,
        task: str,
        no_header: bool,
        weights: str | None,
        drop: list[str] | None,
        keep: list[str] | None,
        categorical: list[str] | None,
    ) -> Self:
        """From options as typer gives them."""
        roles = {"drop": drop or [], "keep": keep or [], "categorical": categorical or []}
        return cls(path, target, str(task), not no_header, weights, roles)

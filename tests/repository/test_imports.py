# SPDX-License-Identifier: BSD-3-Clause
"""A private module is imported by its own package alone; import-linter checks the layers."""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
# Modules of the whole package: the compiled core, and what scikit-learn does not document.
SHARED = {"co2forest._native", "co2forest._sklearn_compat"}


def imported_modules(source):
    """Dotted names that a source imports; of ``from a import b`` both ``a`` and ``a.b``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def foreign_private_imports(module, source):
    """Private modules of other packages that a module imports."""
    package = module.rpartition(".")[0]
    for name in imported_modules(source):
        owner, dot, private = name.partition("._")
        if not name.startswith("co2forest") or not dot or private.startswith("_"):
            continue
        first = f"{owner}._{private.split('.')[0]}"
        inside = f"{package}.".startswith(f"{owner}.") or f"{owner}.__init__" == module
        if first not in SHARED and not inside:
            yield name


@pytest.mark.skipif(not SOURCES.exists(), reason="the sources are not here")
def test_no_private_module_of_another_package():
    found = {}
    for path in SOURCES.rglob("*.py"):
        module = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
        names = sorted(set(foreign_private_imports(module, path.read_text(encoding="utf-8"))))
        if names:
            found[module] = names
    assert found == {}


@pytest.mark.parametrize(
    ("module", "source", "foreign"),
    [
        ("co2forest.cli.app", "from co2forest.tables._cells import Words", True),
        ("co2forest.cli.app", "from co2forest.tables import _cells", True),
        ("co2forest.cli.app", "import co2forest.tables._cells", True),
        ("co2forest.tables.model", "from co2forest.tables._cells import Words", False),
        ("co2forest.tables.formats.csv", "from co2forest.tables._cells import Words", False),
        ("co2forest.cli.app", "from co2forest import _native", False),
        ("co2forest.cli.app", "from co2forest.tables import TableModel", False),
    ],
)
def test_foreign_private_imports_are_found(module, source, foreign):
    assert bool(list(foreign_private_imports(module, source))) == foreign

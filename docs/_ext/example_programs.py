# SPDX-License-Identifier: BSD-3-Clause
"""All programs of examples/ in the page docs/examples.md, each under its first line."""

import ast
from pathlib import Path


def add_programs(app, docname, source):
    if docname != "docs/examples":
        return
    for path in sorted((Path(app.srcdir) / "examples").glob("*.py")):
        about = ast.get_docstring(ast.parse(path.read_text())).partition("\n")[0]
        source[0] += f"\n## {path.name}\n\n{about}\n\n"
        source[0] += f"```{{literalinclude}} ../examples/{path.name}\n:language: python\n```\n"


def setup(app):
    app.connect("source-read", add_programs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

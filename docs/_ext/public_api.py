# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the API, one for each name that a public module lists in `__all__`.

They are written into docs/api before Sphinx looks for pages, and are not part of the repository.
Where a page of the guide names such an object in code style, the name becomes a link to its page.
"""

import importlib
import inspect
import pprint
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

HEAD = """API
===

Every public class and function. All else, above all what begins with an underscore, may change in
any version.

"""


def public_names(entry):
    """The module of an entry of `public_modules`, and the names that it makes public."""
    path, _, single = entry.partition(":")
    module = importlib.import_module(path)
    names = [single] if single else [name for name in module.__all__ if name[0] != "_"]
    return module, names


def own_members(kind):
    """What the library itself, not scikit-learn or Python, gives a class."""
    found = {}
    for base in kind.__mro__:
        if base.__module__.startswith("co2forest"):
            for name, value in vars(base).items():
                if not name.startswith("_") and is_documented(value):
                    found.setdefault(name, value)
    return dict(sorted(found.items()))


def is_documented(value):
    value = getattr(value, "__func__", value)
    return (callable(value) or isinstance(value, property)) and bool(value.__doc__)


def others(kind, own):
    """Methods that come from scikit-learn."""
    return [
        name
        for name, value in inspect.getmembers(kind, inspect.isfunction)
        if name[0] != "_" and name not in own and value.__module__.startswith("sklearn")
    ]


def summary(value):
    """The first sentence of a docstring."""
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split())


def is_data(value):
    return not (inspect.isclass(value) or inspect.isroutine(value))


def page_of(module, name):
    """A page in reStructuredText."""
    value = getattr(module, name)
    full = f"{module.__name__}.{name}"
    lines = [name, "=" * len(name), ""]
    if is_data(value):
        shown = pprint.pformat(value, width=90).splitlines()
        lines += [f".. py:data:: {full}", "", "   ::", "", *(f"      {line}" for line in shown)]
    elif inspect.isclass(value):
        own = own_members(value)
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        lines += [f".. {kind}:: {full}", ""]
        for member, found in own.items():
            how = "autoattribute" if isinstance(found, property) else "automethod"
            lines += [f"   .. {how}:: {member}", ""]
        if inherited := others(value, own):
            listed = ", ".join(f"``{method}``" for method in inherited)
            lines += [f"From scikit-learn: {listed}."]
    else:
        lines += [f".. autofunction:: {full}"]
    return "\n".join(lines) + "\n"


def write_pages(app):
    folder = Path(app.srcdir) / "docs" / "api"
    folder.mkdir(exist_ok=True)
    pages, index, known = {}, [HEAD], {}
    for entry in app.config.public_modules:
        module, names = public_names(entry)
        title = module.__name__
        index += [title, "-" * len(title), "", summary(module), "", ".. list-table::"]
        index += ["   :widths: 35 65", "   :class: api", ""]
        for name in names:
            full = f"{title}.{name}"
            pages[full] = page_of(module, name)
            known[name] = known[full] = full
            value = getattr(module, name)
            text = "A constant." if is_data(value) else summary(value)
            index += [f"   * - :doc:`{name} <{full}>`", f"     - {text}"]
        index += ["", ".. toctree::", "   :hidden:", ""]
        index += [f"   {name} <{title}.{name}>" for name in names] + [""]
    pages["index"] = "\n".join(index)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:  # else Sphinx would read it again
            path.write_text(text)
    app.env.public_names = known


def link_names(app, doctree):
    """`CO2ForestClassifier` in code style, and `CO2ForestClassifier(...)`, is a link."""
    if app.env.docname.startswith("docs/api/"):
        return
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().partition("(")[0]
        target = app.env.public_names.get(name)
        inside = isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title)
        if target is None or inside:
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
        )
        literal.replace_self(link)
        link += literal


def setup(app):
    app.add_config_value("public_modules", [], "env", list)
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

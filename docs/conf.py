# SPDX-License-Identifier: BSD-3-Clause
"""The site: `make docs` builds it from all Markdown files of the repository into build/docs.

The source folder of Sphinx is the repository itself, so that a link like ../SECURITY.md or
../benchmarks/results/accuracy.csv means the same there and in the site. The building needs no
network, and neither does reading: theme, search and mathematics are local files.
"""

import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "benchmarks")]

project = "co2forest"
author = "The co2forest developers"
project_copyright = author
version = release = metadata.version("co2forest")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    # In docs/_ext
    "drawn_figures",
    "example_programs",
    "mathml",
    "measured_tables",
    "public_api",
]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/api/*.rst",
    "benchmarks/README.md",
    "benchmarks/results/README.md",
]
exclude_patterns = ["build", ".*", "native", "src", "tests", "**/page.md"]

# A new module of the library is one more line. "module:name" is a single function of a module that
# has others for itself.
public_modules = [
    "co2forest",
    "co2forest.baselines",
    "co2forest.tuning",
    "co2forest.inspection",
    "co2forest.report",
    "co2forest.tables",
    "co2forest.segmentation",
    "co2forest.dask",
    "co2forest.export.onnx:register_skl2onnx",
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

nitpicky = True
# What docstrings name of other libraries; an inventory of theirs would need a network.
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|np|scipy|pandas|matplotlib|dask)\b.*")]
autodoc_typehints = "none"  # the text of a parameter says more
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # public_api lists what this library adds
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"co2forest {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]  # index.html, which leads to docs/index.html
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#24425f", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#a9c7e6", "color-brand-content": "#7cb7f0"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
pygments_dark_style = "monokai"

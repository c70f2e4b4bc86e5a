# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the site are computed from benchmarks/results when it is built."""

from sphinx.util.logging import getLogger

import pages


def refresh(_, docname, source):
    text = pages.refreshed(f"{docname}.md", source[0])
    if text != source[0]:
        message = "a table is not what benchmarks/results say: python benchmarks/pages.py"
        getLogger(__name__).warning(message, location=docname)
    source[0] = text


def setup(app):
    app.connect("source-read", refresh)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the site are drawn from benchmarks/results when it is built.

The files of the repository are what its own pages show; in the site, the fresh ones take their
place, so that a figure and a CSV file cannot disagree.
"""

import os
from pathlib import Path

from docutils import nodes

import figures
import headline
import store
from faces import config as faces_config
from faces import drawings as faces_drawings
from faces.measured import Scores
from paper import config as paper_config
from paper import drawings as paper_drawings
from paper.run import RESULTS, stored_curves

ROOT = Path(__file__).parent.parent.parent


def draw(folder):
    """All figures, at the paths that they have in docs."""
    for name in ("figures", "faces", "paper"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    figures.draw_all(folder / "figures")
    headline.write(folder / "figures" / headline.NAME)
    faces = faces_config.read()
    faces_drawings.write(faces, Scores(faces, store.FOLDER), folder / "faces")
    paper = paper_config.read()
    curves = stored_curves(paper, RESULTS)
    paper_drawings.write(paper, curves, RESULTS, folder / "paper", ("svg",))


def draw_for(app):
    folder = Path(app.doctreedir) / "drawn"
    results = (ROOT / "benchmarks" / "results").rglob("*.csv")
    newest = max(path.stat().st_mtime for path in results)
    last = folder / "figures" / "headline.svg"
    if not last.exists() or last.stat().st_mtime < newest:
        draw(folder)


def take_drawn(app, doctree):
    docs, drawn = Path(app.srcdir) / "docs", Path(app.doctreedir) / "drawn"
    here = Path(app.srcdir) / Path(app.env.docname).parent
    for image in doctree.findall(nodes.image):
        path = (Path(app.srcdir) / image["uri"].lstrip("/")).resolve()
        if not path.exists():
            path = (here / image["uri"]).resolve()
        if not path.is_relative_to(docs):
            continue
        fresh = drawn / path.relative_to(docs)
        if fresh.exists():
            image["uri"] = "/" + Path(os.path.relpath(fresh, app.srcdir)).as_posix()


def setup(app):
    app.connect("builder-inited", draw_for)
    app.connect("doctree-read", take_drawn, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

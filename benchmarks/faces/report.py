# SPDX-License-Identifier: BSD-3-Clause
"""Write the page of the experiment, docs/faces.md, and its figures."""

from pathlib import Path

from faces import drawings, pictures, tables
from faces.measured import Scores

TEMPLATE = Path(__file__).parent / "page.md"


def write(settings, results, documents, data, maps):
    scores = Scores(settings, results)
    if not scores.fits:
        raise SystemExit(f"no stored forests in {results}: nothing to report")
    folder = documents / "faces"
    folder.mkdir(parents=True, exist_ok=True)
    drawings.write(settings, scores, folder)
    pictures.write(settings, scores, folder, data, maps)
    text = page(settings, scores, folder)
    temporary = documents / "faces.md.tmp"
    temporary.write_text(text)
    temporary.replace(documents / "faces.md")


def page(settings, scores, folder):
    few, many = scores.seeds()
    seeds = f"{many}" if few == many else f"{few} to {many}"
    words = {
        "seeds": seeds + (" seed" if many == 1 else " seeds"),
        "size": settings["forest"]["trees_of_depths"],
        "most": max(settings["forest"]["trees"]),
        "splits": settings["selection"]["splits"],
        "selection_trees": settings["selection"]["trees"],
        "selection_samples": f"{settings['selection']['samples_per_tree']:,}".replace(",", " "),
        "table2": tables.table2(settings, scores),
        "summary": tables.summary(settings, scores),
        "differences": tables.differences(settings, scores),
        "classes": tables.classes(settings, scores),
        "selection": tables.selection(settings, scores),
        "costs": tables.costs(settings, scores),
        "pictures": pictures.passages(settings, scores, folder),
    }
    text = TEMPLATE.read_text()
    for name, value in words.items():
        text = text.replace("{{" + name + "}}", str(value))
    return text

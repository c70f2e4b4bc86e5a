# SPDX-License-Identifier: BSD-3-Clause
"""The documentation: links, code blocks, tables that come from results or from signatures."""

import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from co2forest import CO2ForestClassifier, CO2ForestRegressor
from markdown_pages import ROOT, anchors, blocks, links, pages, tables

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="only a source checkout has the documentation"
)
RUNNABLE = ["data", "faq", "migration", "parameters", "quick_start", "when_oblique"]


def text_of(page):
    return (ROOT / page).read_text()


def test_every_page_is_in_a_toctree():
    """Else nobody finds it in the site."""
    listed = set()
    for _, block in blocks(text_of("docs/index.md"), "{toctree}"):
        entries = [line for line in block.splitlines() if line and not line.startswith(":")]
        listed |= {(ROOT / "docs" / f"{entry}.md").resolve() for entry in entries}
    expected = {(ROOT / page).resolve() for page in pages()} - {ROOT / "docs" / "index.md"}
    listed.discard((ROOT / "docs" / "api" / "index.md").resolve())  # written by the build
    assert listed == expected


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page):
    """To a file of the repository, and to a heading in it."""
    for link in links(text_of(page)):
        if re.match(r"https?:|mailto:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{page}: {link}"


@pytest.mark.parametrize("page", RUNNABLE)
def test_code_of_pages_runs(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, as a reader would."""
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / f"{page}.md"
    names = {"__name__": page}
    for line, code in blocks(path.read_text(), "python"):
        exec(compile("\n" * (line - 1) + code, str(path), "exec"), names)


def test_tables_of_results_are_those_of_the_csv_files():
    import pages as measured

    found = dict(measured.pages())
    assert {"docs/performance.md", "docs/benchmarks/accuracy.md", "docs/faces.md"} <= set(found)
    for page, text in found.items():
        assert measured.refreshed(page, text) == text, f"{page}: run benchmarks/pages.py"


def test_a_wrong_number_in_a_table_is_noticed():
    import pages as measured

    text = text_of("docs/benchmarks/accuracy.md")
    assert measured.refreshed("docs/benchmarks/accuracy.md", text.replace("2.25", "2.24")) == text


def test_headline_is_that_of_the_csv_file():
    import headline

    assert text_of(f"docs/figures/{headline.NAME}") == headline.draw(), "run make bench-figures"


# --- docs/migration.md

PARAMETERS, NEW_PARAMETERS, METHODS, ATTRIBUTES = range(4)
OURS = (CO2ForestClassifier, CO2ForestRegressor)
THEIRS = (
    (RandomForestClassifier, ExtraTreesClassifier),
    (RandomForestRegressor, ExtraTreesRegressor),
)


@pytest.fixture(scope="module")
def migration():
    """The four tables: what they say of a name for classifiers and for regressors."""
    return [
        {row[0].strip("`"): row[1:3] for row in table}
        for table in tables(text_of("docs/migration.md"))
    ]


def defaults(estimator):
    return {name: p.default for name, p in inspect.signature(estimator).parameters.items()}


def of_default(ours, theirs, name):
    """What the table of parameters has to say."""
    if name not in theirs:
        return "-"
    if name not in ours:
        return "no"
    value = str(ours[name]) if not isinstance(ours[name], str) else f'"{ours[name]}"'
    return "same" if ours[name] == theirs[name] else f"default `{value}`"


def test_parameters_are_all_in_the_table(migration):
    mine = [defaults(estimator) for estimator in OURS]
    random, extra = ([defaults(pair[kind]) for pair in THEIRS] for kind in (0, 1))
    names = set().union(*random)
    expected = {
        name: [of_default(a, b, name) for a, b in zip(mine, random, strict=True)] for name in names
    }
    assert migration[PARAMETERS] == expected
    for a, b in zip(random, extra, strict=True):  # the page says that only this one differs
        assert a.keys() == b.keys()
        assert {name for name in a if a[name] != b[name]} == {"bootstrap"}
    shown = [
        {name: f'"{v}"' if isinstance(v, str) else str(v) for name, v in d.items()} for d in mine
    ]
    new = set().union(*mine) - names
    assert migration[NEW_PARAMETERS] == {
        name: [f"`{d[name]}`" if name in d else "-" for d in shown] for name in new
    }


def public(kind, which):
    """Names of methods, or of properties."""
    return {n for n, value in inspect.getmembers(kind, which) if not n.startswith("_")}


def compared(ours, theirs):
    """same, new or no, for each name that one of the sides has; "-" if neither."""
    words = {(True, True): "same", (True, False): "new", (False, True): "no"}
    names = set().union(*ours, *theirs)
    pairs = list(zip(ours, theirs, strict=True))
    return {
        name: [words.get((name in mine, name in other), "-") for mine, other in pairs]
        for name in names
    }


def test_methods_are_all_in_the_table(migration):
    mine = [public(estimator, inspect.isfunction) for estimator in OURS]
    random, extra = ([public(pair[kind], inspect.isfunction) for pair in THEIRS] for kind in (0, 1))
    assert random == extra
    requests = [  # made by scikit-learn for each class, not functions
        {name for name in dir(estimator) if re.fullmatch(r"set_\w+_request", name)}
        for estimator in (*OURS, *(pair[0] for pair in THEIRS))
    ]
    mine = [a | b for a, b in zip(mine, requests[:2], strict=True)]
    random = [a | b for a, b in zip(random, requests[2:], strict=True)]
    assert migration[METHODS] == compared(mine, random)


def fitted_names(estimator, X, y):
    model = estimator(30, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    return {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}


def test_attributes_are_all_in_the_table(migration):
    data = (
        load_iris(return_X_y=True, as_frame=True),
        load_diabetes(return_X_y=True, as_frame=True),
    )
    mine = [fitted_names(kind, *given) for kind, given in zip(OURS, data, strict=True)]
    random, extra = (
        [fitted_names(pair[kind], *given) for pair, given in zip(THEIRS, data, strict=True)]
        for kind in (0, 1)
    )
    assert random == extra
    assert migration[ATTRIBUTES] == compared(mine, random)


def test_what_the_page_says_of_ensembles_holds():
    assert hasattr(RandomForestClassifier, "__len__")
    assert not hasattr(CO2ForestClassifier, "__len__")
    assert issubclass(CO2ForestClassifier, BaseEstimator)


def test_readme_is_one_screen():
    lines = text_of("README.md").splitlines()
    assert len(lines) <= 60
    assert {"make demo", "make test"} <= set(re.findall(r"make \w+", "\n".join(lines)))
    assert Path(ROOT / "docs" / "figures" / "headline.svg").exists()

# SPDX-License-Identifier: BSD-3-Clause
"""What tests read from Markdown files: code blocks, links, anchors and tables."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)


def pages():
    """All pages of the site, as paths from the root of the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found += [ROOT / "benchmarks" / "README.md", ROOT / "benchmarks" / "results" / "README.md"]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def blocks(text, language):
    """The code of all blocks in a language, with the line in which it begins."""
    return [
        (text.count("\n", 0, found.start(3)) + 1, found[3])
        for found in FENCE.finditer(text)
        if found[2].strip() == language
    ]


def prose(text):
    """A page without code blocks and without code in lines."""
    return re.sub(r"(`+)[^`].*?\1", "", FENCE.sub("", text))


def links(text):
    """The targets of links and images."""
    return re.findall(r"\]\(([^()\s]+)\)", prose(text))


def anchors(text):
    """What a link may name after "#": headings as GitHub and MyST spell them."""
    titles = re.findall(r"^#+ +(.+?)\s*$", FENCE.sub("", text), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
    return {title.replace(" ", "-") for title in plain}


def tables(text):
    """The cells of each table, without its head and the line below."""
    found = re.findall(r"(?:^\|.*\n)+", FENCE.sub("", text), re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
        for table in found
    ]

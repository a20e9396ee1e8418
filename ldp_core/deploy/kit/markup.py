"""HTML and SVG as trees: texts and attributes are escaped when the tree is written, and made `visible`, wherever they come from."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from ldp_core.wording import visible

Node = ET.Element | str


def element(tag: str, *content: Node, **attributes: object) -> ET.Element:
    """An element with texts and elements in it. ``class_`` stands for class, and _ for - in other names."""
    named = {name.rstrip("_").replace("_", "-"): visible(str(value)) for name, value in attributes.items()}
    made = ET.Element(tag, named)
    for node in content:
        if isinstance(node, ET.Element):
            made.append(node)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + visible(node)
        else:
            made.text = (made.text or "") + visible(node)
    return made


def listed(sentences: Sequence[Node]) -> ET.Element:
    """Points, one below the other."""
    return element("ul", *(element("li", sentence) for sentence in sentences))


def table(heads: Sequence[str], rows: Sequence[Sequence[Node]]) -> ET.Element:
    """A table whose first column names its rows."""
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    body = [
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))
        for first, *rest in rows
    ]
    return element("div", element("table", element("thead", head), element("tbody", *body)), class_="wide")


def page(title: str, style: str, *content: Node) -> str:
    """A whole HTML document."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    document = element("html", head, element("body", element("main", *content)), lang="en")
    return "<!DOCTYPE html>\n" + ET.tostring(document, encoding="unicode", method="html") + "\n"

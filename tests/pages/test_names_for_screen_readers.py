"""Tables, charts and headings are drawn in one place, which names them; so none on a page can be without a name."""

import ast

import markdown_calls
import pytest

SOURCES = markdown_calls.sources()
WHERE = {
    "dataframe": "pages/ui/listing.py",
    "table": "pages/ui/listing.py",
    "plotly_chart": "pages/ui/layout.py",
    "data_editor": "pages/ui/data/results.py",
}
HEADINGS = {"title", "header", "subheader"}


def drawn():
    """File and call of everything that Streamlit draws."""
    for file, source in SOURCES.items():
        for node in ast.walk(ast.parse(source)):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and ast.unparse(called.value) in ("st", "row", "left", "right"):
                yield file, node


@pytest.mark.parametrize("kind", WHERE)
def test_what_needs_a_name_is_drawn_in_one_place_and_has_one(kind):
    calls = [(file, call) for file, call in drawn() if call.func.attr == kind]
    assert [file for file, _ in calls] == [WHERE[kind]]
    assert "alt" in [keyword.arg for keyword in calls[0][1].keywords]


def test_headings_come_in_order():
    calls = [(file, call.func.attr) for file, call in drawn() if call.func.attr in HEADINGS]
    assert sorted(calls) == [("pages/ui/layout.py", "header"), ("pages/ui/layout.py", "title")]
    assert not [file for file, source in SOURCES.items() if "\n###" in source or "\n# #" in source]

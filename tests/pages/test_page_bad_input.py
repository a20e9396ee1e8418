"""Files and entries that cannot be, and tables that make no types: one clear sentence each, and what was set up stays."""

import re

import numpy as np
import pandas as pd
import pytest

from pages.ui import formulas
from tests.library.test_own import npz
from tests.pages.conftest import App

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
OURS = {text.strip() for text in vars(formulas).values() if isinstance(text, str)}
"""The formulas of the pages, in which dollars are meant."""
MARKUP = [
    "<b>bold</b>",
    "<script>alert(1)</script>",
    ":smile:",
    "$x^2$",
    "=1+1",
    "**a**",
    "[a](http://b.c)",
    "😀",
    "a & b",
    "# a",
]


NO_TABLES = [
    ("empty.csv", b"", "is empty"),
    ("blank.csv", b"\n\n\n", "only blank lines"),
    ("header.csv", b"age,colour\n", "no rows"),
    ("photo.csv", PNG, "a PNG image"),
    ("photo.parquet", PNG, "a PNG image"),
    ("photo.png", PNG, 'ending in ".png"'),
    ("table.xlsx", b"PK\x03\x04", "not an Excel workbook, or is damaged"),
    ("none", b"a\nb\n", "without an ending"),
    ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "Line 3"),
    ("twice.csv", b"a,a\n1,2\n", '"a"'),
    ("quote.csv", b'a,b\n1,"2\n3,4\n', "quotation mark"),
    ("text.parquet", b"a,b\n1,2\n", "rename it to end in .csv"),
    ("cut.parquet", pd.DataFrame({"a": [1, 2]}).to_parquet()[:-9], "damaged or incomplete"),
    ("empty.parquet", pd.DataFrame({"a": []}).to_parquet(), "no rows"),
]


NO_QUESTIONS = [
    ("wide.csv", b"1,0,1\n0,1,1\n", "3 columns and there are 25 types"),
    ("nan.csv", ("1," * 24 + "nan\n").encode(), "not a finite number"),
    ("zero.npz", npz(np.zeros((1, 25))), "asks nothing"),
    ("empty.csv", b"", "is empty"),
    ("broken.npz", b"PK\x03\x04 nothing", "cannot be unpacked"),
]


def upload_questions(app, name, content):
    app.go("workload").enter("selectbox", "adding", "matrix")
    return app.hand("matrix", (name, content, "application/octet-stream"))


@pytest.mark.parametrize(
    ("upload", "files"), [(App.upload, NO_TABLES), (upload_questions, NO_QUESTIONS)], ids=["tables", "questions"]
)
def test_files_that_are_none(ages, upload, files):
    before = ages.configuration
    for name, content, said in files:
        upload(ages, name, content)
        (error,) = ages.errors
        assert said in error
        assert error.endswith("What you had set up is unchanged.")
        assert (ages.configuration, ages.session.tally.users) == (before, 3000)


def on_questions(app):
    return app.sample("health_survey.csv", "workload")


ENTRIES = {
    "epsilon": (
        lambda app: app.sample(page="design"),
        ("text_input", "epsilon-text"),
        {
            "0": "too small",
            "-1": "negative",
            "nan": "not a number",
            "1000": "too large",
            "abc": "not a number",
            "1,5": "write 1.5 with a point",
            "inf": "must be finite",
            "": "is empty",
            "<b>1</b>": "not a number",
            "٣": "digits other than 0 to 9",
        },
    ),
    "a target": (
        lambda app: app.sample(page="design"),
        ("text_input", "target-points"),
        dict.fromkeys(("", "0", "abc", "inf", "101", "1,5"), "he target"),
    ),
    "people": (
        lambda app: app.go("data").declare(users="500"),
        ("text_input", "declare-users"),
        dict.fromkeys(("", "0", "1.5", "many", "10000000001"), "number of people"),
    ),
    "a seed": (
        lambda app: app.sample(page="design").enter("selectbox", "mechanism", "subset_selection").go("simulate"),
        ("text_input", "seed"),
        dict.fromkeys(("", "-1", "1.5", "abc", str(2**63)), "the seed as a whole number"),
    ),
    "a weight": (
        lambda app: on_questions(app).add("histogram"),
        ("text_input", "group-0-weight"),
        dict.fromkeys(("nan", "inf", "-inf", "0", "-1", "1e9", "", "two", "1,5"), "number from 0.000001 to 1,000,000"),
    ),
    "conditions": (
        lambda app: on_questions(app).change_kind("predicates"),
        ("text_area", "group-0-conditions"),
        {
            "": "There is no condition",
            "smokes = yes and": "at character 17",
            "__import__('os') = 1": "Condition 1",
            "(" * 60 + "smokes = yes" + ")" * 60: "more than 50 parentheses",
            "smokes = yes\n" + "asthma = no and " * 1000: "Condition 2 has 15,999 characters",
        },
    ),
}


@pytest.mark.promise
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_that_cannot_be_stays_beside_its_sentence_and_changes_nothing(app, name):
    begin, control, entries = ENTRIES[name]
    begin(app)
    for entry, said in entries.items():
        app.refuses(*control, entry, said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\n7\n", "value"),
        (b"a\nsame\nsame\n", "value"),
        (b"a,b\n,1\n,2\n", "missing"),
        (b"a\n" + b"\n".join(str(i).encode() + b"x" for i in range(100_000)) + b"\n", "100,000"),
    ],
    ids=["one row", "one value", "all missing", "too many values"],
)
def test_columns_that_make_no_types(ages, content, said):
    before = ages.configuration
    ages.upload("rows.csv", content)
    assert len(ages.errors) == 1
    assert said in ages.errors[0]
    assert "The design keeps its earlier data until then." in ages.errors[0]
    assert ages.configuration == before
    for page in ("design", "compare", "export"):
        assert "3,000" in ages.go(page).words


def test_mixed_types_as_numbers_can_be_mended(ages):
    ages.upload("mixed.csv", b"age\n20\nover 90\n35\n41\n20\n")
    ages.kind("age", "numbers")
    assert "1 of 5 values of age is not a number" in ages.errors[0]
    assert "over 90" in ages.errors[0]
    ages.enter("checkbox", "data-texts", True)
    assert not ages.errors
    assert ages.session.tally.users == 4


def test_markup_is_shown_literally(app):
    app.go("data").enter("segmented_control", "data-source", "declared")
    app.cells({"value": {"column": "<i>it</i> :smile: $y$", "bins": "; ".join(MARKUP)}})
    assert app.session.setting.labels == tuple(MARKUP)
    app.go("design").enter("selectbox", "mechanism", "randomized_response")
    app.go("simulate").press("run").finish()
    seen = 0
    for page in ("data", "workload", "design", "compare", "simulate", "export"):
        app.go(page)
        for kind in ("markdown", "caption", "info", "warning", "error"):
            for element in getattr(app.at, kind):
                if element.value in OURS:
                    continue
                # st.html and code are no Markdown; everything else must have escaped what it quotes.
                assert not re.search(r"(?<!\\)<(b|i|script)(?!\\)>|(?<!\\):smile(?!\\):|(?<!\\)\$x", element.value), (
                    element.value
                )
                seen += r"\<b\>" in element.value or r"\<i\>" in element.value
        for chart in app.charts:
            # Plotly reads <b> as bold wherever it shows text.
            assert not re.search(
                r"<(b|i|script)>", str(chart["layout"]) + str([t.get("hovertext") for t in chart["data"]])
            )
            assert not re.search(r"<(b|i|script)>", str([t.get("customdata") for t in chart["data"]]))
    assert seen

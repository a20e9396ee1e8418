"""Names that are formulas, templates or markup, through all pages: every download, every figure."""

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
import streamlit as st

from ldp_core.designs.configuration import Optimizer
from pages.ui import layout
from pages.ui.say import JOINER
from tests import hostile_table

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?")
EXPECTED = {
    *("histogram", "joint", "workload", "singular-values", "costs"),
    *(
        "patterns",
        "users-needed",
        "query-errors",
        "over-epsilon",
        "comparison",
        "mechanisms",
    ),
    *("trade-off", "simulated-errors", "simulated-release", "answers", "promised"),
    *("simulated-intervals", "simulated-distribution", "simulated-quantiles"),
}
"""Tables there must be among the downloads, so that none is checked in vain."""


@pytest.fixture(scope="module")
def seen():
    """Files on offer and figures on screen, by name, after a visit to every page."""
    files, figures = {}, {}
    offer, draw = st.download_button, layout.chart

    def offered(label, data, file_name, **options):
        if file_name.endswith((".csv", ".zip")):
            content = data() if callable(data) else data
            as_text = file_name.endswith(".csv") and isinstance(content, bytes)
            files[file_name.replace("-with-data", "")] = content.decode("utf-8-sig") if as_text else content
        return offer(label, data, file_name, **options)

    def drawn(draw_figure, sentence, name, data=None, **options):
        figures[name] = draw_figure(layout.look()).to_plotly_json()
        return draw(draw_figure, sentence, name, data, **options)

    return files, figures, offered, drawn


@pytest.fixture
def visited(app, seen, monkeypatch):
    files, figures, offered, drawn = seen
    if figures:
        return files, figures
    monkeypatch.setattr(st, "download_button", offered)
    monkeypatch.setattr(layout, "chart", drawn)
    app.upload(hostile_table.FILE, hostile_table.rows())
    app.columns(*hostile_table.COLUMNS[:2])
    app.enter("selectbox", "data-ordered", True)  # so that there are running totals
    app.go("workload")
    app.enter("selectbox", "group-0-questions", "prefix")
    app.enter("selectbox", "adding", "predicates").press("add")
    app.enter("text_area", "group-1-conditions", hostile_table.condition())
    app.enter("selectbox", "adding", "marginals").press("add").finish().open("workload-tabs", "Singular values")
    app.session.change(optimizer=Optimizer(max_rounds=3))
    app.go("design").press("optimise").finish()
    for tab in ("Questions", "Patterns and proof"):
        app.open("design-tabs", tab)
    app.go("compare").enter("multiselect", "compared", ["subset_selection", "hadamard"])
    for tab in ("Error of each answer", "Over epsilon"):
        app.open("compare-tabs", tab).finish()
    app.press("sweep-epsilon").finish()
    app.unfold("every-mechanism")
    app.solve_for("people")
    app.go("simulate").enter("multiselect", "simulated", ["subset_selection", "optimized"])
    app.enter("number_input", "trials", 3).press("run").finish()
    for tab in [tab.label for tab in app.at.tabs]:
        app.open("outcome-tabs", tab).finish()
    app.go("export").go("guide")
    return files, figures


def test_no_cell_of_a_download_is_a_formula(visited):
    files, _ = visited
    tables = {name: content for name, content in files.items() if name.endswith(".csv")}
    for name, content in files.items():
        if name.endswith(".zip"):
            archive = zipfile.ZipFile(io.BytesIO(content))
            tables |= {one: archive.read(one).decode() for one in archive.namelist() if one.endswith(".csv")}
    assert {f"{name}.csv" for name in EXPECTED} <= set(tables), EXPECTED - {name[:-4] for name in tables}
    for name, content in tables.items():
        for row in csv.reader(io.StringIO(content, newline="")):
            for cell in row:
                formula = cell.lstrip()[:1] in tuple("=+-@") or cell[:1] in tuple("\t\r\n")
                assert not formula or NUMBER.fullmatch(cell), (name, cell)
    assert "'+1+1" in tables["histogram.csv"]
    assert "'=2+2" in tables["answers.csv"]


def test_only_one_place_writes_csv():
    sources = {file: file.read_text() for folder in ("pages", "ldp_core") for file in (ROOT / folder).rglob("*.py")}
    writers = {file.name: source.count(".to_csv(") for file, source in sources.items() if ".to_csv(" in source}
    assert writers == {"csv.py": 1}
    assert not [file for file, source in sources.items() if "csv.writer" in source or "DictWriter" in source]


def texts(value, key=""):
    """Every text of a figure with the setting it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, name)
    elif isinstance(value, list | tuple) or hasattr(value, "tolist"):
        inner = value.tolist() if hasattr(value, "tolist") else value
        for one in inner if isinstance(inner, list | tuple) else [inner]:
            yield from texts(one, key)


def test_no_name_is_markup_or_a_template_in_a_figure(visited):
    _, figures = visited
    named = 0
    for name, figure in figures.items():
        for key, text in texts(figure):
            assert not re.search(r"<(?!br>|extra>|/extra>)", text), (name, key, text)
            if key.endswith("template"):
                assert "{evil}" not in text, (name, text)
            assert JOINER not in text, (name, key, text)  # figures are not Markdown
            named += "evil" in text
    assert named > 50

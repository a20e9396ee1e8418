"""Workbooks: cells as Excel shows them, and a sentence for every kind of broken one."""

import io
import zipfile
from dataclasses import replace
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.reading import ReadOptions, UnreadableTable, excel, load
from ldp_core.data.reading.child import rows_of
from tests.refused import refused


def workbook(*rows, title="people", more=()):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name).append(["z"])
    return saved(book)


def saved(book):
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def rewritten(content, change):
    """The workbook with every part passed through ``change(name, data)``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return buffer.getvalue()


def read_here(content, **options):
    """The rows as the reader writes them, and its notes, without its process: hundreds of those would take minutes."""
    output = io.BytesIO()
    answer = excel.work(content, ReadOptions(**options).model_dump(), limits.READ_EXCEL, output)
    return rows_of(output.getvalue()), " ".join(answer["notes"])


def test_cells_keep_their_types():
    content = workbook(
        ["age", "day", "word", "flag"], [31, date(2026, 1, 2), "😂", True], [2.5, datetime(2026, 1, 3), None]
    )
    loaded = load(content, "x.xlsx")
    assert loaded.table["age"].tolist() == [31, 2.5]
    assert loaded.table["flag"].tolist() == [True, None]
    assert loaded.options.sheet == "people"
    assert tables.suggest_recipe(parse(loaded.table["day"])).kind == "date"
    domain = tables.build_domain(tables.DateRecipe(column="day", unit="day"), loaded.table)
    assert tables.tally(loaded.table, domain).counts.tolist() == [1, 1]


def test_sheets_can_be_chosen():
    content = workbook(["a"], [1], more=["other"])
    assert load(content, "x.xlsx").sheets == ("people", "other")
    assert load(content, "x.xlsx").notes == ('The first of 2 sheets, "people", was read; "other" was not.',)
    assert load(content, "x.xlsx", ReadOptions(sheet="other", header=False)).table["column_1"].tolist() == ["z"]
    refused(
        'no sheet "none": choose one of "people", "other"',
        lambda: load(content, "x.xlsx", ReadOptions(sheet="none")),
        kind=UnreadableTable,
    )


def test_what_excel_hides_or_merges_is_said_and_can_be_left_out():
    book = openpyxl.Workbook()
    book.active.append(["old"])
    book.active.sheet_state = "hidden"
    sheet = book.create_sheet("shown")
    for row in (
        ["region", "age", "pay"],
        ["North", 20, 1],
        [None, 21, 2],
        [None, 22, 3],
        ["South", 23, 4],
        ["East", 24],
    ):
        sheet.append(row)
    sheet.merge_cells("A2:A4")
    sheet.merge_cells("B6:C6")
    sheet.row_dimensions[3].hidden = sheet.row_dimensions[5].hidden = True
    sheet.column_dimensions["C"].hidden = True
    rows, said = read_here(saved(book))
    assert [row[0] for row in rows] == ["North", "North", "North", "South", "East"]
    assert 'The first sheet that Excel shows, "shown", was read; "Sheet (hidden)" was not.' in said
    assert 'In "region", 2 rows merged with the row above got its value.' in said
    assert "1 row has cells merged across columns" in said
    assert "2 rows that Excel hides, by a filter or by hand, were read like the others." in said
    assert 'Excel hides "pay"' in said
    rows, said = read_here(saved(book), hidden=True, merged=False)
    assert rows == [["North", 20, 1], [None, 22, 3], ["East", 24, None]]
    assert "2 rows that Excel hides were left out." in said


@given(
    st.lists(
        st.lists(st.one_of(st.integers(-(2**40), 2**40), st.text("ab<&é😂 =", min_size=1)), min_size=2, max_size=2),
        min_size=1,
    )
)
@settings(max_examples=25)
def test_tables_survive(rows):
    # A text that starts with = would be stored as a formula.
    rows = [[cell.lstrip("=") or "x" if isinstance(cell, str) else cell for cell in row] for row in rows]
    assert read_here(workbook(["u", "v"], *rows))[0] == rows


def formulas(value):
    content = workbook(["a"], [1], ["=A2+1"])
    return rewritten(
        content, lambda name, data: data.replace(b"<v></v>", value).replace(b"<v/>", value).replace(b"<v />", value)
    )


def test_results_of_formulas_are_read_and_lacking_ones_refused():
    assert load(formulas(b"<v>2</v>"), "x.xlsx").table["a"].tolist() == [1, 2]
    refused(
        "Cell A3 holds a formula whose result is not stored",
        lambda: load(formulas(b"<v></v>"), "x.xlsx"),
        kind=UnreadableTable,
    )


GOOD = workbook(["a", "b"], [1, 2])
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04", "not an Excel workbook, or is damaged"),
        (GOOD[:-50], "not an Excel workbook, or is damaged"),
        (GOOD[:200] + bytes(400) + GOOD[600:], "damaged"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "with a password, or an old one"),
        (b"PAR1abcPAR1", "Parquet file by its content"),
        (workbook(), "is empty"),
        (workbook([f"c{i}" for i in range(501)], [1]), "501 columns and at most 500"),
        (rewritten(GOOD, lambda name, data: b"" if name.endswith("sheet1.xml") else data), "damaged"),
        (rewritten(GOOD, lambda name, data: data.replace(b"<worksheet", BOMB + b"<worksheet", 1)), "damaged"),
    ],
)
def test_broken_workbooks_get_one_sentence(content, sentence):
    said = refused(sentence, load, content, "x.xlsx", kind=UnreadableTable)
    assert len(said) < 200


def test_zip_bombs_are_refused_before_they_unpack(monkeypatch):
    monkeypatch.setattr(limits, "READ_EXCEL", replace(limits.READ_EXCEL, unpacked=2**20))
    bomb = rewritten(GOOD, lambda name, data: data + b" " * 2**20 if name.endswith("sheet1.xml") else data)
    assert len(bomb) < 20_000
    refused("unpacks to 1 MB in", load, bomb, "x.xlsx", kind=UnreadableTable)
    monkeypatch.setattr(limits, "READ_EXCEL", replace(limits.READ_EXCEL, cells=3))
    refused("more than 3 cells", load, GOOD, "x.xlsx", kind=UnreadableTable)


def sheet_with(old, new):
    def change(name, data):
        assert not name.endswith("sheet1.xml") or old in data
        return data.replace(old, new, 1) if name.endswith("sheet1.xml") else data

    return rewritten(workbook(["a", "b"], [1, 2], [3, 4]), change)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'r="3"', b'r="99999999999"', "beyond row 1,048,576"),
        (b'r="B2"', b'r="ZZZ2"', "beyond row 1,048,576 or column 16,384"),
        (b'r="B2"', b'r="XFD2"', "16384 columns|16,384 columns"),
    ],
)
def test_rows_and_columns_are_numbered_as_in_excel(old, new, sentence):
    content = sheet_with(old, new)
    assert len(content) < 6000
    refused(sentence, load, content, "x.xlsx", kind=UnreadableTable)


def test_a_workbook_that_takes_too_long_is_left(monkeypatch):
    """Five million blank cells in one row: nothing of it is counted before its end."""
    endless = sheet_with(b"</row>", b"<c/>" * 5_000_000 + b"</row>")
    monkeypatch.setattr(limits, "READ_EXCEL", replace(limits.READ_EXCEL, seconds=0.5))
    refused(
        r"took longer than 0.5 seconds and was stopped: save the table as CSV",
        load,
        endless,
        "x.xlsx",
        kind=UnreadableTable,
    )


def test_a_workbook_that_takes_too_much_memory_is_left(monkeypatch):
    monkeypatch.setattr(limits, "READ_EXCEL", replace(limits.READ_EXCEL, memory=2**28))
    refused(
        r"more memory than is allowed \(256 MB\)",
        lambda: load(sheet_with(b"</row>", b"<c/>" * 1_000_000 + b"</row>"), "x.xlsx"),
        kind=UnreadableTable,
    )


@given(st.binary(min_size=1, max_size=60), st.integers(0, len(GOOD)))
@settings(max_examples=60)
def test_damage_anywhere_never_crashes(noise, at):
    try:
        outcome, _ = read_here(GOOD[:at] + noise + GOOD[at + len(noise) :])
    except UnreadableTable as error:
        outcome = str(error)
    assert outcome.endswith(".") if isinstance(outcome, str) else len(outcome) > 0

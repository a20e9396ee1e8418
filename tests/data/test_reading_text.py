"""Text files as they come: signs and encodings found out, told or refused in one sentence."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.reading import ReadOptions, UnreadableTable, excel, load, parquet
from tests.refused import refused

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_found_out(encoding):
    loaded = load("name,n\nJosé,1\nZoë,2\n".encode(encoding), "x.csv")
    assert loaded.table["name"].tolist() == ["José", "Zoë"]
    assert loaded.options.encoding == encoding.removesuffix("-sig")
    assert bool(loaded.notes) == (encoding == "cp1252")


def test_a_guessed_encoding_is_said_and_can_be_overridden():
    content = "name\nЖуков\n".encode("cp1251")
    assert 'Windows-1252: check that letters such as "Æ"' in load(content, "x.csv").notes[0]
    told = load(content, "x.csv", ReadOptions(encoding="cp1251"))
    assert told.table["name"].tolist() == ["Жуков"]
    assert "encoding" not in " ".join(told.notes)
    refused("not UTF-8 text", lambda: load(content, "x.csv", ReadOptions(encoding="utf-8")), kind=UnreadableTable)
    refused(
        "This file is UTF-16 text",
        lambda: load("a\n1".encode("utf-16"), "x.csv", ReadOptions(encoding="cp1252")),
        kind=UnreadableTable,
    )
    assert load(b"a\n\x81\xe9", "x.csv").options.encoding == "latin-1"


@given(st.lists(st.floats(-1e9, 1e9).map(lambda number: round(number, 4)), min_size=1, max_size=20))
@settings(max_examples=40)
def test_numbers_written_with_decimal_commas_come_back(numbers):
    text = "x;y\n" + "".join(f"a;{repr(number).replace('.', ',')}\n" for number in numbers)
    column = load(text.encode(), "x.csv").table["y"]
    assert [float(cell) for cell in column] == numbers


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        (b"39, State-gov, 77516\n50, Private, 83311\n", ["column_1", "column_2", "column_3"], 2),
        (b"a,2019\nx,1\n", ["column_1", "column_2"], 2),
        (b"age,sex\n1,2\n", ["age", "sex"], 1),
    ],
)
def test_a_first_line_with_numbers_is_a_row(content, columns, rows):
    loaded = load(content, "x.data")
    assert (list(loaded.table.columns), len(loaded.table)) == (columns, rows)
    assert loaded.options.header is (columns[0] != "column_1")
    assert bool(loaded.notes) is not loaded.options.header
    assert load(content, "x.data", loaded.options).notes == ()


def test_what_is_told_is_done():
    told = load(b"a b\n1 2\n", "x.txt", ReadOptions(delimiter=" ", header=False, names=("u", "v")))
    assert told.table.to_dict("list") == {"u": ["a", "1"], "v": ["b", "2"]}
    assert load(b"x,y\n1,2\n", "x.csv", ReadOptions(delimiter=";")).table.columns.tolist() == ["x,y"]
    assert load(b"x,y\n1,2\n", "x.csv", ReadOptions(names=["u", "v"])).table.columns.tolist() == ["u", "v"]
    refused(
        "3 column names are given and the table has 2 columns",
        lambda: load(b"x,y\n1,2\n", "x.csv", ReadOptions(names=("u", "v", "w"))),
        kind=UnreadableTable,
    )
    refused(
        '"u" occurs 2 times', lambda: load(b"x,y\n1,2\n", "x.csv", ReadOptions(names=("u", "u"))), kind=UnreadableTable
    )
    # Given names fix a file that uses a name twice.
    assert load(b"x,x\n1,2\n", "x.csv", ReadOptions(names=("u", "v"))).table["v"].tolist() == ["2"]


def test_the_ending_says_that_tabs_separate_the_columns(tmp_path):
    content = b"name\tplace, country\nA\tBerlin, DE\nB\tRome, IT\n"
    (tmp_path / "x.tsv").write_bytes(content)
    found = [load(content, "x.tsv").table, load(content, "x.TAB").table, tables.LocalTable(str(tmp_path / "x.tsv"))]
    assert [list(table.columns) for table in found] == [["name", "place, country"]] * 3
    assert load(b"a,b\n1,2\n", "x.tsv").table.columns.tolist() == ["a", "b"]


def test_the_hint_that_excel_writes_is_obeyed():
    loaded = load(b"sep=;\r\na;b,c\r\n1;2,3\r\n", "x.csv", ReadOptions(decimal="."))
    assert loaded.table.to_dict("list") == {"a": ["1"], "b,c": ["2,3"]}
    assert load(b"sep=x\n1\n", "x.csv").table.columns.tolist() == ["sep=x"]


@given(
    st.lists(st.lists(words, min_size=2, max_size=2), min_size=1, max_size=8),
    st.sampled_from(list(",;\t|")),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@settings(max_examples=60)
def test_any_text_survives(rows, delimiter, encoding):
    frame = pd.DataFrame(rows, columns=["first", "second"], dtype=object)
    content = frame.to_csv(index=False, sep=delimiter, quoting=1).encode(encoding)
    loaded = load(content, "x.csv", ReadOptions(delimiter=delimiter, decimal="."))
    assert loaded.table.to_numpy().tolist() == rows


def read_here(content, name):
    """True if there are rows; Excel and Parquet without a separate process: hundreds of those would
    take minutes."""
    for ending, (task, allowed) in {
        "xlsx": (excel, limits.READ_EXCEL),
        "parquet": (parquet, limits.READ_PARQUET),
    }.items():
        if name.endswith(ending):
            output = io.BytesIO()
            task.work(content, ReadOptions().model_dump(), allowed, output)
            return output.tell() > 0
    return len(load(content, name).table) > 0


@given(st.binary(max_size=300), st.sampled_from(["x.csv", "x.tsv", "x.data", "x.parquet", "x.xlsx"]))
@settings(max_examples=200)
def test_any_bytes_give_a_table_or_a_sentence(content, name):
    for start in (b"", b"PAR1", b"PK\x03\x04", b"\xff\xfe", b"a;b\n", b'"'):
        try:
            outcome = read_here(start + content, name)
        except UnreadableTable as error:
            outcome = str(error)
        assert re.fullmatch(r"[A-Z][^\n]*\.", outcome) if isinstance(outcome, str) else outcome


def test_text_files_end_in_time(monkeypatch):
    content = "Größe;n\n1,75;007\n;x\n".encode("cp1252")
    refused("Line 1 splits into 2", load, b"a,b\n1,2,3\n", "x.csv", kind=UnreadableTable)
    monkeypatch.setattr(limits, "READ_TEXT", replace(limits.READ_TEXT, seconds=0))
    refused("took longer than 0 seconds and was stopped", load, content, "x.csv", kind=UnreadableTable)


def test_text_holds_no_more_cells_than_are_allowed(monkeypatch):
    monkeypatch.setattr(limits, "READ_TEXT", replace(limits.READ_TEXT, cells=3))
    refused("2 rows and 2 columns, more than 3 cells", load, b"a,b\n1,2\n3,4\n", "x.csv", kind=UnreadableTable)

"""Files of every kind to tables, and one clear sentence for every bad one."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.columns import parse

cells = st.one_of(
    st.sampled_from(["😂", "<b>", '"q"', "=1+1", "a,b", "a;b", "a\tb|c", "two\nlines", " spaced ", "NA", "007", "é"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6),
)


def as_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


@given(st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(cells, min_size=k, max_size=k), min_size=1, max_size=8)))
@settings(max_examples=60)
def test_quoted_text_survives_a_csv_round_trip(rows):
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(len(rows[0]))], dtype=object)
    read = tables.read(frame.to_csv(index=False).encode(), "x.csv")
    assert read.to_numpy().tolist() == rows
    assert list(read.columns) == list(frame.columns)


@pytest.mark.crossed
@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_and_byte_order_marks(delimiter, end, mark):
    lines = ["code;x" if delimiter == "," else "code,x", "007", "1,5"]
    text = mark + end.join(f'"{line}"{delimiter}{i}' for i, line in enumerate(lines)) + end * 3
    read = tables.read(text.encode(), "X.CSV")
    assert read.to_numpy().tolist() == [["007", "1"], ["1,5", "2"]]
    assert read.columns[0] == lines[0]


def test_decimal_commas_do_not_look_like_delimiters():
    read = tables.read(b"a;b\n1,5;2,5\n3,5;4,5\n", "x.csv")
    assert read.to_numpy().tolist() == [["1,5", "2,5"], ["3,5", "4,5"]]


def test_no_header_and_blank_names():
    assert list(tables.read(b"1,2\n3,4", "x.csv", header=False).columns) == ["column_1", "column_2"]
    assert len(tables.read(b"7", "x.csv", header=False)) == 1
    assert list(tables.read(b",a\n0,1\n", "x.csv").columns) == ["column_1", "a"]


def test_one_value_below_a_header_is_a_table():
    assert tables.read(b"age\n31", "x.csv")["age"].tolist() == ["31"]


def test_blank_lines_are_missing_values_in_one_column_only():
    one = tables.read(b"a\n1\n\n3\n\n", "x.csv")
    assert tables.summarise(parse(one["a"])).missing == 1
    assert len(tables.read(b"a,b\n1,2\n\n3,4\n", "x.csv")) == 2


def test_parquet_keeps_types_and_reads_an_index_as_a_column():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([7, 8], name="id"))
    read = tables.read(as_parquet(frame), "x.parquet")
    assert sorted(read.columns) == ["a", "b", "id"]
    assert read["a"].tolist() == [1, 2]
    assert tables.summarise(parse(read["b"])).missing == 1


PARQUET = as_parquet(pd.DataFrame({"a": range(1000)}))
NO_TEXT = as_parquet(pd.DataFrame({"a": ["abcdefgh", "x"]})).replace(b"abcdefgh", b"abc\xffefgh")


def many_columns(count: int) -> bytes:
    return (",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count)).encode()


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "x.csv", "is empty"),
        (b"\n \n\n", "x.csv", "only blank lines"),
        (b"a,b\n", "x.csv", "column names but no rows"),
        (as_parquet(pd.DataFrame({"a": []})), "x.parquet", "column names but no rows"),
        ("a\nx\né".encode("latin-1"), "x.csv", r'not UTF-8 text \(byte 5, on line 3\).*"CSV UTF-8"'),
        ("a\n1".encode("utf-16"), "x.csv", 'UTF-16 text: save it as "CSV UTF-8"'),
        (b"\x89PNG\r\n\x1a\n\0\0", "x.csv", "is a PNG image, not a table"),
        (b"PK\x03\x04rest", "x.csv", "is a zip archive"),
        (b"a,b\n1,\0", "x.csv", r"binary data \(a zero byte at byte 7\)"),
        (PARQUET, "x.csv", "Parquet file by its content: rename"),
        (b"a,b\n1,2", "x.parquet", "named like a Parquet file but is not one"),
        (PARQUET[:-40], "x.parquet", "damaged or incomplete"),
        (NO_TEXT, "x.parquet", "damaged or incomplete"),
        (b"a,b\n1,2\n1,2,3\n", "x.csv", "Line 3 splits into 3 values and other lines into 2"),
        (b'a,b\n1,"2\n3,4\n', "x.csv", "quotation mark in this file is opened and never closed"),
        (b"a,b,a,b\n1,2,3,4\n", "x.csv", r'"a" occurs 2 times \(columns 1, 3\), "b" occurs 2 times \(columns 2, 4\)'),
        (many_columns(501), "x.csv", "501 columns and at most 500"),
        (b"a\n1", "x.xlsx", 'ending in ".xlsx" are not read: use a CSV'),
        (b"a\n1", "table", "without an ending are not read"),
        (b"x" * 300_000 + b"\ny", "x.csv", "first line of this file is too long"),
    ],
)
def test_unreadable_files_get_one_sentence(content, name, sentence):
    with pytest.raises(tables.UnreadableTable, match=sentence) as caught:
        tables.read(content, name)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_limits_on_size(monkeypatch):
    assert tables.read(many_columns(500), "x.csv").shape == (1, 500)
    monkeypatch.setattr(limits, "MOST_UPLOAD_BYTES", 2**20)
    with pytest.raises(tables.UnreadableTable, match="has 2 MB and at most 1 MB"):
        tables.read(b"a\n" + b"1\n" * 2**20, "x.csv")
    monkeypatch.setattr(limits, "READ_PARQUET", replace(limits.READ_PARQUET, cells=999))
    with pytest.raises(tables.UnreadableTable, match="1,000 rows and 1 columns"):
        tables.read(PARQUET, "x.parquet")


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_a_table_or_a_sentence(content, header):
    for prefix in (b"", b"PAR1", b"a,b\n"):
        try:
            outcome = tables.read(prefix + content, "x.csv", header)
        except tables.UnreadableTable as error:
            outcome = str(error)
        assert len(outcome) > 0
        assert isinstance(outcome, pd.DataFrame) or re.fullmatch(r"[A-Z][^\n]*\.", outcome)


def test_a_literal_quotation_mark_is_not_an_open_one():
    assert tables.read(b'a,b\n5" disk,"x\ny"\n1,2\n', "x.csv")["a"].tolist() == ['5" disk', "1"]

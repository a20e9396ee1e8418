"""Files of every kind to tables, and one clear sentence for every bad one."""

import io
from dataclasses import replace

import pandas as pd
import pytest

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.tables import ReadOptions
from tests.refused import refused


def as_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.crossed
@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_and_byte_order_marks(delimiter, end, mark):
    lines = ["code;x" if delimiter == "," else "code,x", "007", "1,5"]
    text = mark + end.join(f'"{line}"{delimiter}{i}' for i, line in enumerate(lines)) + end * 3
    read = tables.load(text.encode(), "X.CSV", ReadOptions(decimal=".", header=True)).table
    assert read.to_numpy().tolist() == [["007", "1"], ["1,5", "2"]]
    assert read.columns[0] == lines[0]


def test_blank_lines_are_missing_values_in_one_column_only():
    one = tables.load(b"a\n1\n\n3\n\n", "x.csv").table
    assert tables.summarise(parse(one["a"])).missing == 1
    assert len(tables.load(b"a,b\n1,2\n\n3,4\n", "x.csv").table) == 2


def test_parquet_keeps_types_and_reads_an_index_as_a_column():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([7, 8], name="id"))
    read = tables.load(as_parquet(frame), "x.parquet").table
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
        (b"a\n1", "x.doc", 'ending in ".doc" are not read: use CSV'),
        (b"a\n1", "table", "without an ending are not read"),
        (b"x" * 300_000 + b"\ny", "x.csv", "first line of this file is too long"),
    ],
)
def test_unreadable_files_get_one_sentence(content, name, sentence):
    said = refused(
        sentence, lambda: tables.load(content, name, ReadOptions(encoding="utf-8")), kind=tables.UnreadableTable
    )
    assert len(said) < 200


def test_limits_on_size(monkeypatch):
    assert tables.load(many_columns(500), "x.csv").table.shape == (1, 500)
    monkeypatch.setattr(limits, "MOST_UPLOAD_BYTES", 2**20)
    refused("has 2 MB and at most 1 MB", tables.load, b"a\n" + b"1\n" * 2**20, "x.csv", kind=tables.UnreadableTable)
    monkeypatch.setattr(limits, "READ_PARQUET", replace(limits.READ_PARQUET, cells=999))
    refused("1,000 rows and 1 columns", tables.load, PARQUET, "x.parquet", kind=tables.UnreadableTable)


def test_a_literal_quotation_mark_is_not_an_open_one():
    assert tables.load(b'a,b\n5" disk,"x\ny"\n1,2\n', "x.csv").table["a"].tolist() == ['5" disk', "1"]

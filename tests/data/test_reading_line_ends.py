"""Lines end in any way, also in several ways in one file: uploads and files by path are read alike."""

import pytest

from ldp_core.data import tables
from ldp_core.data.reading import reader, text
from tests.refused import refused

ENDS = {"lf": ["\n"], "crlf": ["\r\n"], "cr": ["\r"], "all three": ["\r\n", "\n", "\r"], "late": ["\n"] * 30 + ["\r\n"]}


def lines(rows, ends, last):
    parts = [row + ends[i % len(ends)] for i, row in enumerate(rows)]
    return "".join(parts if last else [*parts[:-1], rows[-1]]).encode()


@pytest.mark.crossed
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("blank", ["first", "last", "between", "all", "none"])
@pytest.mark.parametrize("head", ["city", "city,note", '"ci\nty",note'])
def test_blank_lines_are_what_they_are_in_uploads(head, blank, ends, tmp_path):
    """Before the header and after the last row they are no rows; between rows of one column they
    are missing values."""
    wide = "," in head
    rows = [head, *(f"town {i % 3}" + ",x" * wide for i in range(40)), '"two\nlines"' + ",x" * wide]
    rows = [""] * 2 * (blank in ("first", "all")) + rows + [""] * 3 * (blank in ("last", "all"))
    rows[20:20] = [""] * 2 * (blank in ("between", "all"))
    # A carriage return and a line feed after it are one line end, not two.
    ways = ENDS[ends] if len(ENDS[ends]) < 3 else ["\r\n", "\r\n", "\r"]
    content = lines(rows, ways, True)
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    uploaded, local = tables.load(content, "people.csv").table, tables.LocalTable(str(path))
    names = list(uploaded.columns)
    assert list(local.columns) == names
    users = local.counts(names)[1]
    assert users.sum() == len(uploaded) == 41 + 2 * (not wide and blank in ("between", "all"))
    assert sorted(users) == sorted(uploaded.groupby(names).size())
    assert sum(map(len, local.batches(names))) == len(uploaded)
    assert next(local.batches(names))[names[0]].fillna("").tolist()[:4] == uploaded[names[0]].tolist()[:4]


@pytest.mark.crossed
@pytest.mark.parametrize("ends", ["lf", "crlf", "cr", "all three", "late"])
@pytest.mark.parametrize("blank", ["{0}{0}", " {0}\t{0} ", '""{0}""{0}""'])
@pytest.mark.parametrize("delimiter", [",", "|"])
@pytest.mark.parametrize("last", [True, False])
def test_rows_of_delimiters_alone_stand_for_nobody(delimiter, blank, ends, last, tmp_path):
    """Spreadsheets write them below and between the rows, and above a header that starts lower."""
    people = [delimiter.join([f"town {i % 3}" if i % 2 else "", "", "x" * (i % 2 == 0)]) for i in range(40)]
    none = blank.format(delimiter)
    above = [] if '"' in none else [none] * 2
    rows = [*above, delimiter.join(["city", "note", "more"]), *people[:7], none, *people[7:], none, none]
    content = lines(rows, ENDS[ends] if len(ENDS[ends]) < 3 else ["\r\n", "\r\n", "\r"], last)
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    uploaded, local = tables.load(content, "people.csv"), tables.LocalTable(str(path))
    names = ["city", "note", "more"]
    assert list(local.columns) == list(uploaded.table.columns) == names
    assert len(uploaded.table) == local.counts(names)[1].sum() == local.counts(["note"])[1].sum() == 40
    assert sum(map(len, local.batches(names))) == 40
    assert uploaded.notes == local.notes == ("3 blank rows were left out.",)
    assert next(local.batches(names))["more"].fillna("").tolist()[:9] == uploaded.table["more"].tolist()[:9]


@pytest.mark.parametrize("block", range(14, 24))
def test_parts_of_a_file_may_end_anywhere(block, monkeypatch, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"Stadt,note\r\n" + 'Köln,"a\nb"\r\n'.encode() * 8 + b", \r\n" + b"Oslo,y\r\n\r\n")
    monkeypatch.setattr(text, "_BLOCK", block)
    monkeypatch.setattr(reader, "MOST_TOTALLED_ROWS", 3)
    local = tables.LocalTable(str(path))
    frame, users = local.counts(["note"])
    assert dict(zip(frame["note"], users, strict=True)) == {"a\nb": 8, "y": 1}
    assert local.notes == ("1 blank row was left out.",)
    assert sum(map(len, local.batches(["Stadt"]))) == 9


def test_a_quotation_mark_that_is_never_closed_is_found_whichever_column_is_read(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"city,note\n" + b"Rome,x\n" * 20_000 + b'Oslo,"y\nKiel,z\n')
    local = tables.LocalTable(str(path))
    for names in (["city"], ["note"], ["city", "note"]):
        refused("opened and never closed", local.counts, names, kind=tables.UnreadableTable)


def test_a_file_of_delimiters_alone_has_no_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"city,note\n,\n,\n")
    for read in (
        lambda: tables.load(path.read_bytes(), "a.csv").table,
        lambda: tables.LocalTable(str(path)).counts(["city"]),
    ):
        refused("column names but no rows", read, kind=tables.UnreadableTable)

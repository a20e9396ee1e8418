"""Numbers in text: decimal and thousands signs, alike by upload and by path, with a note on each guess."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.reading.numerals import WAYS, evidence_of
from ldp_core.data.tables import ReadOptions


def both(text, folder, **options):
    """The columns of a text uploaded, and the notes, after a check that by path they are the same."""
    content, path = text.encode(), folder / "x.csv"
    path.write_bytes(content)
    loaded = tables.load(content, "x.csv", ReadOptions(**options))
    local = tables.LocalTable(str(path), ReadOptions(**options))
    columns = loaded.table.to_dict("list")
    for name, cells in columns.items():
        frame, users = local.counts([name])
        assert sorted(np.repeat(frame[name].fillna("").to_numpy(), users)) == sorted(cells)
    assert local.notes == loaded.notes
    assert next(iter(local.batches(list(columns)))).fillna("").to_dict("list") == columns
    return columns, " ".join(loaded.notes)


def quoted(cells, delimiter):
    return [f'"{cell}"' if delimiter in cell else cell for cell in cells]


@pytest.mark.parametrize("options", [{}, {"decimal": ","}, {"thousands": "."}])
def test_points_are_thousands_where_another_column_has_decimal_commas(options, tmp_path):
    text = "place;people;share\na;12.345;3,5\nb;987;1,25\nc;1.204;2\n"
    columns, notes = both(text, tmp_path, **options)
    assert columns["people"] == ["12345", "987", "1204"]
    assert columns["share"] == ["3.5", "1.25", "2"]
    assert '"people" has points between thousands: 1.204 was read as 1204.' in notes


@pytest.mark.crossed
@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["12,345", "850", "1,234,567"], ["12345", "850", "1234567"]),
        (["12,345", "850", "11,204"], ["12345", "850", "11204"]),
        (["1,234,567", "2,345,678"], ["1234567", "2345678"]),
        (["1,234.5", "12", "7.25"], ["1234.5", "12", "7.25"]),
        (["61,5", "3,25", "7"], ["61.5", "3.25", "7"]),
        (["0,125", "1,500", "7"], ["0.125", "1.500", "7"]),
        (["1.234,5", "12", "7,25"], ["1234.5", "12", "7.25"]),
        (["1'234", "12", "1'234'567.5"], ["1234", "12", "1234567.5"]),
        (["1\u2019234", "12", "999"], ["1234", "12", "999"]),
        (["1 234", "12", "1\u00a0234\u202f567,5"], ["1234", "12", "1234567.5"]),
        (["\u22125", "12", "\u22121.5"], ["-5", "12", "-1.5"]),
        (["(5)", "12", "(1,234.5)"], ["-5", "12", "-1234.5"]),
    ],
)
def test_numbers_are_read_as_they_are_written_and_it_is_said(cells, read, delimiter, tmp_path):
    lines = [f"p{i}{delimiter}{cell}" for i, cell in enumerate(quoted(cells, delimiter))]
    columns, notes = both("\n".join([f"place{delimiter}n", *lines]), tmp_path)
    assert columns["n"] == read
    assert '"n" ha' in notes


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands"),
    [(["1,234", "2,345"], "1.234", "1234"), (["12,345", "850"], "12.345", "12345")],
)
def test_the_other_reading_is_named_and_can_be_chosen(cells, decimal, thousands, tmp_path):
    text = "\n".join(["place;n", *(f"x;{cell}" for cell in cells)])
    columns, notes = both(text, tmp_path)
    assert columns["n"][0] in (decimal, thousands)
    assert "If that is wrong, choose the comma as" in notes
    assert both(text, tmp_path, decimal=",")[0]["n"][0] == decimal
    assert both(text, tmp_path, thousands=",")[0]["n"][0] == thousands


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "12", "3"],
        ["1.5", "2.345", "-1e-3"],
        ["12.05.2026", "13.05.2026"],
        ["1,2,3", "4,5"],
        ["12 34", "5 6"],
        ["Paris, 1,5", "2,5 km", "x"],
        ["(1)", "(2)"],
        ["a'b", "1'234"],
    ],
)
def test_other_cells_stay_as_they_are(cells, tmp_path):
    assert both("\n".join(["place\tn", *(f"x\t{cell}" for cell in cells)]), tmp_path)[0]["n"] == cells


@pytest.mark.parametrize("options", [{}, {"decimal": ","}])
def test_by_path_a_comma_far_down_is_a_decimal_sign(options, tmp_path):
    rows = [f"place {i % 7};{i % 5}" for i in range(20_000)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["place;n", *rows, "late;2,5"]))
    assert path.stat().st_size > 2**17
    table = tables.LocalTable(str(path), ReadOptions(**options))
    assert tables.tally(table, tables.build_domain(tables.NumericRecipe(column="n", bins=5), table)).users == 20_001
    frame, users = table.counts(["n"])
    assert dict(zip(frame["n"], users, strict=True))["2.5"] == 1
    assert '"n" has decimal commas: 2,5 was read as 2.5.' in table.notes


def test_by_path_a_column_far_down_decides_how_another_is_read(tmp_path):
    rows = [f"12.345;{i % 5}" for i in range(20_000)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["people;share", *rows, "1.204;2,5"]))
    table = tables.LocalTable(str(path))
    assert set(table.counts(["people"])[0]["people"]) == {"12345", "1204"}
    assert set(next(iter(tables.LocalTable(str(path)).batches(["people"])))["people"]) <= {"12345", "1204"}


def test_notes_show_cells_that_were_read_as_other_numbers(tmp_path):
    notes = both("pay\n" + '"1,234.5"\n' * 20 + '"0,5"\n', tmp_path)[1]
    assert '"pay" has commas between thousands: 1,234.5 was read as 1234.5.' in notes
    columns, notes = both("place,flat\nx,7E4\ny,5\n", tmp_path)
    assert columns["flat"] == ["7E4", "5"]
    assert '"flat" has numbers with exponents: 7E4 counts as 70000' in notes


NUMBERS = st.lists(
    st.sampled_from(
        ["12", "1,5", "1.5", "1,234", "1.234", "1.234,5", "1,234.5", "1 234", "(5)", "\u22125", "NA", "x", ""]
    )
)


@given(NUMBERS, NUMBERS)
def test_the_evidence_of_two_parts_adds_up(first, second):
    """It is also that of distinct cells with the rows that hold each."""
    parts = [evidence_of(pa.array(cells, pa.string())) for cells in (first, second)]
    cells, times = np.unique(np.array([*first, *second], dtype=object), return_counts=True)
    whole = evidence_of(pa.array([*first, *second], pa.string()))
    weighted = evidence_of(pa.array(cells.tolist(), pa.string()), times)
    assert weighted == whole
    assert (parts[0] + parts[1]).cells == whole.cells


def test_every_way_reads_what_it_writes():
    for way in WAYS:
        text = f"1{way.thousands}234{way.thousands}567{way.decimal}25"
        assert evidence_of(pa.array([text] * 3)).cells[way] == 3

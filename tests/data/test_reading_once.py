"""Texts are read all at once with the same result as one by one; files by their path stay as they were opened."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import columns
from ldp_core.data.domain import dates
from ldp_core.data.reading import LocalTable, UnreadableTable
from tests.refused import refused

PEOPLE = pd.DataFrame(
    {
        "age": [str(18 + i % 50) for i in range(1000)],
        "sex": ["f" if i % 3 else None for i in range(1000)],
        "a,b": [f"x{i % 7}" for i in range(1000)],
    }
)
CELLS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        ["", " ", "NA", " none", "n/a", "?", "NULL ", "\ufb01", "\u00a0x\u2003", "\x1cy", "a\nb", "K\u212a"]
    ),
    st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(
        ["inf", "-Infinity", "+INF", "nan", "1_000", "0x1A", "1,5", "٣", "½", "1e", "--1", "1 2", "\ud800"]
    ),
)
WRITTEN = st.one_of(
    CELLS,
    st.sampled_from(["2026", "2026-02", "2026-W05", "2026-Q3", "20260131", "31.1.2026", "1/2/2026", "13/2/2026"]),
    st.sampled_from(["Jan 31, 2026", "31 Jan. 2026", "1-Feb-2026", "2026-02-30", "123-45-6789", "1999/12/31"]),
)
DATES = st.builds(
    "".join,
    st.tuples(WRITTEN, st.sampled_from(["", "T10:15", " 1:00:00.5 x", "  23:59\n", " 7:5", "T", " 10:15T11:30", "Z"])),
)


@pytest.fixture
def file(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_a_file_that_has_changed_is_not_mixed_with_what_was_counted(file):
    table = LocalTable(str(file))
    table.counts(["age"])
    PEOPLE.head(10).to_csv(file, index=False)
    refused("has changed since it was opened: open it again", table.counts, ["sex"], kind=UnreadableTable)


@given(st.lists(CELLS, max_size=30))
def test_texts_are_read_all_at_once_as_one_by_one(cells):
    cells = [cell for cell in cells if "\ud800" not in cell]
    at_once = columns.parse(pd.Series([*cells, None], dtype="str", name="x"))
    one_by_one = columns.parse(pd.Series([*cells, None], dtype=object, name="x"))
    assert at_once.codes.tolist() == one_by_one.codes.tolist()
    assert at_once.texts.tolist() == one_by_one.texts.tolist()
    assert at_once.missing.tolist() == [text.casefold() in columns.MISSING_WORDS for text in at_once.texts]
    assert at_once.missing.tolist() == one_by_one.missing.tolist()
    np.testing.assert_array_equal(at_once.numbers, one_by_one.numbers)


@given(st.lists(CELLS, max_size=30))
def test_numbers_are_those_that_pandas_reads(texts):
    texts = np.array(texts, dtype=object)
    np.testing.assert_array_equal(columns.to_numbers(texts), pd.to_numeric(texts, errors="coerce").astype(float))


@given(st.lists(DATES, max_size=20), st.sampled_from(["day", "week", "month", "quarter", "year"]), st.booleans())
def test_dates_are_read_all_at_once_as_one_by_one(texts, unit, day_first):
    texts = np.array(texts, dtype=object)
    found = dates.periods_of(texts, unit, day_first)
    assert [None if period < 0 else period for period in found] == [
        dates.read_period(text, unit, day_first) for text in texts
    ]
    assert dates.are_dates(texts).tolist() == [
        bool(dates.read_date(text, True) or dates.read_date(text, False)) for text in texts
    ]

"""Downloaded tables: what a spreadsheet would compute stays text, numbers stay numbers."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from ldp_core.frames import as_csv

FORMULAS = [
    '=HYPERLINK("http://a.example","x")',
    "=1+1",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\rx",
    "\n=1",
    "  =1+1",
    "＝1+1",
    "-5 to -3",
    "-",
]


def rows(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.crossed
@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_formulas_are_preceded_by_an_apostrophe(text, kind):
    table = pd.DataFrame({"name": pd.Series([text, "harmless"], dtype=kind), text: [1.5, -2.5]})
    header, first, second = rows(as_csv(table))
    for cell in (header[1], first[0]):
        assert cell.lstrip(" ").startswith("'")
        assert cell.replace("'", "") == text.replace("\r", "\n")
    assert second == ["harmless", "-2.5"]


@pytest.mark.parametrize(
    ("text", "written"),
    [("a;=1", "a;'=1"), ("a; =1", "a; '=1"), ("a\t+1", "a\t'+1"), ("a\n@S(1)", "a\n'@S(1)"), ("a\r-1", "a\n'-1")],
)
def test_formulas_after_another_separator_too(text, written):
    (_, (cell,)) = rows(as_csv(pd.DataFrame({"name": [text]})))
    assert cell == written


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-0.5", "-1e-3", "a=b", "[-5, -3)", "a -b", "x@y", "it's", "", "1,5", 'say "no"']
)
def test_other_texts_stay_as_they_are(text):
    assert rows(as_csv(pd.DataFrame({"name": [text], "n": [1]}))) == [["name", "n"], [text, "1"]]


def test_numbers_stay_in_full_precision():
    values = np.array([-1 / 3, -np.pi * 1e-12, -5.0, np.nan, -np.inf])
    table = pd.DataFrame({"x": values, "n": [-1, 2, -3, 4, -5], "either": [-1.5, "=1", None, True, 2]})
    written = rows(as_csv(table))[1:]
    assert [float(row[0] or "nan") for row in written] == pytest.approx(values, rel=0, abs=0, nan_ok=True)
    assert [int(row[1]) for row in written] == [-1, 2, -3, 4, -5]
    assert [row[2] for row in written] == ["-1.5", "'=1", "", "True", "2"]
    assert list(table.columns) == ["x", "n", "either"]
    assert table["either"][1] == "=1"  # the table itself is left alone

"""Rows about pages: one passes where the page says so, and fails where it does not."""

import pytest

from tests.pages.cases import Case

ROWS = [
    Case("as it opens", "design", shows=("Current design", "epsilon 1"), hides="epsilon 2"),
    Case("given", "design", given={"epsilon": "2"}, shows="epsilon 2", hides="epsilon 1 "),
    Case("set", "design", do=[("epsilon-text", "3")], shows="epsilon 3"),
    Case("refused", "design", do=[("epsilon-text", "-3")], error="Epsilon -3 is negative"),
    Case("pressed", "design", do=[("epsilon-text", "3"), "Undo"], shows="epsilon 1"),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows_that_hold(ages, row):
    row.check(ages)


@pytest.mark.parametrize(
    "row",
    [
        Case("absent", "guide", shows="these words stand on no page"),
        Case("present", "guide", hides="Current design"),
        Case("no error", "guide", error="at least"),
        Case("an error", "design", do=[("epsilon-text", "-3")]),
        Case("no widget", "guide", do=["No such button"]),
    ],
    ids=str,
)
def test_rows_that_do_not(ages, row):
    with pytest.raises(AssertionError):
        row.check(ages)

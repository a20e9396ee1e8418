"""Finds where the values of a table begin: titles above the names of its columns, the names, and second lines of names below them.

The rows themselves are the evidence. Names stand above numbers, or differ from every text below
them. Each choice that could be another one is said in a note.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ldp_core.data.missing import MISSING_WORDS
from ldp_core.data.reading.common import UnreadableTable
from ldp_core.limits import MOST_COLUMN_NAME, MOST_TITLE_LINES
from ldp_core.wording import plural, quote_examples, quoted, shortened

_MOST_BELOW = 3
_MOSTLY = 0.9
_SURE, _LIKELY = 0.01, 0.05
"""An ordinary row that looked like names as often as this: it is taken for names, or only noted."""
_NUMBER = re.compile(r"[\s(+\u2212-]*[.,]?\d")
_SURVEY_TOOLS = re.compile(
    r'(?i:((open-ended )?(responses?|answers?)|antwort(en)?|r[\u00e9e]ponses?|respuestas?|rispost[ae])$|.*"ImportId")'
)
"""Survey tools write these into a second line of names."""
_RARE = 0.05
_HEADER = 'If that is wrong, change "The first row holds the column names".'

Row = Sequence[object]


@dataclass(frozen=True)
class Layout:
    """How many lines with cells are ``above`` the names, whether there is a ``header`` of names, how
    many lines are ``below`` it and above the values; what the columns are ``called`` there; and
    ``notes`` on what was guessed."""

    above: int
    header: bool
    below: int
    called: list[str]
    notes: list[str]

    @property
    def lines(self) -> int:
        """Lines with cells before the values."""
        return self.above + self.header + self.below


def layout_of(
    rows: Sequence[Row], width: int, above: int | None, header: bool | None, below: int | None, typed: bool = False
) -> Layout:
    """The layout of a table from its first rows, those without any cell left out.

    Parameters
    ----------
    rows : sequence
        Cells of text.
    width : int
        Columns of the table; a row may be shorter or longer.
    above, header, below : optional
        As in `Layout`, where they are stated.
    typed : bool
        Whether numbers are stored as numbers, so that all text is text.

    Returns
    -------
    Layout

    Raises
    ------
    UnreadableTable
        As many lines or more are to be left out as there are.
    """
    notes = []
    top = _titles(rows, width) if above is None else above
    if above is None and top:
        shown = [text for row in rows[:top] for text in _texts(row, len(row)) if text]
        notes.append(
            f"{plural(top, 'line')} above the table {'was' if top == 1 else 'were'} left out: {quote_examples(shown)}. "
            'If that is wrong, choose how many under "Lines above the names".'
        )
    if top >= len(rows):
        raise UnreadableTable(f"This table has no line below the first {top:,}: leave out fewer.")
    grid = [_texts(row, width) for row in rows[top:]]
    columns = _columns(grid[1:], width)
    if header is not False and below != 0 and _in_two_lines(grid):
        called = _joined(grid[0], grid[1])
        joined = [name for name, first in zip(called, grid[0], strict=True) if name != first]
        notes.append(
            f"The columns have names of two lines, such as {quoted(joined[0], 60)}. "
            'If that is wrong, choose how many under "Lines below the names".'
        )
        return Layout(top, True, below or 1, called, notes)
    if header is None:
        header, said = _has_names(rows[top], grid[0], columns, typed)
        notes += said
    under = 0
    if header and below is None:
        under, said = _second_names(grid[1:])
        notes += said
    elif header:
        under = below or 0
    return Layout(top, header, under, grid[0], notes)


def holds_table(rows: Sequence[Row]) -> bool:
    """True for two columns or more, one of them with numbers below each other or with texts that occur again."""
    width = max(map(len, rows), default=0)
    columns = [list(filter(None, cells)) for cells in _columns([_texts(row, width) for row in rows[1:]], width)]
    return width > 1 and any(len(cells) > 1 and (_numeric(cells) or len(set(cells)) < len(cells)) for cells in columns)


def _titles(rows: Sequence[Row], width: int) -> int:
    """How many lines above the names: they fill at most half of the columns, or are of another length."""
    texts = [_texts(row, len(row)) for row in rows[:MOST_TITLE_LINES]]
    sparse = [2 * sum(map(bool, row)) <= width for row in texts]
    # A line that lacks one cell may be the names, above numbered rows: such a table is refused.
    other = [len(row) != width and (thin or len(row) != width - 1) for row, thin in zip(texts, sparse, strict=True)]
    top = next((i for i, pair in enumerate(zip(sparse, other, strict=True)) if not any(pair)), 0)
    grid = [_texts(row, width) for row in rows]
    in_two = next((i for i in range(top + 1) if _in_two_lines(grid[i:])), None)
    if in_two is not None:
        return in_two
    first, *rest = grid[top:]
    columns = _columns(rest, width)
    doubtful = any(not row[0] or width == 2 or _looks_numeric(row[0]) for row in texts[:top])
    if any(map(_looks_numeric, first)) or (
        doubtful and not _above_numbers(first, columns) and _chance(first, columns, veto=False) > _LIKELY
    ):
        # Not names, so that a sparse line is one of values, or one of names that are mostly blank.
        top = next((i + 1 for i in reversed(range(top)) if other[i]), 0)
    return top + _is_merged(rows[top:], width)


def _in_two_lines(grid: list[list[str]]) -> bool:
    """True if line one holds questions, with blanks beside one of several answers, and line two holds the answers.

    A row of values is ruled out: the answers differ from all cells below, or a column holds the answer it is named for or nothing.
    """
    if len(grid) < 3:
        return False
    first, second, *rest = grid
    by_tool = any(map(_SURVEY_TOOLS.match, second))
    named = "" not in map("".join, zip(first, second, strict=True)) and "" in first and first[0] + second[0]
    if not named or any(map(_looks_numeric, (*first, *second))) or (_is_merged(grid, len(first)) and not by_tool):
        return False
    questions, evident = _questions(first), by_tool
    for cell, question, cells in zip(second, questions, _columns(rest, len(first)), strict=True):
        seen = Counter(text for text in cells if text and not _is_missing(text))
        if not cell:
            evident |= seen.total() == len(cells) >= 1 / _LIKELY
        elif not _SURVEY_TOOLS.match(cell):
            ticked = questions.count(question) > 1 and set(seen) == {cell}
            if cell in seen and not ticked:
                return False
            evident |= ticked or _numeric(cells) or max(seen.values(), default=0) > 1
    return evident


def _questions(first: list[str]) -> list[str]:
    """The question of each column: that of the column before where it is blank."""
    questions = [""]
    for cell in first:
        questions.append(cell or questions[-1])
    return questions[1:]


def _joined(first: list[str], second: list[str]) -> list[str]:
    """The names of columns in two lines: the question, with the answer where it has several columns."""
    questions = _questions(first)
    several = [
        question and questions.count(question) > 1 and answer
        for question, answer in zip(questions, second, strict=True)
    ]
    parts = zip(questions, second, several, strict=True)
    return [f"{shortened(a, MOST_COLUMN_NAME - len(b) - 2)}: {b}" if both else a or b for a, b, both in parts]


def _is_merged(rows: Sequence[Row], width: int) -> bool:
    """True if line one names groups of columns, and the columns are named below it."""
    if len(rows) < 3:
        return False
    first, second, *rest = (_texts(row, width) for row in rows)
    names = "" not in second and len(set(second)) == width and not any(map(_looks_numeric, second))
    return "" in first[1:] and names and any(map(_numeric, _columns(rest, width)))


def _has_names(row: Row, first: list[str], columns: list[list[str]], typed: bool) -> tuple[bool, list[str]]:
    """True if line one names the columns, and a note where that is a guess."""
    if any(is_number(cell) if isinstance(cell, str) and not typed else _stored_as_number(cell) for cell in row):
        return False, [f"The first line holds numbers, so it was read as a row. {_HEADER}"]
    if _above_numbers(first, columns) or not columns[0]:
        return True, []
    repeating = [(cell, Counter(filter(None, cells))) for cell, cells in zip(first, columns, strict=True)]
    # In exports of questions with several answers, a column holds its own name or nothing.
    repeating = [(cell, seen) for cell, seen in repeating if len(seen) > 1 and max(seen.values()) > 1]
    again = [cell for cell, seen in repeating if cell in seen]
    if again and 2 * len(again) >= len(repeating):
        said = f"The texts of the first line, such as {quote_examples(again, 2)}, occur again below"
        return False, [f"{said}, so it was read as a row. {_HEADER}"]
    if _chance(first, columns, veto=False) <= _LIKELY:
        return True, []
    return True, [f"The first line was read as the names of the columns. {_HEADER}"]


def _second_names(rows: list[list[str]]) -> tuple[int, list[str]]:
    """How many of these rows, the first ones, say something about the columns, and a note on it."""
    for lines in range(min(_MOST_BELOW, len(rows) - 1), 0, -1):
        columns = _columns(rows[lines:], len(rows[0]))
        chance = max(_chance(row, columns) for row in rows[:lines])
        shown = quote_examples(list(filter(None, rows[0])), 2)
        if chance <= _SURE:
            return lines, [
                f"{plural(lines, 'line')} below the names {'was' if lines == 1 else 'were'} left out, as part of the header: {shown}. "
                'If that is wrong, choose how many under "Lines below the names".'
            ]
        if chance <= _LIKELY and lines == 1:
            return 0, [
                f"The line below the names ({shown}) differs from all others and was read as a row. "
                'If it is part of the header, choose 1 under "Lines below the names".'
            ]
    return 0, []


def _above_numbers(first: list[str], columns: list[list[str]]) -> bool:
    named = (cell for cell, cells in zip(first, columns, strict=True) if _numeric(cells))
    return any(cell and not _is_missing(cell) for cell in named)


def _chance(row: list[str], columns: list[list[str]], veto: bool = True) -> float:
    """How likely an ordinary row differs as much from the cells below it: the share of cells that occur once, by column.

    1 for a row with a cell of the same kind as those below, unless that is no ``veto``.
    """
    by_tool = any(map(_SURVEY_TOOLS.match, row))
    chance, blank = _RARE if by_tool else 1.0, 1.0
    for cell, cells in zip(row, columns, strict=True):
        filled = [text for text in cells if text and not _is_missing(text)]
        seen, unlike = Counter(filled), 1 / (len(cells) + 1)
        if not cell:
            blank *= unlike if len(filled) == len(cells) else 1.0
        elif filled and not _is_missing(cell):
            numeric = _numeric(cells)
            if set(seen) == {cell} and len(filled) > 1 and not numeric:  # its own name or nothing, as line two may say
                by_tool = True
                continue
            alike = _looks_numeric(cell) if numeric else cell in seen
            if alike and veto:
                return 1.0
            by_tool = by_tool or (numeric and not alike)
            odd = sum(not _looks_numeric(text) if numeric else seen[text] == 1 for text in filled)
            chance *= 1.0 if alike else min(1.0, unlike * (odd + 1))
    # A person may leave out what all others say, so a gap counts only beside other evidence.
    return chance * blank if by_tool else chance


def _numeric(cells: list[str]) -> bool:
    """True if nine in ten cells begin like numbers or dates."""
    filled = [text for text in cells if text and not _is_missing(text)]
    return bool(filled) and sum(map(_looks_numeric, filled)) >= _MOSTLY * len(filled)


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    return [[row[i] for row in rows] for i in range(width)]


def _texts(row: Row, width: int) -> list[str]:
    texts = ["" if cell is None else str(cell).strip() for cell in row[:width]]
    return texts + [""] * (width - len(texts))


def _looks_numeric(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _is_missing(text: str) -> bool:
    return text.casefold() in MISSING_WORDS


def is_number(text: str) -> bool:
    """True for a text that is a finite number, perhaps with a decimal comma."""
    try:
        return math.isfinite(float(re.sub(r"^([^,]*),([^,]*)$", r"\1.\2", text.strip())))
    except ValueError:
        return False


def _stored_as_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)

"""Lines above, between and below the values of a table, alike by upload and by path, in text and in Excel."""

import io
import random

import openpyxl
import pandas as pd
import pytest

from ldp_core.data import tables
from ldp_core.data.tables import ReadOptions
from tests.refused import refused

DRAW = random.Random(4)
CITIES = ["Paris", "Lyon", "Nice"]
ROWS = [[str(i), DRAW.choice(CITIES), DRAW.choice(["yes", "no"])] for i in range(60)]
TEXTS = [row[1:] for row in ROWS]
AGES = [[str(DRAW.randint(18, 80)), DRAW.choice(CITIES)] for _ in range(60)]
NAMES = ["id", "city", "ok"]
COUNTS = [["place", "n"], ["Paris", "10"], ["Lyon", "20"], ["Nice", "30"]]


def csv_of(lines, delimiter=","):
    return "\n".join(delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in line) for line in lines)


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append([float(cell) if cell.isdigit() else cell or None for cell in line])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(text, folder, **options):
    """The names, the number of rows and the notes of a text, after a check that by path it is the same."""
    path = folder / "x.csv"
    path.write_text(text)
    loaded, local = tables.load(text.encode(), "x.csv", ReadOptions(**options)), None
    local = tables.LocalTable(str(path), ReadOptions(**options))
    names = list(loaded.table.columns)
    frame, users = local.counts(names)
    expected = sorted(map(tuple, loaded.table.to_numpy().tolist()))
    assert sorted(map(tuple, frame.fillna("").to_numpy().repeat(users, axis=0).tolist())) == expected
    assert (list(local.columns), local.notes, local.options) == (names, loaded.notes, loaded.options)
    return names, len(loaded.table), " ".join(loaded.notes)


TITLED = [
    ([NAMES, *ROWS], ""),
    ([["My survey"], NAMES, *ROWS], '"My survey"'),
    ([["My survey", "", ""], NAMES, *ROWS], '"My survey"'),
    ([["My survey"], [""], NAMES, *ROWS], "1 line above"),
    ([["My survey"], ["Source: us", "", ""], NAMES, *ROWS], "2 lines above"),
    ([["Survey by us", "Paris", "2024", "first part", "draft"], NAMES, *ROWS], "1 line above"),
    ([["", "Home", ""], NAMES, *ROWS], '"Home"'),
    ([["Person", "", "Answers"], NAMES, *ROWS], '"Person", "Answers"'),
    ([["", "", ""], [""], NAMES, *ROWS], ""),
    ([NAMES, ["", "Response", "Answer"], *ROWS], "1 line below"),
    ([NAMES, ["Respondent", "Open-Ended Response", "Response"], *ROWS], "1 line below"),
    ([NAMES, ["", "Where do you live?", "Is it good?"], *ROWS], "1 line below"),
    ([NAMES, ["", "", "Answer"], *ROWS], "1 line below"),
    ([NAMES, ["Number?", "Where?", "Good?"], ['{"ImportId"}', '{"ImportId"}', '{"ImportId"}'], *ROWS], "2 lines below"),
    ([["Survey"], NAMES, ["", "Response", "Answer"], *ROWS], "1 line above"),
]


@pytest.mark.parametrize(("lines", "said", "delimiter"), [(*case, ",;\t"[i % 3]) for i, case in enumerate(TITLED)])
def test_only_people_are_rows(lines, said, delimiter, tmp_path):
    names, rows, notes = read(csv_of(lines, delimiter), tmp_path)
    assert (names, rows) == (NAMES, 60)
    assert said in notes
    assert bool(notes) == bool(said)


@pytest.mark.parametrize(("lines", "said"), [TITLED[i] for i in (1, 6, 9, 13)])
def test_only_people_are_rows_of_a_workbook(lines, said):
    loaded = tables.load(workbook(one=lines), "x.xlsx")
    assert (list(loaded.table.columns), len(loaded.table)) == (NAMES, 60)
    assert said in " ".join(loaded.notes)


def ticks(*names):
    """Answers of 60 people to a question with several answers: a column holds its own name or nothing."""
    return [[DRAW.choice([name, ""]) for name in names[:-1]] + [names[-1] if i % 3 else ""] for i in range(60)]


USE, AGE = "Means of transport", [[str(i + 1), str(DRAW.randint(18, 80))] for i in range(60)]
TICKED = [[*age, *tick] for age, tick in zip(AGE, ticks("Bus", "Car"), strict=True)]
CODED = [[*age, DRAW.choice("01"), DRAW.choice("01")] for age in AGE]
RATED = [[*age, DRAW.choice(["low", "high"]), DRAW.choice(["low", "high"])] for age in AGE]
ASKED = ["PersonNo", "Age in years", USE, ""]
NAMED = ["PersonNo", "Age in years", f"{USE}: Bus", f"{USE}: Car"]
TWO_LINES = [
    ([ASKED, ["", "Answer", "Bus", "Car"], *TICKED], NAMED),
    ([ASKED, ["", "Answer", "Bus", "Car"], *CODED], NAMED),
    ([ASKED, ["", "Answer", "Bus", "Car"], *RATED], NAMED),
    ([ASKED, ["", "", "Bus", "Car"], *TICKED], NAMED),
    ([ASKED, ["", "Antwort", "Bus", "Car"], *TICKED], NAMED),
    ([ASKED, ["Respondent", "Response", "Bus", "Car"], *TICKED[:5]], NAMED),
    ([["Our survey", "", "", ""], ASKED, ["", "Answer", "Bus", "Car"], *TICKED], NAMED),
    ([["Sex", USE, ""], ["Response", "Bus", "Car"], *[["fm"[i % 2], *row[2:]] for i, row in enumerate(TICKED)]], ["Sex", *NAMED[2:]]),
    ([["No", USE, "", "", ""], ["", "Bus", "Car", "Bike", "Other (please say)"], *[[str(i), *row] for i, row in enumerate(ticks("Bus", "Car", "Bike", "horse"))]], ["No", *NAMED[2:], f"{USE}: Bike", f"{USE}: Other (please say)"]),
    ([["No", "Q" * 400, ""], ["", "Bus", "Car"], *[[str(i), *row] for i, row in enumerate(ticks("Bus", "Car"))]], ["No", "Q" * 294 + "\u2026: Bus", "Q" * 294 + "\u2026: Car"]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "names"), TWO_LINES)
def test_names_of_two_lines_are_joined_and_no_person(lines, names, tmp_path):
    people = len(lines) - 2 - (lines[0][0] == "Our survey")
    filled = [line for line in lines if any(line)]
    people -= len(lines) - len(filled)
    said = 'The columns have names of two lines, such as "'
    found, rows, notes = read(csv_of(lines), tmp_path)
    assert (found, rows) == (names, people)
    assert said in notes
    loaded = tables.load(workbook(one=lines), "x.xlsx")
    assert (list(loaded.table.columns), len(loaded.table)) == (names, people)
    assert said in " ".join(loaded.notes)
    if lines[0] == ASKED:
        assert read(csv_of(lines), tmp_path, below=0)[1] == people + 1


@pytest.mark.parametrize(
    ("lines", "names", "rows"),
    [
        ([["No", "Age", "Bus?", "Car?"], ["", "Answer", "Bus", "Car"], *TICKED], ["No", "Age", "Bus?", "Car?"], 60),
        ([["No", "Age", "Bus?", "Car?"], ["", "", "Bus", "Car"], *TICKED], ["No", "Age", "Bus?", "Car?"], 60),
        ([["No", "Age", "Town", ""], *[[*age, "Rome", "x"] for age in AGE]], ["No", "Age", "Town", "column_4"], 60),
        ([["Name", "Town", ""], ["", "Paris", "no"], *[[f"p{row[0]}", *row[1:]] for row in ROWS]], ["Name", "Town", "column_3"], 61),
        ([["Name", "Nick", ""], *[[f"p{i}", f"n{i}", f"x{i}"] for i in range(60)]], ["Name", "Nick", "column_3"], 60),
        (TEXTS, ["column_1", "column_2"], 60),
        ([["Town", "Good"], *TEXTS], ["Town", "Good"], 60),
        ([[f"p{row[0]}", *row[1:]] for row in ROWS], ["column_1", "column_2", "column_3"], 60),
        ([["Q1", "Answer"], ["years", "town"], *AGES], ["Q1", "Answer"], 60),
        ([["Apples", "Pears", "Plums"], *[["Apples", "", "Plums"], ["", "Pears", ""]] * 9], ["Apples", "Pears", "Plums"], 18),
        ([["", "value"], ["0", "x"], ["1", "y"]], ["column_1", "value"], 2),
        ([["id", ""], ["1", "x"], ["2", "y"]], ["id", "column_2"], 2),
        ([["name", "age"], ["Ann", "unknown"], *[[f"p{i}", str(i)] for i in range(60)]], ["name", "age"], 61),
        ([["name", "town"], ["Ann", "Oslo"], *[[f"p{i}", town] for i, (_, town, _) in enumerate(ROWS)]], ["name", "town"], 61),
        ([["1", "", ""], ["", "2", ""], ["1", "2", "3"]], ["column_1", "column_2", "column_3"], 3),
    ],
)  # fmt: skip
def test_what_the_texts_show_is_taken(lines, names, rows, tmp_path):
    assert read(csv_of(lines), tmp_path)[:2] == (names, rows)


def test_guesses_are_said_and_can_be_corrected(tmp_path):
    text = csv_of(TEXTS)
    assert "occur again below, so it was read as a row" in read(text, tmp_path)[2]
    assert read(text, tmp_path, header=True)[:2] == (TEXTS[0], 59)
    unclear = "a,b\nx,y\nz,w"
    assert (
        read(unclear, tmp_path)[2] == "The first line was read as the names of the columns. "
        'If that is wrong, change "The first row holds the column names".'
    )
    assert read(unclear, tmp_path, header=False)[1:] == (3, "")
    answered = csv_of([NAMES, ["", "Response", "Answer"], *ROWS])
    assert read(answered, tmp_path, below=0)[1] == 61
    assert read(csv_of([NAMES, *ROWS]), tmp_path, below=2)[1] == 58
    assert read(csv_of([["My survey", "", ""], NAMES, *ROWS]), tmp_path, above=0, below=0)[1] == 61
    assert read(csv_of([["x", "y", "z"], NAMES, *ROWS]), tmp_path, above=1)[:2] == (NAMES, 60)
    refused("no line below the first 99: leave out fewer", read, text, tmp_path, above=99, kind=tables.UnreadableTable)


def test_a_title_or_a_name_may_go_on_in_the_next_line(tmp_path):
    text = '"My\nsurvey",,\n"id\nof all",city,ok\n' + csv_of(ROWS)
    assert read(text, tmp_path)[:2] == (["id\nof all", "city", "ok"], 60)


@pytest.mark.parametrize(
    "text", ["a\n1\n\n2\n\n\n", "\n\na\n1\n\n2", " \na\r\n1\r\n\r\n2\r\n  \r\n", "a\n1\n\n2\n \n\t"]
)
def test_blank_lines_around_one_column_are_no_people(text, tmp_path):
    assert read(text, tmp_path)[1] == 3


@pytest.mark.parametrize("row", ['"\n",', "\u00a0,\u2009", "\u200b,"])
def test_rows_without_anything_to_see_are_no_people(row, tmp_path):
    assert read(f"a,b\n1,2\n{row}\n3,4\n", tmp_path)[1:] == (2, "1 blank row was left out.")


@pytest.mark.parametrize(
    ("line", "rows", "said"),
    [
        (
            ["Total", "60"],
            3,
            '"Total" was left out, since it adds up all others. If it stands for people, choose "rows like others"',
        ),
        (["TOTALS:", "60"], 3, "was left out"),
        (["Insgesamt", "60"], 3, "was left out"),
        (["", "60"], 3, "was left out, since it adds up all others"),
        (["Total", "61"], 4, '"Total" was read as a row'),
        (["Rome", "60"], 4, ""),
    ],
)
def test_a_line_of_totals_is_nobody(line, rows, said, tmp_path):
    for lines in ([*COUNTS, line], [*COUNTS, line, ["", ""]], [COUNTS[0], line, *COUNTS[1:]]):
        _, found, notes = read(csv_of(lines), tmp_path)
        assert (found, said in notes) == (rows, True)
    assert read(csv_of([*COUNTS, line]), tmp_path, total=False)[1] == 4
    frame = pd.DataFrame({"place": [*CITIES, line[0] or None], "n": [10, 20, 30, int(line[1])]})
    path = tmp_path / "x.parquet"
    frame.to_parquet(path)
    assert len(tables.load(path.read_bytes(), "x.parquet").table) == rows
    local = tables.LocalTable(str(path))
    assert local.counts(["n"])[1].sum() == rows
    assert said in " ".join(local.notes)


def test_a_line_of_totals_can_be_named_as_such(tmp_path):
    lines = [*COUNTS, ["Total", "60"], ["Source: us", ""]]
    assert len(tables.load(workbook(one=[[*line, "x"[: i < 5]] for i, line in enumerate(lines)]), "x.xlsx").table) == 3
    assert read(csv_of([*COUNTS, ["Total", "61"]]), tmp_path, total=True)[1] == 3
    people = [["place", "n"], ["Total", "34"], *[[city, "40"] for city in CITIES * 4]]
    assert read(csv_of(people), tmp_path)[1] == 13


def test_a_cover_note_gives_way_to_a_table():
    data = [["age", "city"], *AGES]
    loaded = tables.load(
        workbook(About=[["My survey"], ["by us"], ["2024-03-04"]], Data=data, Codes=[["a", "b"]]), "x.xlsx"
    )
    assert (len(loaded.table), loaded.options.sheet) == (60, "Data")
    assert (
        '"Data" was read, since "About" before it seems to hold no table; "About", "Codes" were not' in loaded.notes[0]
    )
    first = tables.load(workbook(Data=data, Codes=[["a", "b"], ["1", "2"]]), "x.xlsx")
    assert first.notes == ('The first of 2 sheets, "Data", was read; "Codes" was not.',)
    told = tables.load(workbook(About=[["My survey"], ["by us"]], Data=data), "x.xlsx", ReadOptions(sheet="About"))
    assert len(told.table) == 1


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ([["Source: us", "", ""]], 60),
        ([["Source: us", "", ""], ["Note: first part", "", ""]], 60),
        ([["* with gaps", "", ""]], 60),
        ([["made by us", "", ""]], 60),
        ([["61", "", ""]], 61),
        ([["", "Paris", ""]], 61),
    ],
)
def test_a_remark_below_the_table_is_nobody(lines, rows, tmp_path):
    names, found, notes = read(csv_of([NAMES, *ROWS, *lines]), tmp_path)
    assert (names, found) == (NAMES, rows)
    assert ("below the table was left out" in notes) == (rows == 60)
    assert read(csv_of([NAMES, *ROWS, *lines]), tmp_path, total=False)[1] == 60 + len(lines)


def test_a_label_is_compared_as_it_is_written(tmp_path):
    assert read(csv_of([*COUNTS, ["Total\u00a0", "60"]]), tmp_path)[1] == 3
    assert read(csv_of([*COUNTS, ["\u00a0", "60"]]), tmp_path)[1] == 3

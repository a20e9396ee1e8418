"""A file that could not be read is kept, and its read options are shown, until it can be read."""

import io

import pandas as pd

from pages.ui import sources

TWICE = b"a,a\n1,2\n3,4\n3,5\n"


def test_a_header_of_equal_names_is_said_to_be_none(app):
    before = app.sample().configuration
    app.upload("people.csv", TWICE)
    assert (
        '"a" occurs 2 times (columns 1, 2): rename them, or say that the first line is not a header.' in app.errors[0]
    )
    assert app.configuration == before
    app.enter("selectbox", "given-header", False).finish()
    assert not app.errors
    assert app.session.source.columns == ["column_1", "column_2"]
    assert app.session.tally.users == 4
    assert app.configuration.data.reading.header is False
    assert not app.has("selectbox", "given-header")
    assert app.has("selectbox", "read-header")


def test_what_was_said_stays_until_it_is_enough(app):
    """Two options are wrong: one is said after the other, and neither is forgotten."""
    app.upload("people.csv", b"x;x\nM\xfcnchen;1\n")
    app.enter("selectbox", "given-encoding", "utf-8").finish()
    assert "not UTF-8 text" in app.errors[0]
    app.enter("selectbox", "given-header", False).finish()
    assert "not UTF-8 text" in app.errors[0]
    assert app.control("selectbox", "given-encoding").value == "utf-8"
    app.enter("selectbox", "given-encoding", "latin-1").finish()
    assert not app.errors
    assert app.session.setting.labels == ("München", "x")


def test_notes_on_reading_stay_while_the_table_is_used(app):
    """No choice among the columns, no other page and no undo makes a guess certain."""
    app.upload("people.csv", b"share;city\n1,5;Rome\n2,5;Oslo\n2,5;Rome\n")
    steps = [
        lambda: app.columns("share", "city"),
        lambda: app.columns("city"),
        lambda: app.go("design").go("data"),
        lambda: app.session.undo() or app.go("data"),
    ]
    for step in [lambda: app, *steps]:
        step().finish()
        assert app.words.count('"share" has decimal commas: 1,5 was read as 1.5.') == 1
    app.enter("selectbox", "read-decimal", ".").finish()
    assert "decimal commas" not in app.words
    app.upload("people.csv", b"share;city\n1,5;Rome\n2,5;Oslo\n").sample()
    assert "decimal commas" not in app.words


def test_another_sheet_of_a_workbook_is_chosen_when_the_first_is_no_table(app):
    content = io.BytesIO()
    with pd.ExcelWriter(content) as book:
        pd.DataFrame([["a", "a"], ["1", "2"]]).to_excel(book, sheet_name="twice", index=False, header=False)
        pd.DataFrame({"answer": ["yes", "no"]}).to_excel(book, sheet_name="answers", index=False)
    app.upload("survey.xlsx", content.getvalue())
    assert "occurs 2 times" in app.errors[0]
    assert not app.has("selectbox", "given-delimiter")
    app.enter("text_input", "given-sheet", "answers").finish()
    assert not app.errors
    assert app.session.source.columns == ["answer"]


def test_a_file_that_was_not_read_is_forgotten(app):
    app.upload("people.csv", TWICE).press("given-forget")
    assert not app.errors
    assert not app.has("button", "given-forget")
    assert TWICE not in [getattr(kept, "content", None) for kept in app.session.view.values()]


def test_a_large_upload_is_read_in_the_background_and_can_be_cancelled(app, monkeypatch, busy):
    monkeypatch.setattr(sources, "QUICK_BYTES", 0)
    before = app.sample().configuration
    app.go("data").enter("segmented_control", "data-source", "upload")
    app.hand("upload", ("people.csv", b"age\n1\n2\n", "text/csv"))
    assert app.configuration == before
    assert not app.has("button", "given-again")
    app.press("look-cancel")
    assert app.errors == ["Reading was cancelled. What you had set up is unchanged."]
    assert app.configuration == before
    assert app.has("button", "given-again")  # it need not be uploaded again


def test_counting_a_large_upload_can_be_cancelled_whatever_its_size(app, monkeypatch, busy):
    app.upload("people.csv", b"age,sex\n1,f\n2,m\n3,f\n")
    monkeypatch.setattr(sources, "QUICK_ROWS", 2)
    before = app.configuration
    app.columns("age", "sex")
    assert app.configuration == before
    app.press("look-cancel")
    assert app.errors == ["Reading was cancelled. What you had set up is unchanged."]
    assert app.configuration == before
    busy.set()
    app.columns("age", "sex").finish()
    assert app.session.setting.domain.shape == (3, 2)
    app.press("undo")
    assert app.configuration == before

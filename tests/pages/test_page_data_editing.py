"""The Data page's tables to edit categories and edges in: what is typed is kept, and becomes the types."""

import json
import time

import numpy as np
import pandas as pd
import pytest

from pages.ui import sources

PEOPLE = pd.DataFrame(
    {
        "age": 18 + np.arange(600) * 7 % 60,
        "country": np.where(np.arange(600) % 50 == 0, "Malta", np.where(np.arange(600) % 2 == 0, "France", "Spain")),
    }
)
BLANK = {"edited_rows": {}, "added_rows": [], "deleted_rows": []}


class Table:
    """The table on screen, as somebody edits it who does not wait for the page's answer."""

    def __init__(self, app):
        editor = self.editor(app)
        self.app, self.rows, self.id = app, editor.value, editor.proto.id

    @staticmethod
    def editor(app):
        return next(editor for editor in app.at.data_editor if "category" in editor.value)

    @property
    def stays(self):
        """Whether it is still the one on screen, which a browser would otherwise draw anew."""
        return self.editor(self.app).proto.id == self.id

    def edit(self, **edits):
        """All edits since the table came, as the browser reports them after each."""
        states = self.app.at._tree.get_widget_states()
        states.widgets.add(id=self.id, string_value=json.dumps({**BLANK, **edits}))
        self.app.at._run(states)
        return self.app.check()

    def row(self, value):
        return self.rows["value"].tolist().index(value)


@pytest.fixture
def people(app):
    return app.upload("people.csv", PEOPLE.to_csv(index=False).encode())


@pytest.fixture
def countries(people):
    return people.columns("country")


def test_categories_are_merged_and_renamed(countries):
    table = Table(countries)
    first = {table.row("France"): {"category": "other countries"}}
    table.edit(edited_rows=first)
    assert set(countries.session.setting.labels) == {"other countries", "Malta", "Spain"}
    assert table.stays
    table.edit(edited_rows={**first, table.row("Malta"): {"category": "other countries"}})
    assert set(countries.session.setting.labels) == {"other countries", "Spain"}
    assert countries.session.setting.domain.attributes[0].origin == "data"
    countries.bins("country", "")
    assert set(countries.session.setting.labels) == {"France", "Malta", "Spain"}


def test_a_table_comes_anew_where_something_else_changes_the_categories(countries):
    table = Table(countries)
    table.edit(edited_rows={table.row("France"): {"category": "islands"}})
    countries.press("undo")
    assert not table.stays
    assert Table(countries).rows["category"].tolist() == ["France", "Malta", "Spain"]


def test_a_table_stays_while_a_large_file_is_counted_again(app, monkeypatch, request):
    monkeypatch.setattr(sources, "QUICK_ROWS", 2)
    app.upload("people.csv", PEOPLE.to_csv(index=False).encode()).finish()
    app.columns("country").finish()
    table, busy = Table(app), request.getfixturevalue("busy")
    first = {table.row("France"): {"category": "islands"}}
    table.edit(edited_rows=first)
    assert app.has("button", "look-cancel")
    assert table.stays
    both = {**first, table.row("Malta"): {"category": "islands"}}
    table.edit(edited_rows=both)
    busy.set()
    while app.working:
        time.sleep(0.02)
    table.edit(edited_rows=both)  # with every run the browser sends them all again
    assert set(app.session.setting.labels) == {"islands", "Spain"}
    assert table.stays

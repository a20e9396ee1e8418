"""Several attributes, tables of counts, and files of this machine."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from pages.ui.data import background_read

ROWS = 600
PEOPLE = pd.DataFrame(
    {
        "age": 18 + np.arange(ROWS) * 7 % 60,
        "sex": np.where(np.arange(ROWS) % 3 == 0, "f", "m"),
        "joined": [f"2026-{1 + i % 3:02d}-{1 + i % 28:02d}" for i in range(ROWS)],
        "country": np.where(np.arange(ROWS) % 50 == 0, "Malta", np.where(np.arange(ROWS) % 2 == 0, "France", "Spain")),
    }
)


def csv(table=PEOPLE):
    return table.to_csv(index=False).encode()


@pytest.fixture
def people(app):
    return app.upload("people.csv", csv())


def columns(app, *names):
    return app.enter("multiselect", "data-columns", list(names))


def test_several_columns_make_a_joint_domain(people):
    columns(people, "age", "sex", "country")
    design = people.session.design()
    assert design.domain.shape == (30, 2, 3)
    assert design.counts.sum() == ROWS
    assert "180 types = 30 age × 2 sex × 3 country." in people.words
    assert people.session.design().workload.num_queries == 30 * 2 + 30 * 3 + 2 * 3
    assert len(people.charts) == 2
    table = design.counts.reshape(design.domain.shape)
    assert table.sum(axis=(0, 2)).tolist() == PEOPLE["sex"].value_counts().sort_index().tolist()


def test_dates_by_month_and_week(people):
    columns(people, "joined")
    assert people.configuration.data.recipes[0].kind == "date"
    assert people.session.design().domain.shape == (3,)
    people.enter("selectbox", "data-unit", "week")
    assert people.session.design().domain.size > 8
    people.enter("text_input", "data-last", "2026-W30")
    assert people.session.design().domain.attributes[0].labels[-1] == "2026-W30"
    people.enter("text_input", "data-last", "last year")
    assert people.errors
    assert people.session.design().domain.attributes[0].labels[-1] == "2026-W30"


def test_a_table_of_counts(app):
    app.upload("counts.csv", b"colour,people\nred,400\nblue,250\ngreen,0\n")
    assert "Each row stands for as many people as people says" in app.words
    design = app.session.design()
    assert dict(zip(design.labels, design.counts.tolist(), strict=True)) == {"blue": 250, "green": 0, "red": 400}
    assert app.configuration.population.users == 650
    offered = [label for label in app.at.selectbox(key="data-counts").options if label != "one person"]
    assert offered == ["as many people as people says"]  # colours count nobody


def test_a_table_opens_with_a_column_that_says_something_about_people(app):
    rows = "".join(f"{1000 + i},{i % 5},p{i},{i / 7:.3f}\n" for i in range(60))
    app.upload("people.csv", f"number,score,name,size\n{rows}".encode())
    assert app.configuration.data.recipes[0].column == "score"
    app.upload("sizes.csv", f"user_id,score,name,size\n{rows}".encode())
    assert app.configuration.data.recipes[0].column == "score"


def local(app, path):
    app.go("data").enter("segmented_control", "data-source", "local")
    return app.enter("text_input", "local-path", str(path))


def test_a_local_file_is_counted_where_it_is(app, tmp_path):
    path = tmp_path / "people.parquet"
    PEOPLE.to_parquet(path)
    local(app, path).press("local-open").finish()
    columns(app, "sex", "country").finish()
    assert app.session.design().counts.sum() == ROWS
    assert "The rows stay in the file." in app.words
    assert not hasattr(app.session.source.table, "iloc")


def test_a_query_over_a_local_database(app, tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        PEOPLE.to_sql("people", connection, index=False)
    local(app, path)
    assert "Tables: people." in app.words
    app.enter("text_area", "local-query", "SELECT sex, count(*) AS many FROM people GROUP BY sex").press(
        "local-run"
    ).finish()
    assert app.session.design().users == 2
    app.enter("selectbox", "data-counts", "many")
    assert app.session.design().counts.tolist() == [200, 400]
    before = app.configuration
    app.enter("text_area", "local-query", "DROP TABLE people").press("local-run").finish()
    assert "one SELECT" in app.errors[0]
    assert app.configuration == before
    assert before.data.query.startswith("SELECT sex")


def test_paths_that_lead_nowhere(app):
    for path in ("/no/such/file.csv", "/etc"):
        local(app, path)
        if app.has("button", "local-open"):
            app.press("local-open").finish()
        assert "There is no file" in app.errors[0]


@pytest.fixture
def patient(monkeypatch):
    """No action waits for its file, as none waits for a large one."""
    monkeypatch.setattr(background_read, "WAITED", 0.0)


def test_a_local_file_is_read_in_the_background(app, tmp_path, patient):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    local(app, tmp_path / "people.csv")
    assert "Reading and counting take at most 10 minutes and 1 GB of memory, and can be cancelled." in app.words
    app.press("local-open").finish()
    assert app.session.design().users == ROWS
    columns(app, "sex", "country").finish()
    assert app.session.design().domain.shape == (2, 3)
    assert "What you had set up" not in app.words
    # What the page needs afterwards is known: the file itself is not looked at again.
    (tmp_path / "people.csv").unlink()
    for page in ("data", "workload", "data"):
        app.go(page)
    assert not app.errors
    app.enter("selectbox", "data-missing", "category").finish()
    assert app.session.design().users == ROWS


def test_reading_a_local_file_can_be_cancelled_and_blocks_nobody(app, another, tmp_path, busy):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    before = app.sample().configuration
    local(app, tmp_path / "people.csv").press("local-open")
    assert app.has("button", "look-cancel")
    assert app.configuration == before
    assert another().sample().session.design().users == 3000
    app.go("workload").go("data").press("look-cancel")
    assert app.errors == ["Reading was cancelled. What you had set up is unchanged."]
    assert app.configuration == before
    assert not app.has("button", "look-cancel")


def test_local_files_are_offered_to_this_machine_only(app, monkeypatch):
    app.go("data")
    assert "File on this machine" in app.at.segmented_control(key="data-source").options
    ask = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else ask(name))
    app.go("data")
    assert "File on this machine" not in app.at.segmented_control(key="data-source").options


def test_a_design_that_waits_for_its_table_takes_it_while_another_is_being_declared(people, another):
    saved = people.configuration.to_json()
    other = another().load(saved, "configuration.json").go("data")
    other.enter("segmented_control", "data-source", "declared").enter("text_input", "declare-name", "answer")
    assert "not described yet" in other.words
    other.upload("people.csv", csv())
    assert other.session.design().on_data
    assert other.session.design().users == ROWS

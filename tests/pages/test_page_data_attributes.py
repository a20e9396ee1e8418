"""Several attributes, tables of counts, and databases."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

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


def test_a_table_of_counts(app):
    app.upload("counts.csv", b"colour,people\nred,400\nblue,250\ngreen,0\n")
    assert "Each row stands for as many people as people says" in app.words
    design = app.session.setting
    assert dict(zip(design.labels, design.counts.tolist(), strict=True)) == {"blue": 250, "green": 0, "red": 400}
    assert app.configuration.population.users == 650
    offered = [label for label in app.control("selectbox", "data-counts").options if label != "one person"]
    assert offered == ["as many people as people says"]  # colours count nobody


def test_a_table_opens_with_a_column_that_says_something_about_people(app):
    rows = "".join(f"{1000 + i},{i % 5},p{i},{i / 7:.3f}\n" for i in range(60))
    app.upload("people.csv", f"number,score,name,size\n{rows}".encode())
    assert app.configuration.data.recipes[0].column == "score"
    app.upload("sizes.csv", f"user_id,score,name,size\n{rows}".encode())
    assert app.configuration.data.recipes[0].column == "score"


@pytest.fixture(params=["people.db", "people.duckdb"])
def database(request, tmp_path):
    """The name and the bytes of a database with a table of people."""
    path = tmp_path / request.param
    if path.suffix == ".db":
        with sqlite3.connect(path) as connection:
            PEOPLE.to_sql("people", connection, index=False)
        connection.close()
    else:
        with duckdb.connect(str(path)) as connection:
            connection.register("given", PEOPLE)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return path.name, path.read_bytes()


def test_an_uploaded_database_is_read_by_one_select(app, another, database):
    app.upload(*database)
    assert "Tables: people." in app.words
    assert not app.session.setting.has_domain
    asked = "SELECT sex, count(*) AS many FROM people GROUP BY sex ORDER BY sex"
    app.enter("text_area", "given-query", asked).press("given-run").finish()
    assert not app.has("button", "given-run")
    assert app.session.setting.users == 2
    app.enter("selectbox", "data-counts", "many")
    assert app.session.setting.counts.tolist() == [200, 400]
    before = app.configuration
    assert before.data.query == asked
    app.enter("text_area", "read-query", "DROP TABLE people").press("read-run").finish()
    assert "one SELECT" in app.errors[0]
    assert app.configuration == before
    assert app.control("text_area", "given-query").value == "DROP TABLE people"
    assert app.control("text_area", "read-query").value == asked
    app.press("given-forget")
    saved = app.configuration.to_json()
    other = another().load(saved, "configuration.json").upload(*database)
    assert other.configuration.data == before.data
    assert other.session.setting.counts.tolist() == [200, 400]


def test_a_damaged_database_gets_one_sentence(app):
    app.upload("people.db", b"SQLite format 3\0" + b"x" * 5000)
    assert "not a database" in app.errors[0]
    app.press("given-forget")
    assert not app.errors

"""Queries over databases: they read that file, and nothing else; and local tables counted by Arrow."""

import io
import os
import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.reading import (
    LocalTable,
    Stopped,
    UnreadableTable,
    database,
    database_tables,
    duck,
    is_database,
    query,
    reader,
    watched,
)
from tests.refused import refused


@pytest.fixture
def sqlite_file(tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT, n INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(31, "f", 5), (40, "m", 2), (None, "f😂", 1)])
    connection.close()
    return path.read_bytes()


@pytest.fixture
def duckdb_file(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nswordfish\n")
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES (31, 'f', 5), (40, 'm', 2), (NULL, 'f😂', 1)) t(age, sex, n)"
        )
        connection.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{secret}')")
    return path.read_bytes()


@pytest.fixture(params=["sqlite_file", "duckdb_file"])
def people(request):
    return request.getfixturevalue(request.param)


def test_one_select_gives_a_table(people):
    assert is_database(people)
    assert "people" in database_tables(people)
    loaded = query(people, "SELECT age, sex, n FROM people WHERE age > 0 ORDER BY age;")
    assert loaded.table.to_numpy().tolist() == [[31, "f", 5], [40, "m", 2]]
    assert not loaded.notes
    renamed = query(people, "SELECT age, age FROM people", tables.ReadOptions(names=("a", "b"))).table
    assert list(renamed.columns) == ["a", "b"]
    domain = tables.build_domain(tables.CategoricalRecipe(column="sex"), query(people, "SELECT * FROM people").table)
    assert domain.labels() == ["f", "f😂", "m"]


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT nothing FROM people", "refuses this query.*nothing"),
        ("SELECT 1; SELECT 2", "one SELECT|one statement"),
        ("INSERT INTO people VALUES (1, 'x', 1)", "one SELECT"),
        ("DROP TABLE people", "one SELECT"),
        ("CREATE TABLE t (a INTEGER)", "one SELECT"),
        ("ATTACH ':memory:' AS x", "one SELECT"),
        ("SELECT * FROM people WHERE age > 99", "returns no rows"),
        ("SELECT age, age FROM people", '"age" occurs 2 times'),
    ],
)
def test_other_queries_get_one_sentence(people, sql, sentence):
    refused(sentence, query, people, sql, kind=UnreadableTable)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM leak",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM query('SELECT * FROM read_text(''{secret}'')')",
        "SELECT * FROM sniff_csv('{secret}')",
        "COPY people TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "ATTACH '{folder}/out.db'",
        "EXPORT DATABASE '{folder}/out'",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM swordfish",
    ],
)
def test_duckdb_reads_no_other_file(duckdb_file, tmp_path, sql, monkeypatch):
    """By its own locks, without those of the process that it runs in."""
    monkeypatch.setattr(duck, "swordfish", pd.DataFrame({"word": ["a variable of the program"]}), raising=False)
    (tmp_path / "read").write_bytes(duckdb_file)
    before = sorted(tmp_path.iterdir())
    task = {"path": str(tmp_path / "read"), "sql": sql.format(secret=tmp_path / "secret.csv", folder=tmp_path)}
    refused(r".", lambda: duck.work(b"", task, limits.READ_QUERY, io.BytesIO()), kind=UnreadableTable)
    assert sorted([*tmp_path.iterdir(), tmp_path / "read"]) == before


@pytest.mark.promise
def test_neither_does_its_process(duckdb_file, tmp_path):
    for sql in ("SELECT * FROM leak", f"SELECT * FROM read_text('{tmp_path}/secret.csv')", "LOAD httpfs"):
        refused(r".", query, duckdb_file, sql, kind=UnreadableTable)


def test_sqlite_loads_no_extension_and_attaches_no_file(sqlite_file, tmp_path):
    for sql in ("SELECT load_extension('x')", f"ATTACH '{tmp_path}/new.db' AS x", f"VACUUM INTO '{tmp_path}/new.db'"):
        refused(r".", query, sqlite_file, sql, kind=UnreadableTable)
    assert [path.name for path in tmp_path.iterdir()] == ["people.db"]


def test_results_are_bounded(people, monkeypatch):
    monkeypatch.setattr(limits, "READ_QUERY", replace(limits.READ_QUERY, cells=8))
    refused("more than 8 cells", query, people, "SELECT * FROM people", kind=UnreadableTable)
    assert len(query(people, "SELECT sex FROM people").table) == 3
    monkeypatch.setattr(limits, "READ_QUERY", replace(limits.READ_QUERY, unpacked=3))
    refused("more memory than is allowed", query, people, "SELECT sex FROM people", kind=UnreadableTable)


@pytest.mark.parametrize("path", ["", "/dev/zero", "\0", "x" * 5000])
def test_paths_that_are_no_files(path):
    refused(r"There is no file|cannot be opened", LocalTable, path, kind=UnreadableTable)


def test_other_files_are_refused(tmp_path):
    refused("neither an SQLite nor a DuckDB", query, b"hello", "SELECT 1", kind=UnreadableTable)
    refused(
        r"not a database|malformed", query, b"SQLite format 3\0" + b"x" * 5000, "SELECT * FROM t", kind=UnreadableTable
    )
    refused("refuses this query", query, b"x" * 8 + b"DUCK" + b"x" * 9000, "SELECT 1", kind=UnreadableTable)
    (tmp_path / "x.db").write_bytes(b"hello")
    refused("read as CSV", LocalTable, str(tmp_path / "x.db"), kind=UnreadableTable)


# Limits of a query


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT range(3000000000)",
        "SELECT repeat('x', 2000000000) || i FROM range(9) t(i)",
    ],
)
def test_a_duckdb_query_that_takes_all_memory_ends_alone(duckdb_file, sql):
    refused("more memory than is allowed", query, duckdb_file, sql, kind=UnreadableTable)
    assert len(query(duckdb_file, "SELECT * FROM people").table) == 3


def test_an_sqlite_query_that_takes_all_memory_ends_alone(sqlite_file, monkeypatch):
    monkeypatch.setattr(limits, "READ_QUERY", replace(limits.READ_QUERY, memory=2**29, unpacked=2**28))
    many = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 20000)"
    for sql in (
        f"{many} SELECT printf('%.*c', 900000, 'x') || i FROM r",
        f"{many} SELECT DISTINCT printf('%.*c', 900000, 'x') || i FROM r ORDER BY 1",
    ):
        refused("more memory than is allowed", query, sqlite_file, sql, kind=UnreadableTable)


ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r"


def children():
    """Processes that this one has started and that still run."""
    return {int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()}


def test_a_query_ends_in_time_and_when_cancelled(people, monkeypatch):
    before = children()
    usual, asked = limits.READ_QUERY, []
    monkeypatch.setattr(limits, "READ_QUERY", replace(usual, seconds=0.3))
    refused(r"took longer than 0.3 seconds and was stopped: select fewer", query, people, ENDLESS, kind=UnreadableTable)
    monkeypatch.setattr(limits, "READ_QUERY", usual)

    def at_the_third() -> bool:
        asked.append(None)
        return len(asked) > 2

    with watched(at_the_third), pytest.raises(Stopped, match="cancelled"):
        query(people, ENDLESS)
    assert children() <= before


SHARED = Path("/dev/shm")


def test_nothing_is_written_while_a_query_sorts(tmp_path, monkeypatch):
    """The process of a query cannot write to any file at all, and what it opens has no name any more."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    recursive = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 300000)"
    for name, connect, many in (
        ("x.db", sqlite3.connect, recursive),
        ("x.duckdb", duckdb.connect, "WITH r AS (FROM range(300000) t(i))"),
    ):
        connection = connect(str(tmp_path / name))
        connection.execute("CREATE TABLE t (x TEXT)")
        connection.close()
        before, shared = everything(tmp_path), set(SHARED.iterdir())
        sql = f"{many} SELECT i, i || 'a text of some length' AS word FROM r ORDER BY i * 7919 % 300007"
        seen, others = [set()], children()

        def look(seen=seen, others=others) -> bool:
            seen.append(set())
            for pid in children() - others:
                for entry in Path(f"/proc/{pid}/fd").glob("*"):
                    with suppress(OSError):
                        seen[-1].add(os.readlink(entry))
            return False

        with watched(look):
            assert len(query((tmp_path / name).read_bytes(), sql).table) == 300_000
        opened = {place for places in seen for place in places if place.startswith("/") and "deleted" in place}
        assert {Path(place).parent for place in opened} == ({SHARED} if connect is duckdb.connect else set())
        assert everything(tmp_path) == before
        assert not {path for path in set(SHARED.iterdir()) - shared if path.name.startswith("ldp-database")}


def test_duckdb_files_are_refused_where_there_is_no_shared_memory(duckdb_file, sqlite_file, tmp_path, monkeypatch):
    """Nothing falls back to the disk."""
    before = everything(tmp_path)
    for place in ("/nowhere/at/all", "/dev/full"):
        monkeypatch.setattr(database, "SHARED", Path(place))
        refused(
            f"shared memory, and {place} is missing or too small",
            query,
            duckdb_file,
            "SELECT * FROM people",
            kind=UnreadableTable,
        )
    assert everything(tmp_path) == before
    assert len(query(sqlite_file, "SELECT * FROM people").table) == 3


def everything(folder):
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*")}


def test_a_database_with_a_log_says_that_rows_may_be_missing(tmp_path):
    path = tmp_path / "x.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE people (age INTEGER)")
    writer.executemany("INSERT INTO people VALUES (?)", [(i,) for i in range(1000)])
    writer.commit()
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute("INSERT INTO people VALUES (1000)")
    writer.commit()
    loaded = query(path.read_bytes(), "SELECT * FROM people ORDER BY age % 7")
    assert len(loaded.table) == 1000
    assert "may still be in its log, a file ending in -wal" in loaded.notes[0]
    writer.close()
    assert len(query(path.read_bytes(), "SELECT * FROM people").table) == 1001


# Local tables


NASTY = ["a", "b,c", 'say "hi"', "two\nlines", "<b>😂</b>", "=1+1", "007", "é;"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_local_tables_count_like_tables_in_memory(tmp_path, kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({'it\'s "x"': rng.choice(NASTY, 3000), "n": rng.integers(0, 50, 3000), "unused": "u"})
    path = tmp_path / f"it's.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    here = LocalTable(str(path))
    assert here.columns == tuple(frame.columns)
    recipes = [tables.CategoricalRecipe(column='it\'s "x"'), tables.NumericRecipe(column="n", bins=7)]
    domain = tables.build_domain(recipes, here)
    assert domain == tables.build_domain(recipes, frame)
    expected = tables.tally(frame, domain)
    assert tables.tally(here, domain).counts.tolist() == expected.counts.tolist()
    assert tables.tally(here, domain).notes == expected.notes
    weighted = tables.tally(here, domain.attributes[0], "n")
    assert weighted.counts.tolist() == tables.tally(frame, domain.attributes[0], "n").counts.tolist()
    assert weighted.users == frame["n"].sum()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3,4,5\n", "Line 3 splits into 3 values and other lines into 2"),
        (b"a,b\n" + b"1,2\n" * 70_000 + b"\xe9,1\n", r"not UTF-8 text \(byte 280,005, on line 70,002\)"),
        (b"x" * 100_000, "first line of this file is too long"),
        (",".join(f"c{i}" for i in range(501)).encode() + b"\n" + b"1," * 500 + b"1\n", "501 columns"),
    ],
)
def test_broken_local_files(tmp_path, content, sentence):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    refused(sentence, lambda: LocalTable(str(path)).counts(["a"]), kind=UnreadableTable)
    (tmp_path / "x.parquet").write_bytes(content)
    refused("damaged or incomplete", LocalTable, str(tmp_path / "x.parquet"), kind=UnreadableTable)


@given(st.lists(st.tuples(st.sampled_from(NASTY), st.one_of(st.none(), st.integers(-5, 5))), min_size=1, max_size=20))
@settings(max_examples=15)
def test_any_local_csv_counts_like_a_dictionary(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("local") / "x.csv"
    pd.DataFrame(rows, columns=["word", "n"], dtype=object).to_csv(path, index=False)
    table, users = LocalTable(str(path)).counts(["word", "n"])
    expected = pd.Series([(word, None if n is None else str(n)) for word, n in rows]).value_counts().to_dict()
    found = {(word, n or None): int(k) for (word, n), k in zip(table.to_numpy().tolist(), users, strict=True)}
    assert found == expected


@pytest.fixture(params=["csv", "parquet"])
def many(request, tmp_path):
    """The path of a table that takes several looks at its parts."""
    path, frame = tmp_path / f"x.{request.param}", pd.DataFrame({"x": np.arange(900_000), "y": "a text"})
    frame.to_csv(path, index=False) if request.param == "csv" else frame.to_parquet(path)
    return str(path)


def test_looking_at_a_local_file_is_cancelled_and_ends_in_time(many, monkeypatch):
    table, looks = LocalTable(many), []

    def at_the_second() -> bool:  # the first is before anything is read
        looks.append(None)
        return len(looks) > 1

    with watched(at_the_second), pytest.raises(Stopped, match="cancelled"):
        table.counts(["y"])
    assert len(looks) == 2
    with watched(lambda: False):
        assert table.counts(["y"])[1].tolist() == [900_000]
    monkeypatch.setattr(limits, "READ_LOCAL", replace(limits.READ_LOCAL, seconds=0))
    refused(r"longer than 0 seconds and was stopped: choose fewer columns", table.counts, ["x"], kind=UnreadableTable)


def test_more_distinct_rows_than_memory_holds_are_refused(many, monkeypatch):
    monkeypatch.setattr(limits, "READ_LOCAL", replace(limits.READ_LOCAL, unpacked=2**20))
    refused("more distinct rows than fit in memory", lambda: LocalTable(many).counts(["x"]), kind=reader.TooManyRows)

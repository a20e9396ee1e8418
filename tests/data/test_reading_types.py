"""The types of columns in a file are kept: whole numbers, ordered categories, text, times and
durations."""

import io
import sqlite3

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from ldp_core.data import tables

LARGE = 200_000_000_000_000_000


def uploaded(table, folder):
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer)
    return tables.load(buffer.getvalue(), "x.parquet").table


def by_path(table, folder):
    pa.parquet.write_table(table, folder / "x.parquet")
    return tables.LocalTable(str(folder / "x.parquet"))


def in_sqlite(table, folder):
    connection = sqlite3.connect(folder / "x.sqlite")
    with connection:
        connection.execute(f"CREATE TABLE t ({', '.join(table.column_names)})")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * table.num_columns)})", rows)
    connection.close()
    return tables.query((folder / "x.sqlite").read_bytes(), "SELECT * FROM t").table


def in_duckdb(table, folder):
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return tables.query((folder / "x.duckdb").read_bytes(), "SELECT * FROM t").table


WAYS = [uploaded, by_path, in_sqlite, in_duckdb]


def counted(table, recipe):
    """Users of each type by label."""
    domain = tables.build_domain(recipe, table)
    return dict(zip(domain.labels(), tables.tally(table, domain).counts.tolist(), strict=True))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_whole_numbers_beside_a_gap_stay_apart(way, kind, tmp_path):
    table = pa.table({"code": pa.array([None, LARGE + 1, LARGE + 2, LARGE + 3] * 4, kind)})
    found = counted(way(table, tmp_path), tables.CategoricalRecipe(column="code", missing="category"))
    assert found == {f"{LARGE + 1}": 4, f"{LARGE + 2}": 4, f"{LARGE + 3}": 4, "(missing)": 4}


@pytest.mark.parametrize("way", WAYS)
def test_whole_numbers_with_gaps_are_still_numbers(way, tmp_path):
    table = pa.table({"age": pa.array([None, *range(20, 60)], pa.int32())})
    frame = way(table, tmp_path)
    found = counted(frame, tables.NumericRecipe(column="age", bins=4))
    assert found == {"20-29": 10, "30-39": 10, "40-49": 10, "50-59": 10}


def test_large_and_mixed_values_of_sqlite_keep_their_digits(tmp_path):
    table = pa.table({"code": pa.array([LARGE + 1, LARGE + 2, None])})
    in_sqlite(table, tmp_path)
    sql = "SELECT code FROM t UNION ALL SELECT 0.5 UNION ALL SELECT 'x'"
    found = counted(
        tables.query((tmp_path / "x.sqlite").read_bytes(), sql).table, tables.CategoricalRecipe(column="code")
    )
    assert set(found) == {"0.5", "x", f"{LARGE + 1}", f"{LARGE + 2}"}


SIZES = pd.Categorical(["small", "large", "small", None], ["small", "medium", "large"], ordered=True)


@pytest.mark.parametrize("way", [uploaded, by_path])
def test_ordered_categories_keep_their_order_and_those_that_no_row_holds(way, tmp_path):
    table = pa.Table.from_pandas(pd.DataFrame({"size": SIZES}))
    frame = way(table, tmp_path)
    domain = tables.build_domain(tables.CategoricalRecipe(column="size"), frame)
    assert domain.attributes[0].values == ("small", "medium", "large")
    assert domain.attributes[0].ordered
    assert tables.tally(frame, domain).counts.tolist() == [2, 0, 1]
    merged = tables.CategoricalRecipe(column="size", merges=[tables.Merge(name="big", texts=["medium", "large"])])
    merged = tables.build_domain(merged, frame)
    assert merged.attributes[0].values == ("small", "big")


@pytest.mark.parametrize("way", WAYS)
def test_text_stored_as_bytes_is_text(way, tmp_path):
    table = pa.table({"city": pa.array([b"Paris", "Zürich".encode(), None, b"Paris"])})
    assert counted(way(table, tmp_path), tables.CategoricalRecipe(column="city")) == {"Paris": 2, "Zürich": 1}


@pytest.mark.parametrize("way", [uploaded, by_path])
def test_days_are_those_of_the_time_zone_that_the_file_states(way, tmp_path):
    days = pd.to_datetime(["2026-01-01 00:30", "2026-01-01 23:30", "2026-01-02 12:00"]).tz_localize("Europe/Paris")
    frame = way(pa.Table.from_pandas(pd.DataFrame({"when": days})), tmp_path)
    assert counted(frame, tables.DateRecipe(column="when", unit="day")) == {"2026-01-01": 2, "2026-01-02": 1}


@pytest.mark.parametrize("way", [uploaded, by_path])
def test_durations_are_seconds(way, tmp_path):
    lengths = pd.to_timedelta(["1 days", "2 hours", "1.5 s", None])
    frame = way(pa.Table.from_pandas(pd.DataFrame({"length": lengths})), tmp_path)
    found = counted(frame, tables.CategoricalRecipe(column="length"))
    assert found == {"1.5": 1, "7200": 1, "86400": 1}

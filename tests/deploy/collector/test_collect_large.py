"""A hundred million reports in flat memory, all of them counted once; the time is printed, and decides nothing."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[3]
MEMORY = 2 * 2**30

PROGRAM = """
import resource, sys, time
import ldp_core as ldp
mechanism = ldp.mechanisms.create("randomized_response", n=64, epsilon=1.0)
begun = time.perf_counter()
found = ldp.deploy.collector.collect(sys.argv[1], mechanism, "0123456789abcdef")
seconds = time.perf_counter() - begun
usage = resource.getrusage(resource.RUSAGE_SELF)
print(found.users, found.repeated, found.reports.data.sum(), *found.reports.data[:2], usage.ru_maxrss * 1024, seconds, usage.ru_utime + usage.ru_stime)
"""
IDS = {
    "none": "",
    "uuid": ", md5(CAST(i % {people} AS VARCHAR))::UUID AS id",
    "text": ", md5(CAST(i % {people} AS VARCHAR)) AS id",
}


def collected(path, kind, rows, people):
    """The program's result for a file of reports i % 64; after the first ``people``, these are sent
    again with their ids."""
    report = "CAST(i % 64 AS INTEGER) AS report" if kind == "none" else "CAST(i % {people} % 64 AS VARCHAR) AS report"
    columns = (report + IDS[kind]).format(people=people)
    with duckdb.connect(config={"memory_limit": "2GB", "threads": 2}) as connection:
        connection.execute(f"COPY (SELECT {columns} FROM range({rows}) AS t(i)) TO '{path}' (ROW_GROUP_SIZE 500000)")
    run = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, cwd=ROOT, check=True)
    users, repeated, total, first, second, memory, seconds, processor = map(float, run.stdout.split())
    path.unlink()
    accepted = rows if kind == "none" else people
    print(f"{rows:,} reports, ids {kind}: {seconds:.1f} s, {processor:.1f} s of processor, {memory / 2**20:,.0f} MB")
    assert (users, repeated, total) == (accepted, rows - accepted, accepted)
    assert (first, second) == (-(-accepted // 64), -(-(accepted - 1) // 64))
    assert memory < MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("kind", IDS)
def test_ten_million_reports_take_little_memory(kind, tmp_path):
    collected(tmp_path / "reports.parquet", kind, 10_000_000, 9_900_000)
    collected(tmp_path / "reports.csv", kind, 3_000_000, 2_000_000)

"""Every row of a file is accepted, refused for a reason, or repeated, and counted once: against a plain Python loop."""

import csv
import gzip
import secrets
import uuid
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.deploy.collector import reasons
from ldp_core.deploy.collector.alphabet import alphabet
from tests.refused import refused

DESIGN, OTHER = "0123456789abcdef", "fedcba9876543210"
KINDS = {
    "number": lambda: mechanisms.create("randomized_response", n=5, epsilon=1.0),
    "set": lambda: mechanisms.create("subset_selection", n=9, epsilon=1.0, size=3),
    "bits": lambda: mechanisms.create("oue", n=4, epsilon=1.0),
    "hash": lambda: mechanisms.create("olh", n=6, epsilon=1.0),
    "level": lambda: mechanisms.create("haar", n=8, epsilon=1.0),
    "tree": lambda: mechanisms.create(
        "hierarchical", n=4, epsilon=1.0, branching=2, oracle="oue", reconstruction="consistent"
    ),
    "sets": lambda: mechanisms.create("sampled_sets", workload=workloads.survey([3, 2, 2], ways=2), epsilon=1.0),
}
BUILT = {name: build() for name, build in KINDS.items()}


def drawn(mechanism, people, seed=0):
    """Texts of reports, and the array that they are of."""
    rng = np.random.default_rng(seed)
    sizes = mechanism.sizes
    raw = mechanism.privatize(mechanism.inputs(rng.integers(sizes, size=(people, len(sizes)))), rng)
    raw = raw.astype(np.int64) if raw.dtype == bool else raw
    return [" ".join(map(str, row)) for row in raw.reshape(people, -1).tolist()], raw


def write_csv(path, rows, columns, delimiter=","):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([columns, *rows])
    return path


def write_parquet(path, rows, columns, **options):
    cells = list(zip(*rows, strict=True)) or [[]] * len(columns)
    pq.write_table(
        pa.table({c: pa.array(list(v), pa.string()) for c, v in zip(columns, cells, strict=True)}), path, **options
    )
    return path


def counted(mechanism, texts):
    """`aggregate` of well-formed texts."""
    letters = alphabet(mechanism)
    rows = np.array([list(map(int, text.split())) for text in texts], dtype=letters.dtype)
    return mechanism.aggregate(letters.shaped(rows) if texts else letters.nothing)


def same(found, expected):
    return found.users == expected.users and all(map(np.array_equal, found.arrays, expected.arrays))


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reports_of_every_kind_come_back_as_they_were_aggregated(name, ending, tmp_path):
    texts, raw = drawn(BUILT[name], 300)
    path = tmp_path / f"reports.{ending}"
    (write_csv if ending == "csv" else write_parquet)(path, [(text,) for text in texts], ["report"])
    found = collector.collect(path, BUILT[name], DESIGN)
    assert same(found.reports, BUILT[name].aggregate(raw))
    assert (found.refused, found.repeated, found.read[0].reports) == ({}, 0, 300)


MALFORMED = ["", " 1", "1 ", "1  2", "01", "+1", "1.0", "x", "-0", "1,2", "1\t2", "٣", "1e3", "1" * 400]
REASON = {
    "malformed": reasons.MALFORMED,
    "width": reasons.TOO_FEW_OR_MANY,
    "outside": reasons.OUTSIDE,
    "other": reasons.ANOTHER_DESIGN,
    "nameless": reasons.NO_ID,
}
kinds_of_rows = st.lists(
    st.tuples(
        st.sampled_from(["good"] * 6 + ["repeat"] * 2 + list(REASON)), st.integers(0, 40), st.sampled_from(MALFORMED)
    ),
    max_size=40,
)


def table(name, chosen):
    """Rows (report, design, id), and what should come of them: texts accepted, refused by reason, repeated."""
    texts, _ = drawn(BUILT[name], 41)
    rows, accepted, refused, repeated, used = [], [], Counter(), 0, {}
    for place, (kind, number, bad) in enumerate(chosen):
        text = texts[number]
        own = f"{place:032x}"
        if kind == "malformed":
            text = bad
        elif kind == "width":
            text += " 1"
        elif kind == "outside":
            numbers = text.split()
            text = " ".join([str(-7 - number), *numbers[1:]]) if number % 2 else " ".join([*numbers[:-1], "9" * 25])
        if kind == "repeat" and rows:
            own = rows[number % len(rows)][2]
        row = (text, OTHER if kind == "other" else DESIGN, "" if kind == "nameless" else own)
        rows.append(row)
        if row[1] == OTHER:
            refused[reasons.ANOTHER_DESIGN] += 1
        elif not row[2]:
            refused[reasons.NO_ID] += 1
        elif row[2] in used:
            repeated += used[row[2]] == text
            refused[reasons.ANOTHER_REPORT] += used[row[2]] != text
        elif kind in REASON:
            refused[REASON[kind]] += 1
        else:
            accepted.append(text)
        if row[1] == DESIGN and row[2]:
            used.setdefault(row[2], text)
    return rows, accepted, dict(+refused), repeated


@pytest.mark.promise
@pytest.mark.parametrize("name", ["number", "set", "hash"])
@settings(max_examples=8)
@given(chosen=kinds_of_rows)
def test_nothing_is_lost_or_counted_twice(name, chosen, tmp_path_factory):
    rows, accepted, refused, repeated = table(name, chosen)
    folder = tmp_path_factory.mktemp("rows")
    columns = ["report", "design", "id"]
    for path in (
        write_csv(folder / "a.csv", rows, columns, ";"),
        write_parquet(folder / "a.parquet", rows, columns, row_group_size=7),
    ):
        found = collector.collect(path, BUILT[name], DESIGN)
        assert same(found.reports, counted(BUILT[name], accepted))
        assert (found.refused, found.repeated) == (refused, repeated)
        assert found.read[0].reports == len(rows)


@settings(max_examples=6)
@given(chosen=kinds_of_rows, cut=st.integers(0, 40))
def test_ids_are_compared_across_the_files_of_a_call_and_of_a_state(chosen, cut, tmp_path_factory):
    rows, accepted, refused, repeated = table("number", chosen)
    folder, columns = tmp_path_factory.mktemp("files"), ["report", "design", "id"]
    one = write_csv(folder / "one.csv", rows[:cut], [*columns, "first"])
    other = write_parquet(folder / "other.parquet", rows[cut:], columns)
    state = folder / "state.npz"
    together = collector.collect([one, other], BUILT["number"], DESIGN)
    collector.collect(one, BUILT["number"], DESIGN, state=state)
    in_turn = collector.collect([one, other], BUILT["number"], DESIGN, state=state)
    for found in (together, in_turn, collector.Collection.load(state, BUILT["number"])):
        assert same(found.reports, counted(BUILT["number"], accepted))
        assert (found.refused, found.repeated) == (refused, repeated)
        assert [one.reports for one in found.read] == [len(rows[:cut]), len(rows[cut:])]


def test_the_first_row_of_a_long_text_file_has_the_id(tmp_path):
    """Rows of several readers at once are numbered in the order of the file."""
    rows = 300_000
    ids = [f"{i % 100_000:032x}" for i in range(rows)]
    reports = [0 if i < 100_000 else 1 + i % 4 for i in range(rows)]
    path = write_csv(tmp_path / "long.csv", zip(reports, ids, strict=True), ["report", "id"])
    assert path.stat().st_size > 10**7
    found = collector.collect(path, BUILT["number"], DESIGN)
    assert found.reports.data.tolist() == [100_000, 0, 0, 0, 0]
    assert found.refused == {reasons.ANOTHER_REPORT: 200_000}
    pq.write_table(pa.table({"report": reports, "id": ids}), tmp_path / "long.parquet", row_group_size=1000)
    assert collector.collect(tmp_path / "long.parquet", BUILT["number"], DESIGN).reports.data[0] == 100_000


@pytest.mark.parametrize("name", ["number", "set", "hash"])
@settings(max_examples=10)
@given(times=st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_counted_reports_are_the_same_as_repeated_rows(name, times, tmp_path_factory):
    folder, texts = tmp_path_factory.mktemp("counted"), drawn(BUILT[name], len(times))[0]
    path = write_csv(folder / "counted.csv", zip(texts, times, strict=True), ["report", "reports"])
    found = collector.collect(path, BUILT[name], DESIGN)
    assert found.users == sum(times) == found.read[0].reports
    parts = [counted(BUILT[name], [text]).arrays for text in texts]
    for k, array in enumerate(found.reports.arrays):
        assert np.array_equal(array, sum(n * part[k] for n, part in zip(times, parts, strict=True)))


def test_bad_counts_and_bad_reports_are_refused(tmp_path):
    rows = [("1", "10"), ("2", "-3"), ("3", "2.5"), ("4", ""), ("9", "7"), ("x", "5"), ("0", "9" * 20)]
    found = collector.collect(write_csv(tmp_path / "a.csv", rows, ["report", "reports"]), BUILT["number"], DESIGN)
    assert found.users == 10
    assert found.refused == {reasons.NO_NUMBER: 4, reasons.OUTSIDE: 7, reasons.MALFORMED: 5}


def test_whole_number_columns_and_uploads_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"Report": pa.array([0, 4, 4, None, 250], pa.uint8())}), path)
    found = collector.collect(("upload.parquet", path.read_bytes()), BUILT["number"], DESIGN)
    assert found.reports.data.tolist() == [1, 0, 0, 0, 2]
    assert found.refused == {reasons.MALFORMED: 1, reasons.OUTSIDE: 1}
    assert found.read[0].name == "upload.parquet"


BAD = {
    "empty": (b"", "is empty"),
    "no report": (b"value,id\n1,2\n", "no column report"),
    "counted ids": (b"report,reports,id\n1,2,3\n", "columns id and reports"),
    "more cells": (b"report,id\n1,aa\n2,bb,cc\n", "has 3 cells, and its header 2"),
    "open quote": (b'report,id\n1,"aa\n', "cannot be read to its end"),
    "not utf-8": (b"report,id\n1,\xff\xfe\n", "is not UTF-8"),
    "utf-16": ("report\n1\n".encode("utf-16"), "is UTF-16 text"),
    "gzip": (gzip.compress(b"report\n1\n"), "compressed with gzip: unpack it"),
    "zip": (b"PK\x03\x04 and more", "zip archive or an Excel file"),
    "binary": (b"report\n1\0\n", "binary data"),
    **{
        name: (f"report,{name}\n0,400\n1,300\n2,200\n3,100\n".encode(), "name it reports") for name in ("n", "COUNT(*)")
    },
    "counts in mixed lines": (b"report,people\r\n0,40\n1,30\r\n2,5\n3,1\n", "name it reports"),
    "rounded ids": (b"id,report\n" + b"1.23457E+31,1\n" * 200, "rounded by a spreadsheet"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_text_files_get_one_sentence_and_count_nothing(name, tmp_path):
    content, said = BAD[name]
    good, state = write_csv(tmp_path / "good.csv", [("1",)], ["report"]), tmp_path / "state.npz"
    sentence = refused(
        said, collector.collect, [good, ("bad.csv", content)], BUILT["number"], DESIGN, state=state, apart=True
    )
    assert '"bad.csv"' in sentence
    assert str(tmp_path) not in sentence
    assert collector.Collection.load(state, BUILT["number"]).users == 1


def test_columns_beside_single_reports_are_no_counts(tmp_path):
    """Of a few people by chance all reports differ, and of many with long reports always."""
    for name in BUILT:
        texts, _ = drawn(BUILT[name], 30)
        content = "report,wave\n" + "".join(f"{text},{1700000000 + i}\n" for i, text in enumerate(texts))
        assert collector.collect(("raw.csv", content.encode()), BUILT[name], DESIGN).users == 30
    for name in ("country", "discount", "note"):
        content = f"report,{name}\n0,1\n1,1\n2,1\n3,1\n".encode()
        assert collector.collect(("raw.csv", content), BUILT["number"], DESIGN).users == 4


IDS = {
    "uuid": [str(uuid.UUID(int=i * 7**40)) for i in range(100)],
    **{name: [str(1000 + i) for i in range(100)] for name in ("report_id", "userId", "_id", "Device ID", "ResponseId")},
    "nonce": [f"{i * 7**9:x}" for i in range(100)],
    "reference": [secrets.token_urlsafe(16) for _ in range(100)],
    "token of the row": [uuid.UUID(int=i * 7**40).bytes for i in range(100)],
}


@pytest.mark.parametrize("name", IDS)
def test_ids_under_another_name_are_asked_for(name, tmp_path):
    """Each report was sent twice; the values are those that databases and survey tools give."""
    rows = {"report": [str(i % 5) for i in range(100)] * 2, name: IDS[name] * 2}
    pq.write_table(pa.table(rows), tmp_path / "raw.parquet")
    write_csv(tmp_path / "raw.csv", zip(*rows.values(), strict=True), rows)
    mixed = (tmp_path / "raw.csv").read_bytes().replace(b"\r\n", b"\n", 50)
    files = [tmp_path / "raw.parquet"]
    files += [] if isinstance(IDS[name][0], bytes) else [tmp_path / "raw.csv", ("mixed.csv", mixed)]
    for file in files:
        refused(f'column "{name}" looks like ids', collector.collect, file, BUILT["number"], DESIGN)
    pq.write_table(pa.table({"report": rows["report"], "ID": map(str, rows[name])}), tmp_path / "named.parquet")
    named = collector.collect(tmp_path / "named.parquet", BUILT["number"], DESIGN)
    assert (named.users, named.repeated) == (100, 100)
    refused(f'column "{name}" looks like ids', collector.collect, files[0], BUILT["number"], DESIGN, named)


NO_IDS = {
    "store_id": ["12", "7"],
    "valid": ["yes", "no"],
    "at": [f"2026-11-28T03:{i % 60:02}:{i // 60:02}Z" for i in range(200)],
    "received": [f"20261128T03{i:04}Z" for i in range(200)],
    "ns": [str(1_764_300_000 * 10**9 + 7**7 * i) for i in range(200)],
    "note": [f"it was fine, thank you, number {i}" for i in range(200)],
    "row": list(map(str, range(200))),
    "score": [str(i / 7) for i in range(200)],
    "small": [str(i / 7e9) for i in range(200)],
    "build": ["3f0a9c1d2e4b5a69"],
}


@pytest.mark.parametrize("name", NO_IDS)
def test_other_columns_are_not_taken_for_ids(name, tmp_path):
    values = NO_IDS[name] * (200 // len(NO_IDS[name]))
    path = write_csv(tmp_path / "raw.csv", [(i % 5, value) for i, value in enumerate(values)], ["report", name])
    assert collector.collect(path, BUILT["number"], DESIGN).users == 200


def test_an_id_is_the_same_however_its_uuid_is_written(tmp_path):
    ids = [uuid.UUID(int=i * 7**40) for i in range(3)]
    report = pa.array(["1", "2", "3"])
    pq.write_table(
        pa.table({"report": report, "id": pa.array([i.bytes for i in ids], pa.uuid())}), tmp_path / "a.parquet"
    )
    pq.write_table(pa.table({"report": report, "id": [str(i) for i in ids]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"report": report, "id": [i.hex.upper() for i in ids]}), tmp_path / "c.parquet")
    found = collector.collect([tmp_path / f"{name}.parquet" for name in "bac"], BUILT["number"], DESIGN)
    assert (found.users, found.repeated) == (3, 6)


def test_bad_parquet_files_get_one_sentence(tmp_path):
    path = write_parquet(tmp_path / "whole.parquet", [("1",)] * 5000, ["report"])
    content = path.read_bytes()
    for bad in (content[: len(content) // 2], content[:-1], b"PAR1" + b"\0" * 100):
        refused("damaged or was cut off", collector.collect, ("half.parquet", bad), BUILT["number"], DESIGN)
    for column, values, said in (
        ("report", [1.5], "holds double"),
        ("id", [5], "texts or UUIDs"),
        ("design", [5], "where texts are needed"),
        ("reports", [0.5], "where whole numbers are"),
    ):
        pq.write_table(pa.table({"report": ["1"]} | {column: values}), tmp_path / "bad.parquet")
        refused(said, collector.collect, tmp_path / "bad.parquet", BUILT["number"], DESIGN)
    refused("no file", collector.collect, tmp_path / "absent.csv", BUILT["number"], DESIGN)
    refused("CSV", collector.collect, ("a.xlsx", b"report\n1\n"), BUILT["number"], DESIGN)


@pytest.mark.parametrize("name", ["../../x.csv", "a'b\n\0\u202e.csv", "x" * 500 + ".csv"])
def test_uploads_stay_in_their_folder_whatever_they_are_called(name):
    found = collector.collect((name, b"report\n1\n"), BUILT["number"], DESIGN)
    assert found.users == 1
    assert found.read[0].name.endswith(".csv")
    refused("CSV", collector.collect, ("..", b"report\n1\n"), BUILT["number"], DESIGN)


@pytest.mark.parametrize("name", BUILT)
def test_only_what_a_device_can_send_is_accepted(name):
    """Reports with one number altered are accepted where some of many devices has sent the same, and only there."""
    mechanism = BUILT[name]
    letters = alphabet(mechanism)
    raw = drawn(mechanism, 20_000, seed=1)[1].reshape(20_000, -1).astype(letters.dtype)
    assert letters.possible(raw).all()
    rng, tried = np.random.default_rng(2), raw[:2000].copy()
    if name == "hash":  # with too many reports for all of them to be sent
        tried[:, 1 + rng.integers(letters.width - 1)] = mechanism.buckets
        assert not letters.possible(tried).any()
        return
    column = rng.integers(letters.width, size=len(tried))
    tried[np.arange(len(tried)), column] = rng.integers(-1, raw.max() + 2, size=len(tried))
    sent = {tuple(row) for row in raw.tolist()}
    assert letters.possible(tried).tolist() == [tuple(row) in sent for row in tried.tolist()]


ENDS = {"lf": ["\n"], "crlf": ["\r\n"], "cr": ["\r"], "mixed": ["\r\n", "\n", "\r"], "late": ["\n"] * 9 + ["\r\n"]}


@pytest.mark.crossed
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("quoted", [False, True])
def test_lines_may_end_in_any_way(ends, quoted, tmp_path):
    """Also in several ways, and with line ends within cells that are quoted."""
    note = '"a\nb, ""c"""' if quoted else "plain"
    lines = ["note,report,id", *(f"{note},{i % 5},id{i % 7}" for i in range(20)), "x,9,y", ",,"]
    content = "".join(line + ENDS[ends][i % len(ENDS[ends])] for i, line in enumerate(lines)).encode()
    path = tmp_path / "reports.csv"
    path.write_bytes(content)
    for found in (
        collector.collect(path, BUILT["number"], DESIGN),
        collector.collect(("up.csv", content), BUILT["number"], DESIGN),
    ):
        assert found.reports.data.tolist() == [2, 2, 1, 1, 1]
        assert found.refused == {reasons.ANOTHER_REPORT: 13, reasons.OUTSIDE: 1, reasons.NO_ID: 1}


@pytest.mark.promise
@pytest.mark.crossed
@pytest.mark.parametrize("length", [1, 2, 5, 33, 64])
@pytest.mark.parametrize("rows", [2, 3000])
def test_ids_of_any_length_are_compared(length, rows, tmp_path, lower):
    """In several portions where they are many."""
    lower(HASHES=700)
    names = [f"{i:x}"[-length:].rjust(length, "0") for i in range(rows)]
    lines = [(name, str(int(name, 16) % 5)) for name in names]
    different = len(set(names))
    first = write_csv(tmp_path / "one.csv", lines, ["id", "report"])
    second = write_csv(tmp_path / "two.csv", [*lines, ("z" * length, "1")], ["id", "report"])
    for state in (None, tmp_path / "state.npz"):
        found = collector.collect(first, BUILT["number"], DESIGN, state=state)
        assert (found.users, found.repeated) == (different, rows - different)
        both = [second] if state else [first, second]
        found = collector.collect(both, BUILT["number"], DESIGN, state=state)
        assert (found.users, found.repeated) == (different + 1, 2 * rows - different)


def test_headers_of_any_length_and_of_several_lines_are_read():
    wide = ",".join(f"column {i}" for i in range(9000))
    assert len(wide) > 2**16
    cells = "," * 8999
    found = collector.collect(("a.csv", f"{wide},report\n{cells},2\n".encode()), BUILT["number"], DESIGN)
    assert found.reports.data.tolist() == [0, 0, 1, 0, 0]
    found = collector.collect(("b.csv", b'"no\nte",report\nx,2\ny,3\n'), BUILT["number"], DESIGN)
    assert found.reports.data.tolist() == [0, 0, 1, 1, 0]

"""Collections add up exactly, survive on disk, go on where they were stopped, and never hold a file twice."""

import contextlib
import hashlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_collect_files import BUILT, DESIGN, OTHER, counted, drawn, same, write_csv

from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection, Read, collection, private_folder, reading, reasons
from ldp_core.run import Interrupted
from tests.refused import refused

NAMES = ["number", "tree", "sets"]
ROOT = Path(collector.__file__).parents[3]


def shards(name, folder, sizes=(5, 0, 40)):
    texts = drawn(BUILT[name], sum(sizes))[0]
    ends = np.cumsum(sizes)
    parts = [texts[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return texts, [
        write_csv(folder / f"{i}.csv", [(text,) for text in part], ["report", *("x" * i)])
        for i, part in enumerate(parts)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_shards_add_up_to_the_whole_in_any_order(name, tmp_path):
    texts, paths = shards(name, tmp_path)
    one, two, three = (collector.collect(path, BUILT[name], DESIGN) for path in paths)
    whole = collector.collect(paths, BUILT[name], DESIGN)
    for sum_ in (one + two + three, three + (one + two), collector.collect(paths[1:], BUILT[name], DESIGN, one)):
        assert same(sum_.reports, whole.reports)
        assert same(sum_.reports, counted(BUILT[name], texts))
        assert {read.digest for read in sum_.read} == {read.digest for read in whole.read}


def test_a_file_twice_and_another_design_are_refused(tmp_path):
    _, paths = shards("number", tmp_path)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(paths[0].read_bytes())
    one, two, other = (
        collector.collect(p, BUILT["number"], d) for p, d in ((paths[0], DESIGN), (copy, DESIGN), (paths[2], OTHER))
    )
    for merge, match in (
        (lambda: one + two, "counted twice"),
        (lambda: collector.collect(copy, BUILT["number"], DESIGN, one), "counted twice"),
        (lambda: collector.collect([paths[0], copy], BUILT["number"], DESIGN), "counted twice"),
        (lambda: one + other, "of design"),
        (lambda: collector.collect(paths[2], BUILT["number"], OTHER, one), "of design"),
        (lambda: collector.collect(paths[2], BUILT["level"], DESIGN, one), "of design"),
    ):
        refused(match, merge)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_loads_again(name, tmp_path):
    _, paths = shards(name, tmp_path)
    whole = collector.collect(paths, BUILT[name], DESIGN)
    path = tmp_path / "collection.npz"
    whole.save(path)
    for found in (Collection.load(path, BUILT[name]), Collection.load(whole.to_bytes(), BUILT[name])):
        assert same(found.reports, whole.reports)
        assert (found.design, found.read, found.digest) == (whole.design, whole.read, whole.digest)
        assert isinstance(found.reports.data, tuple) == isinstance(whole.reports.data, tuple)
    refused("another mechanism", Collection.load, path, BUILT["level"])


def test_damaged_collections_are_refused_wherever_a_byte_is_altered(tmp_path):
    path = tmp_path / "collection.npz"
    rows = [(str(i % 5), f"{i:032x}") for i in range(20)]
    whole = collector.collect(write_csv(tmp_path / "a.csv", rows, ["report", "id"]), BUILT["number"], DESIGN)
    whole.save(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(len(content), size=200).tolist():
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with contextlib.suppress(ValueError):  # but for bytes that say nothing, such as times in the archive
            found = Collection.load(path, BUILT["number"])
            assert same(found.reports, whole.reports)
            assert (found.design, found.read) == (whole.design, whole.read)
            assert found.ids.equals(whole.ids)
    for cut in (0, 10, len(content) // 2):
        path.write_bytes(content[:cut])
        refused("damaged", Collection.load, path, BUILT["number"])


def test_collecting_goes_on_after_it_was_cancelled(tmp_path):
    texts, paths = shards("number", tmp_path, sizes=(50, 60, 70))
    state, cancel, shares = tmp_path / "state.npz", threading.Event(), []

    def progress(share):
        shares.append(share)
        if share >= paths[0].stat().st_size / sum(path.stat().st_size for path in paths):
            cancel.set()

    with pytest.raises(Interrupted):
        collector.collect(paths, BUILT["number"], DESIGN, progress=progress, cancel=cancel, state=state)
    assert Collection.load(state, BUILT["number"]).users == 50
    whole = collector.collect(paths, BUILT["number"], DESIGN, state=state, progress=shares.append)
    assert same(whole.reports, counted(BUILT["number"], texts))
    again = collector.collect(paths, BUILT["number"], DESIGN, state=state)
    assert same(again.reports, whole.reports)
    assert shares[-1] == 1.0
    assert not list(tmp_path.glob(".state*"))


def test_a_saved_collection_is_private_and_holds_no_id_and_no_report_of_anybody(tmp_path):
    """Equal reports of two people look different, so nothing links them to those who do not know the ids."""
    rows = [("1", "a" * 32), ("1", "b" * 32)]
    state = tmp_path / "state.npz"
    found = collector.collect(
        write_csv(tmp_path / "a.csv", rows, ["report", "id"]), BUILT["number"], DESIGN, state=state
    )
    assert state.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("state")] == ["state.npz"]
    assert b"aaaa" not in state.read_bytes()
    one, two = found.ids.to_pylist()
    digest = hashlib.sha256(f"{DESIGN} {'a' * 8}-aaaa-aaaa-aaaa-{'a' * 12}".encode()).digest()
    assert digest[:16] in (one[:16], two[:16])
    assert one[16:] != two[16:]


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """6,001 reports, and a file of 1,500 of them alone: 20 devices drew anew."""
    folder, rng = tmp_path_factory.mktemp("days"), np.random.default_rng(1)
    rows = [(str(report), f"{i:032x}") for i, report in enumerate(rng.integers(5, size=6001))]
    again = [(report, own) for report, own in rows[100:1580]] + [
        (str((int(report) + 1) % 5), own) for report, own in rows[:20]
    ]
    return [write_csv(folder / f"{i}.csv", day, ["report", "id"]) for i, day in enumerate((rows, again))]


def test_an_id_counts_once_over_several_days_however_a_collection_goes_on(days, tmp_path):
    """In one call, from a collection, from what it saved, and into a state, which is the same file."""
    saved, state = tmp_path / "saved.npz", tmp_path / "state.npz"
    first = collector.collect(days[0], BUILT["number"], DESIGN, state=state)
    first.save(saved)
    for found in (
        collector.collect(days, BUILT["number"], DESIGN),
        collector.collect(days[1], BUILT["number"], DESIGN, first),
        collector.collect(days[1], BUILT["number"], DESIGN, Collection.load(first.to_bytes(), BUILT["number"])),
        collector.collect(days[1], BUILT["number"], DESIGN, state=saved),
        collector.collect(days[1], BUILT["number"], DESIGN, Collection.load(state, BUILT["number"])),
        Collection.load(saved, BUILT["number"]),
    ):
        assert same(found.reports, first.reports)
        assert (found.users, found.repeated, found.refused) == (6001, 1480, {reasons.ANOTHER_REPORT: 20})
        assert len(found.ids) == 6001


def test_ids_in_two_collections_are_not_added_up(days):
    one, two = (collector.collect(day, BUILT["number"], DESIGN) for day in days)
    refused("1,500 ids of reports are in both", lambda: one + two)
    other = collector.collect(("c.csv", b"report,id\n1,new\n"), BUILT["number"], DESIGN)
    assert (one + other).users == 6002
    assert collector.collect(("d.csv", b"report,id\n1,new\n\n"), BUILT["number"], DESIGN, one + other).repeated == 1


def test_reports_with_ids_and_without_are_counted_together_once_somebody_says_that_nobody_is_in_both(tmp_path):
    made = {"with.csv": b"report,id\n1,a\n", "without.csv": b"report\n2\n", "none.csv": b"report\n"}
    one, two, none = (collector.collect(file, BUILT["number"], DESIGN) for file in made.items())
    assert (one + none).users == 1
    for before, other, file in ((one, two, "without.csv"), (two, one, "with.csv")):
        for mixed in (
            before.added,
            lambda _, before=before, file=file: collector.collect((file, made[file]), BUILT["number"], DESIGN, before),
        ):
            refused(r'"with\.csv" has ids and "without\.csv" has none', mixed, other)
        assert before.added(other, apart=True).users == 2
        assert collector.collect((file, made[file]), BUILT["number"], DESIGN, before, apart=True).users == 2


KILLED = """
import os, signal, sys
from ldp_core import mechanisms
from ldp_core.deploy import collector
built = mechanisms.create("randomized_response", n=5, epsilon=1.0)
for most in (0.05, 0.3, 0.5, 0.75, 0.95):
    if (child := os.fork()) == 0:
        die = lambda share: os.kill(os.getpid(), signal.SIGKILL) if share > most else None
        collector.collect(sys.argv[2:], built, "%s", progress=die, state=sys.argv[1])
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.promise
def test_a_collection_that_is_killed_goes_on_and_counts_everything_once(days, tmp_path, monkeypatch):
    """Wherever it is killed, and however often; the folders with people's ids that it left are removed."""
    state, lines = tmp_path / "state.npz", [line for day in days for line in day.read_text().splitlines()[1:]]
    files = [tmp_path / f"{i}.csv" for i in range(10)]
    for i, path in enumerate(files):
        path.write_text("\n".join(["report,id", *lines[i::10], ""]))
    home = tmp_path / "temporary"
    home.mkdir()
    command = [sys.executable, "-c", KILLED % DESIGN, str(state), *map(str, files)]
    environment = {**os.environ, "TMPDIR": str(home)}
    run = subprocess.run(command, cwd=ROOT, text=True, check=True, capture_output=True, env=environment)
    assert run.stdout.split() == ["9"] * 5  # each was killed
    assert list(home.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(home))
    found = collector.collect(files, BUILT["number"], DESIGN, state=state)
    assert not list(home.iterdir())
    assert same(found.reports, collector.collect(files, BUILT["number"], DESIGN).reports)
    assert (found.users, found.repeated + sum(found.refused.values())) == (6001, 1500)


def test_what_a_killed_run_left_half_written_is_removed_and_what_another_writes_is_not(tmp_path):
    place, left, locked = (tmp_path / name for name in ("a.csv", f".a.csv.{'0' * 16}.part", f".a.csv.{'1' * 16}.part"))
    left.write_bytes(b"half")
    with private_folder.held(locked):
        private_folder.replace(place, lambda file: file.write(b"whole"))
        assert (place.read_bytes(), left.exists(), locked.exists()) == (b"whole", False, True)


def test_bad_states_are_refused_before_anything_is_read(tmp_path):
    _, paths = shards("number", tmp_path)
    one, state = collector.collect(paths[0], BUILT["number"], DESIGN), tmp_path / "state.npz"
    refused("no folder", collector.collect, paths, BUILT["number"], DESIGN, state=tmp_path / "absent" / "state.npz")
    one.save(state)
    refused("holds a collection already", collector.collect, paths[2], BUILT["number"], DESIGN, one, state=state)


def forged(**changes):
    """A collection whose numbers were changed by an attacker who also rewrote the digest."""
    made = Collection(DESIGN, counted(BUILT["number"], ["1", "2"]), (Read("a.csv", 1, "ff", 2),))
    if changes.pop("twice", False):
        return replace(made, reports=made.reports + made.reports, read=made.read * 2)
    reports = {name: changes.pop(name) for name in ("users", "data") if name in changes}
    read = {name: changes.pop(name) for name in list(changes)}
    return replace(made, reports=replace(made.reports, **reports), read=(replace(made.read[0], **read),))


@pytest.mark.parametrize(
    "changes",
    [
        {"data": np.zeros(5)},
        {"data": (np.zeros(5, dtype=np.int64),)},
        {"users": 3},
        {"accepted": -2, "users": -2},
        {"refused": {"x": "many"}},
        {"data": np.array([-1, 1, 1, 1, 0])},
        {"data": np.array([2**62, 0, 0, 0, 0])},
        {"twice": True},
    ],
)
def test_forged_collections_are_refused_whatever_their_digest(changes):
    assert Collection.load(forged().to_bytes(), BUILT["number"]).users == 2
    refused("damaged", lambda: Collection.load(forged(**changes).to_bytes(), BUILT["number"]))


@pytest.mark.parametrize("name", forged()._about)
def test_forged_collections_that_lack_something_are_refused(name):
    made, content = forged(), io.BytesIO()
    about = {key: part for key, part in made._about.items() if key != name}
    about["digest"] = collection._digest(about, made._arrays, made.ids)
    np.savez(content, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **made._arrays)
    refused("damaged", lambda: Collection.load(content.getvalue(), BUILT["number"]))


def test_a_collection_that_unpacks_to_too_much_is_refused(lower):
    content = forged().to_bytes()
    lower(MOST_COLLECTION_BYTES=100)
    refused("damaged", Collection.load, content, BUILT["number"])


@pytest.mark.skipif(not collector.uploads_stay_in_memory(), reason="there is no shared memory")
def test_uploads_are_in_shared_memory_and_not_where_there_is_no_room(monkeypatch):
    places = []

    def look(*arguments, **options):
        places.append(options["dir"])
        return made(*arguments, **options)

    made = private_folder.tempfile.TemporaryDirectory
    monkeypatch.setattr(private_folder.tempfile, "TemporaryDirectory", look)
    before = set(Path("/dev/shm").iterdir())
    assert collector.collect(("a.csv", b"report\n1\n"), BUILT["number"], DESIGN).users == 1
    assert places == [Path("/dev/shm")]
    assert not [left for left in set(Path("/dev/shm").iterdir()) - before if "ldp-collector" in left.name]
    monkeypatch.setattr(reading.shutil, "disk_usage", lambda place: SimpleNamespace(free=10))
    refused("no room", collector.collect, ("a.csv", b"report\n1\n"), BUILT["number"], DESIGN)


COLLECTS = """
import sys
from ldp_core import mechanisms
from ldp_core.deploy import collector
built = mechanisms.create("randomized_response", n=5, epsilon=1.0)
sys.stdin.readline()
try:
    collector.collect(sys.argv[2:], built, "%s", state=sys.argv[1])
except ValueError as error:
    sys.exit(str(error))
"""


def collecting(state, paths, **options):
    command = [sys.executable, "-c", COLLECTS % DESIGN, str(state), *map(str, paths)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, **pipes, **options)


def test_of_two_collections_into_one_state_both_count_or_one_is_refused(tmp_path):
    """Whatever both say, the state holds the files of all that ended well."""
    lists = [
        [
            write_csv(tmp_path / f"{k}{i}.csv", [("1", f"{k}-{i}-{j}") for j in range(500)], ["report", "id"])
            for i in range(4)
        ]
        for k in "ab"
    ]
    state = tmp_path / "state.npz"
    both = [collecting(state, paths) for paths in lists]
    ended = [one.communicate("go\n")[1] for one in both]
    well = [one.returncode == 0 for one in both]
    assert any(well)
    assert all("is collecting into the state" in said for said, right in zip(ended, well, strict=True) if not right)
    assert Collection.load(state, BUILT["number"]).users == 2000 * sum(well)
    assert not list(tmp_path.glob(".state*"))


@pytest.mark.parametrize("room", [1000, 350_000])
def test_a_full_disk_is_a_sentence_and_the_state_stays(room, tmp_path):
    """A limit on the size of files stands for the disk: one that ids find, and one that the collection finds."""
    rows, state = [("1", f"{i:032x}") for i in range(20_000)], tmp_path / "state.npz"
    one, two = (write_csv(tmp_path / f"{n}.csv", rows[n : n + 15_000], ["report", "id"]) for n in (0, 15_000))
    collector.collect(one, BUILT["number"], DESIGN, state=state)
    before = state.read_bytes()

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    run = collecting(state, [two], preexec_fn=limited)
    said = run.communicate("go\n")[1]
    assert run.returncode == 1
    assert said.startswith("There is no room left on the disk")
    assert said.count("\n") <= 1
    assert state.read_bytes() == before
    assert not list(tmp_path.glob(".*.part"))


def test_a_state_has_one_lock_under_all_its_names(tmp_path):
    _, paths = shards("number", tmp_path)
    state, name = tmp_path / "state.npz", tmp_path / "name.npz"
    name.symlink_to(state)
    for held, asked in ((state, name), (state, state)):
        with (
            private_folder.held(collection.lock_of(held)),
            pytest.raises(ValueError, match="is collecting into the state"),
        ):
            collector.collect(paths[0], BUILT["number"], DESIGN, state=asked)
    collector.collect(paths[0], BUILT["number"], DESIGN, state=name)
    assert name.is_symlink()

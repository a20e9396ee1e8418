"""Collections add up exactly, survive on disk, go on where they were stopped, and never hold a file twice."""

import contextlib
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
from ldp_core.deploy.collector import Collection, Read, collection, private_folder, reading
from ldp_core.run import Interrupted

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
    one = collector.collect(paths[0], BUILT["number"], DESIGN)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(paths[0].read_bytes())
    with pytest.raises(ValueError, match="counted twice"):
        one + collector.collect(copy, BUILT["number"], DESIGN)
    with pytest.raises(ValueError, match="counted twice"):
        collector.collect(copy, BUILT["number"], DESIGN, one)
    with pytest.raises(ValueError, match="counted twice"):
        collector.collect([paths[0], copy], BUILT["number"], DESIGN)
    with pytest.raises(ValueError, match="different designs"):
        one + collector.collect(paths[2], BUILT["number"], OTHER)
    with pytest.raises(ValueError, match="of design"):
        collector.collect(paths[2], BUILT["number"], OTHER, one)
    with pytest.raises(ValueError, match="of design"):
        collector.collect(paths[2], BUILT["level"], DESIGN, one)


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
    with pytest.raises(ValueError, match="another mechanism"):
        Collection.load(path, BUILT["level"])


def test_damaged_collections_are_refused_wherever_a_byte_is_altered(tmp_path):
    path = tmp_path / "collection.npz"
    Collection(DESIGN, counted(BUILT["number"], ["1", "2"]), (Read("a.csv", 1, "ff", 2),)).save(path)
    content = path.read_bytes()
    whole, rng = Collection.load(path, BUILT["number"]), np.random.default_rng(0)
    for place in rng.integers(len(content), size=200).tolist():
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with contextlib.suppress(ValueError):  # but for bytes that say nothing, such as times in the archive
            found = Collection.load(path, BUILT["number"])
            assert same(found.reports, whole.reports)
            assert (found.design, found.read) == (whole.design, whole.read)
    for cut in (0, 10, len(content) // 2):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="damaged"):
            Collection.load(path, BUILT["number"])


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


def test_a_state_without_its_ids_is_refused(tmp_path):
    rows = [("1", "a" * 32), ("2", "b" * 32)]
    one, two = (write_csv(tmp_path / f"{i}.csv", rows[i:], ["report", "id"]) for i in range(2))
    state = tmp_path / "state.npz"
    collector.collect(one, BUILT["number"], DESIGN, state=state)
    kept = list((tmp_path / "state.npz.ids").iterdir())
    assert [path.suffix for path in kept] == [".parquet"]
    assert (tmp_path / "state.npz.ids").stat().st_mode & 0o077 == 0
    kept[0].unlink()
    with pytest.raises(ValueError, match="ids of earlier files"):
        collector.collect(two, BUILT["number"], DESIGN, state=state)


def test_damaged_ids_are_blamed_and_not_the_reports(tmp_path):
    rows = [("1", f"{i:032x}") for i in range(3000)]
    one, two = (write_csv(tmp_path / f"{i}.csv", rows[i:], ["report", "id"]) for i in range(2))
    state = tmp_path / "state.npz"
    collector.collect(one, BUILT["number"], DESIGN, state=state)
    (kept,) = (tmp_path / "state.npz.ids").iterdir()
    whole = kept.read_bytes()
    for damaged in (whole[:-20], b"", whole[:100] + b"\xff" * 2000 + whole[2100:]):
        kept.write_bytes(damaged)
        with pytest.raises(ValueError, match="ids of earlier files") as refused:
            collector.collect(two, BUILT["number"], DESIGN, state=state)
        assert "1.csv" not in str(refused.value)
        assert str(tmp_path) not in str(refused.value)


def test_bad_states_are_refused_before_anything_is_read(tmp_path):
    _, paths = shards("number", tmp_path)
    one, state = collector.collect(paths[0], BUILT["number"], DESIGN), tmp_path / "state.npz"
    with pytest.raises(ValueError, match="no folder"):
        collector.collect(paths, BUILT["number"], DESIGN, state=tmp_path / "absent" / "state.npz")
    one.save(state)
    with pytest.raises(ValueError, match="holds a collection already"):
        collector.collect(paths[2], BUILT["number"], DESIGN, one, state=state)


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
    with pytest.raises(ValueError, match="damaged"):
        Collection.load(forged(**changes).to_bytes(), BUILT["number"])


@pytest.mark.parametrize("name", forged()._about)
def test_forged_collections_that_lack_something_are_refused(name):
    made, content = forged(), io.BytesIO()
    about = {key: part for key, part in made._about.items() if key != name}
    about["digest"] = collection._digest(about, made._arrays)
    np.savez(content, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **made._arrays)
    with pytest.raises(ValueError, match="damaged"):
        Collection.load(content.getvalue(), BUILT["number"])


def test_a_collection_that_unpacks_to_too_much_is_refused(lower):
    content = forged().to_bytes()
    lower(MOST_COLLECTION_BYTES=100)
    with pytest.raises(ValueError, match="damaged"):
        Collection.load(content, BUILT["number"])


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
    with pytest.raises(ValueError, match="no room"):
        collector.collect(("a.csv", b"report\n1\n"), BUILT["number"], DESIGN)


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


def test_what_a_killed_collection_leaves_is_removed_by_the_next(tmp_path, monkeypatch):
    home = tmp_path / "temporary"
    home.mkdir()
    rows = [("1", f"{i:032x}") for i in range(60_000)]
    path = write_csv(tmp_path / "many.csv", rows, ["report", "id"])
    one = collecting(tmp_path / "state.npz", [path], env={**os.environ, "TMPDIR": str(home)})
    one.stdin.write("go\n")
    one.stdin.flush()
    while one.poll() is None and not list(home.glob("*/*")):
        pass
    one.kill()
    one.communicate()
    monkeypatch.setattr("tempfile.tempdir", str(home))
    collector.collect(write_csv(tmp_path / "few.csv", rows[:2], ["report", "id"]), BUILT["number"], DESIGN)
    assert not [left for left in home.glob("*") if list(left.iterdir())]


def test_a_full_disk_is_a_sentence_and_the_state_stays(tmp_path):
    """A limit on the size of files stands for the disk."""
    _, paths = shards("number", tmp_path)
    state = tmp_path / "state.npz"
    collector.collect(paths[0], BUILT["number"], DESIGN, state=state)
    before = state.read_bytes()
    rows = [("1", f"{i:032x}") for i in range(20_000)]
    large = write_csv(tmp_path / "large.csv", rows, ["report", "id"])

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    one = collecting(state, [large], preexec_fn=limited)
    said = one.communicate("go\n")[1]
    assert one.returncode == 1
    assert "Traceback" not in said
    assert said.count("\n") <= 1
    assert "disk" in said or "cannot be read" in said
    assert state.read_bytes() == before
    assert not list(tmp_path.glob("*.ids/*.part"))


def test_a_link_in_the_temporary_folder_leads_nowhere(tmp_path, monkeypatch):
    """Somebody else's folder is neither locked nor removed, whatever a link to it is called."""
    other, home = tmp_path / "other", tmp_path / "temporary"
    other.mkdir()
    home.mkdir()
    (other / "lock").write_text("theirs")
    (home / "ldp-collector-link").symlink_to(other)
    private_folder.remove_abandoned(home)
    assert (other / "lock").read_text() == "theirs"


def test_a_state_has_one_lock_under_all_its_names(tmp_path):
    _, paths = shards("number", tmp_path)
    state, name = tmp_path / "state.npz", tmp_path / "name.npz"
    collector.collect(paths[0], BUILT["number"], DESIGN, state=state)
    name.symlink_to(state)
    refused = []

    def meanwhile(share):
        with pytest.raises(ValueError, match="is collecting into the state"):
            collector.collect(paths[2], BUILT["number"], DESIGN, state=name)
        refused.append(share)

    collector.collect(paths[2], BUILT["number"], DESIGN, state=state, progress=meanwhile)
    assert refused
    assert name.is_symlink()

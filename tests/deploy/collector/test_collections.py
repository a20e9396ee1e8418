"""Collections add up exactly, survive on disk, go on where they were stopped, and never hold a file twice."""

import contextlib
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_collect_files import BUILT, DESIGN, OTHER, counted, drawn, same, write_csv

from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection, Read, reading
from ldp_core.run import Interrupted

NAMES = ["number", "tree", "sets"]


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
    found = Collection.load(path, BUILT[name])
    assert same(found.reports, whole.reports)
    assert (found.design, found.read) == (whole.design, whole.read)
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


def test_bad_states_are_refused_before_anything_is_read(tmp_path):
    _, paths = shards("number", tmp_path)
    one, state = collector.collect(paths[0], BUILT["number"], DESIGN), tmp_path / "state.npz"
    with pytest.raises(ValueError, match="no folder"):
        collector.collect(paths, BUILT["number"], DESIGN, state=tmp_path / "absent" / "state.npz")
    one.save(state)
    with pytest.raises(ValueError, match="holds a collection already"):
        collector.collect(paths[2], BUILT["number"], DESIGN, one, state=state)


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    rows = [("1", "a" * 32), ("x", "b" * 32), ("2", "a" * 32)]
    found = collector.collect(write_csv(tmp_path / "a.csv", rows, ["report", "id"]), BUILT["number"], DESIGN)
    assert (found.users, found.repeated) == (1, 1)
    assert not list((tmp_path / "own").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_collection_travels_as_bytes_and_its_digest_tells_it_apart(name, tmp_path):
    _, paths = shards(name, tmp_path)
    one, whole = collector.collect(paths[0], BUILT[name], DESIGN), collector.collect(paths, BUILT[name], DESIGN)
    found = Collection.load(whole.to_bytes(), BUILT[name])
    assert same(found.reports, whole.reports)
    assert found.digest == whole.digest != one.digest
    assert (one + collector.collect(paths[1:], BUILT[name], DESIGN)).digest == whole.digest


def forged(**changes):
    """A collection whose numbers were changed by somebody who wrote the digest anew."""
    made = Collection(DESIGN, counted(BUILT["number"], ["1", "2"]), (Read("a.csv", 1, "ff", 2),))
    reports = {name: changes.pop(name) for name in ("users", "data") if name in changes}
    read = {name: changes.pop(name) for name in list(changes)}
    return replace(made, reports=replace(made.reports, **reports), read=(replace(made.read[0], **read),))


@pytest.mark.parametrize(
    "changes",
    [
        {"data": np.zeros(4, dtype=np.int64)},
        {"data": np.zeros(5)},
        {"data": np.zeros((5, 1), dtype=np.int64)},
        {"data": (np.zeros(5, dtype=np.int64),)},
        {"users": 3},
        {"users": 2.0},
        {"accepted": -2, "users": -2},
        {"name": 5},
        {"digest": None},
        {"refused": {"x": "many"}},
    ],
)
def test_what_is_no_collection_of_the_design_is_refused_whatever_its_digest_says(changes):
    assert Collection.load(forged().to_bytes(), BUILT["number"]).users == 2
    with pytest.raises(ValueError, match="damaged"):
        Collection.load(forged(**changes).to_bytes(), BUILT["number"])


def test_a_collection_that_unpacks_to_too_much_is_refused(monkeypatch):
    content = forged().to_bytes()
    monkeypatch.setattr("ldp_core.deploy.collector.collection.MAX_BYTES", 100)
    with pytest.raises(ValueError, match="damaged"):
        Collection.load(content, BUILT["number"])


@pytest.mark.skipif(not collector.uploads_stay_in_memory(), reason="there is no shared memory")
def test_uploads_are_in_shared_memory_and_not_where_there_is_no_room(monkeypatch):
    places = []

    def look(*arguments, **options):
        places.append(options["dir"])
        return made(*arguments, **options)

    made = reading.tempfile.TemporaryDirectory
    monkeypatch.setattr(reading.tempfile, "TemporaryDirectory", look)
    before = set(Path("/dev/shm").iterdir())
    assert collector.collect(("a.csv", b"report\n1\n"), BUILT["number"], DESIGN).users == 1
    assert places == [Path("/dev/shm")]
    assert not [left for left in set(Path("/dev/shm").iterdir()) - before if "ldp-collector" in left.name]
    monkeypatch.setattr(reading.shutil, "disk_usage", lambda place: SimpleNamespace(free=10))
    with pytest.raises(ValueError, match="no room"):
        collector.collect(("a.csv", b"report\n1\n"), BUILT["number"], DESIGN)

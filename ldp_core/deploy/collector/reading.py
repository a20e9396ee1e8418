"""Files of reports to a collection: CSV and Parquet of any size, in flat memory.

The database finds all that follows from a row alone (its design, its id, a repeated id). It also
counts the reports if there are few different ones. The texts that are left come in batches and are
checked number by number. All classes of rows come from one query, so that every row is in exactly
one of them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from ldp_core.deploy.collector import files as look_at
from ldp_core.deploy.collector.alphabet import Alphabet, alphabet
from ldp_core.deploy.collector.collection import NO_IDS, Collection, Read, lock_of, together
from ldp_core.deploy.collector.engine import AGAIN, OWN, REFUSED, Engine, Progress
from ldp_core.deploy.collector.files import REPORTS
from ldp_core.deploy.collector.private_folder import NO_ROOM, Held, held, no_room, private_folder
from ldp_core.deploy.collector.reasons import NotRead, UnreadableReports
from ldp_core.deploy.collector.rows import Tally
from ldp_core.limits import MOST_COUNTED_USERS
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Cancel, cancellation
from ldp_core.wording import quoted

File = str | Path | tuple[str, bytes]
"""A path, or the name and the content of an upload."""

_SHARED = Path("/dev/shm")


def collect(
    files: File | Iterable[File],
    mechanism: Mechanism,
    design: str,
    collection: Collection | None = None,
    progress: Callable[[float], None] | None = None,
    cancel: Cancel | None = None,
    state: str | Path | None = None,
    apart: bool = False,
) -> Collection:
    """``collection`` (none: nothing) and the reports in ``files`` for ``design``, drawn by ``mechanism``.

    Files have a column "report": whole numbers separated by single spaces, or integers. A column
    "design" states the design of each report; rows of others are refused. A column "id" says
    which are the same: the first row of this design that has an id uses it up, in the order of rows
    and files, those of the ``collection`` included. Later ones with this id are repeats where they
    hold the same report, and refused where they hold another one. A column "reports" instead says
    how many times a report was sent, for those counted elsewhere.

    Parameters
    ----------
    progress
        Told how much is done, 0 to 1, also by a thread of its own.
    cancel
        Looked at between batches. It raises `ldp_core.run.Interrupted`.
    state
        A path. The collection is saved there each time that its ids have doubled, and at the end. It
        is found there when collecting goes on: files read before are passed over.
    apart
        True if files with ids and files without are known to share no people.

    Raises
    ------
    ValueError
        A file that is damaged, cut off, has other columns, or is there twice. Nothing of it is
        counted, and the message names it. Also for files with ids and files without that may share
        people, a state or a collection of another design, and reports with continuous noise.
    """
    letters, cancelled = alphabet(mechanism), cancellation(cancel)
    state = None if state is None else Path(state).expanduser().resolve()  # one lock, whatever it is called
    wanted: Sequence[File] = [files] if isinstance(files, (str, Path, tuple)) else list(files)
    with _only_one(state), private_folder(_place(wanted)) as home:
        if state is not None:
            collection = _resumed(state, mechanism, collection)
        collection = Collection.empty(mechanism, design) if collection is None else collection
        collection.check_design(design, mechanism.digest)
        before = {file_read.digest for file_read in collection.read} if state is not None else set()
        paths = [_written(file, home, number) for number, file in enumerate(wanted)]
        sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
        saved = collection
        try:
            for number, path in enumerate(paths):
                tell = _share_of(progress, sizes, number)
                engine = Engine(look_at.look(path), design, collection.ids, home, cancelled, tell)
                digest, mixed = look_at.digest(path, engine.check)
                if digest in before:
                    continue
                collection = _read(engine, mixed, letters, digest, collection, apart)
                tell(1.0)
                # Each time that they have doubled: else all ids would be written again for each file.
                if state is not None and len(collection.ids) >= 2 * len(saved.ids):
                    collection.save(state)
                    saved = collection
        finally:
            if state is not None and collection is not saved:
                collection.save(state)
        return collection


@contextmanager
def _only_one(state: Path | None) -> Iterator[None]:
    """Refuses a second collection into the same state, and reports a full disk in a sentence."""
    try:
        if state is None or not state.parent.is_dir():
            yield
            return
        with held(lock_of(state)):
            yield
    except Held:
        raise ValueError(
            f"Somebody else is collecting into the state {quoted(state)} just now: wait until they are done, and start again."
        ) from None
    except OSError as error:
        if not no_room(error):
            raise
        raise UnreadableReports(
            f"{NO_ROOM} The files collected before are in the state, where there is one."
        ) from error


def _resumed(state: Path, mechanism: Mechanism, collection: Collection | None) -> Collection | None:
    if not state.exists():
        if not state.parent.is_dir():
            raise ValueError(
                f"There is no folder {quoted(state.parent)} for the state: make it, or choose another path."
            )
        return collection
    if collection is not None:
        raise ValueError("The state file holds a collection already: give that one, or choose a new state file.")
    return Collection.load(state, mechanism)


def uploads_stay_in_memory() -> bool:
    """True if uploads are counted without being written to a disk: a database reads files, and these are in shared memory."""
    return _SHARED.is_dir() and os.access(_SHARED, os.W_OK)


def _place(files: Sequence[File]) -> Path | None:
    """The parent of the private folder; None for the usual place. ValueError where there is no room
    for what was uploaded."""
    uploaded = sum(len(file[1]) for file in files if isinstance(file, tuple))
    if not uploaded or not uploads_stay_in_memory():
        return None
    if 2 * uploaded > shutil.disk_usage(_SHARED).free:
        raise UnreadableReports(
            f"The server's shared memory, {_SHARED}, has no room for all of this at once: give fewer files at a time, or collect "
            "them with python -m ldp_core collect."
        )
    return _SHARED


def _written(file: File, folder: Path, number: int) -> Path:
    """The path of a file, of an upload in the private folder."""
    if not isinstance(file, tuple):
        return Path(file).expanduser().resolve()
    name, content = file
    safe = re.sub(r"[^\w .()-]", "_", Path(name).name).strip(".")[-100:]  # whatever a browser says
    path = folder / f"upload{number}" / (safe or "reports")
    path.parent.mkdir()
    path.write_bytes(content)
    return path


def _share_of(progress: Progress | None, sizes: Sequence[int], number: int) -> Progress:
    """Progress within one file as that of all; it never goes back."""
    total, begun, size = max(1, sum(sizes)), sum(sizes[:number]), sizes[number]
    largest = 0.0

    def tell(share: float) -> None:
        nonlocal largest
        if progress is not None and share > largest:
            largest = share
            progress((begun + share * size) / total)

    return tell


def _read(engine: Engine, mixed: bool, letters: Alphabet, digest: str, before: Collection, apart: bool) -> Collection:
    """See `_counted`. A slower reader takes texts that the database does not read, or says what is wrong with them."""
    source = engine.source
    try:
        if source.text is not None and (mixed or not source.text.one_line):
            raise NotRead
        return _counted(engine, letters, digest, before, apart)
    except NotRead:
        if source.text is None:
            raise
        engine.source = look_at.converted(source, engine.folder, engine.check)
    return _counted(engine, letters, digest, before, apart)


def _counted(engine: Engine, letters: Alphabet, digest: str, before: Collection, apart: bool) -> Collection:
    """The collection ``before``, and the reports of a file of this ``digest``."""
    source, tally, repeated = engine.source, Tally(letters, before.reports), 0
    again, ids = False, NO_IDS
    with engine.connected() as connection:
        if not source.ids and REPORTS not in source.columns:
            if (name := engine.like_ids(connection)) is not None:
                raise UnreadableReports(
                    f"The file {quoted(source.path.name)} has no column id, and its column {quoted(name)} looks like ids of reports. If it is, name it "
                    "id, so that a report sent twice counts once; if not, leave it out. No report in it was counted."
                )
            if letters.small and (name := engine.like_counts(connection, int(letters.mechanism.outcomes))) is not None:
                raise look_at.like_counts(source.path, name)
        before.check_new(source.path.name, digest, source.ids, apart)
        if source.ids:
            again, ids = engine.compare_ids(connection)
            if again and (rounded := engine.rounded(connection)):
                raise UnreadableReports(
                    f"Ids in {quoted(source.path.name)} such as {quoted(rounded)} look rounded by a spreadsheet, so that different ones became "
                    "the same: export the reports again with ids as text. No report in it was counted."
                )
            engine.phase = (0.5, 1.0)
        for statuses, texts, times in engine.rows(connection, again, letters):
            for status, reason in REFUSED.items():
                tally.refused[reason] += int(times[statuses == status].sum())
            repeated += int(times[statuses == AGAIN].sum())
            accepted = statuses == OWN
            tally.add(texts.filter(pa.array(accepted)), times[accepted])
    if look_at.now(source.path) != source.version:
        raise UnreadableReports(
            f"The file {quoted(source.path.name)} changed while it was read: collect it again. No report in it was counted."
        )
    if tally.reports.users > MOST_COUNTED_USERS:
        raise UnreadableReports(
            f"The file {quoted(source.path.name)} brings the collection to more than 2^53 reports: check its column reports."
        )
    refused = {reason: number for reason, number in tally.refused.items() if number}
    new = tally.reports.users - before.users, refused, repeated
    read = Read(source.path.name, source.version[0], digest, *new, source.ids)
    return Collection(engine.design, tally.reports, (*before.read, read), together(before.ids, ids))

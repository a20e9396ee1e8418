"""Files of reports to a collection: CSV and Parquet of any size, in flat memory.

The database finds all that follows from a row alone (its design, its id, a repeated id). It also
counts the reports if there are few different ones. The texts that are left come in batches and are
checked number by number. All classes of rows come from one query, so that every row is in exactly
one of them.
"""

from __future__ import annotations

import errno
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from ldp_core.data.reading.duck import literal
from ldp_core.deploy.collector import files as look_at
from ldp_core.deploy.collector.alphabet import Alphabet, alphabet
from ldp_core.deploy.collector.collection import Collection, Read, ids_of, lock_of
from ldp_core.deploy.collector.engine import Engine, Progress
from ldp_core.deploy.collector.files import DESIGN, REPORT, REPORTS, Source
from ldp_core.deploy.collector.private_folder import Held, held, private_folder
from ldp_core.deploy.collector.reasons import ANOTHER_DESIGN, NO_ID, NO_NUMBER, NotRead, UnreadableReports
from ldp_core.deploy.collector.rows import Tally, longest
from ldp_core.limits import MOST_COUNTED_USERS
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Cancel, asked
from ldp_core.wording import quoted

File = str | Path | tuple[str, bytes]
"""A path, or the name and the content of an upload."""

_SHARED = Path("/dev/shm")
_NUMBERS_AT_ONCE = 2**22
_FEWEST = 2**8
_ROWS_AT_ONCE = 2**20
_OWN, _ANOTHER, _NAMELESS, _AGAIN, _UNCOUNTED = range(5)
_SURPRISING = 0.2
"""Chance below which single reports are not taken to differ from each other by accident."""
_KINDS = {"text": "texts", "uuid": "UUIDs"}
_REFUSED = {_ANOTHER: ANOTHER_DESIGN, _NAMELESS: NO_ID, _UNCOUNTED: NO_NUMBER}


def collect(
    files: File | Iterable[File],
    mechanism: Mechanism,
    design: str,
    collection: Collection | None = None,
    progress: Callable[[float], None] | None = None,
    cancel: Cancel | None = None,
    state: str | Path | None = None,
) -> Collection:
    """``collection`` (none: nothing) and the reports in ``files`` for ``design``, drawn by ``mechanism``.

    Files have a column ``report``: whole numbers separated by single spaces, or integers. A column
    ``design`` states the design of each report; rows of others are refused. A column ``id`` says
    which are the same: the first row of this design that has an id
    uses it up, in the order of rows and files, and later ones are repeats, whatever they report. A column ``reports``
    instead says how many times a report was sent, for those counted elsewhere.

    Args:
        progress: told how much is done, 0 to 1, also by a thread of its own.
        cancel: looked at between batches. It raises `ldp_core.run.Interrupted`.
        state: a path. The collection is saved there after each file, and found there when
        collecting goes on: files read before are passed over. The ids are kept beside it, in a
        folder whose name ends in ``.ids``, and compared with
            those of all later files. Without a state they are compared within the files of one call.

    Raises:
        ValueError: a file that is damaged, cut off, has other columns, or is there twice: nothing of it is counted, and the message
            names it; a state or a collection of another design; reports with continuous noise.
    """
    letters, cancelled = alphabet(mechanism), asked(cancel)
    state = None if state is None else Path(state).expanduser().resolve()  # one lock, whatever it is called
    wanted: Sequence[File] = [files] if isinstance(files, (str, Path, tuple)) else list(files)
    with _only_one(state), private_folder(_place(wanted)) as home:
        store = home / "ids"
        if state is not None:
            store = ids_of(state)
            collection = _resumed(state, mechanism, collection)
        collection = Collection.empty(mechanism, design) if collection is None else collection
        _check_design(collection, mechanism, design)
        before = {file_read.digest for file_read in collection.read} if state is not None else set()
        paths = [_written(file, home, number) for number, file in enumerate(wanted)]
        sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
        for number, path in enumerate(paths):
            source, tell = look_at.look(path), _share_of(progress, sizes, number)
            check = Engine(source, (), home, cancelled, tell).check
            digest, mixed = look_at.digest(path, check)
            if digest in before:
                continue
            _check_new(path, digest, collection.read)
            earlier = _earlier(source, collection.read, store, state is not None)
            kept = store if state is not None or number + 1 < len(paths) else None

            def counted(source: Source, earlier: list[Path] = earlier, tell: Progress = tell) -> _File:
                return _File(source, letters, design, Engine(source, earlier, home, cancelled, tell))

            slow = source.text is not None and (mixed or not source.text.one_line)
            try:
                counts = None if slow else counted(source).read(digest, kept)
            except NotRead:  # a slower reader may, and else says what is wrong
                if source.text is None:
                    raise
                counts = None
            if counts is None:
                counts = counted(look_at.converted(source, home, check)).read(digest, kept)
            collection = collection + counts
            tell(1.0)
            if collection.users > MOST_COUNTED_USERS:
                raise UnreadableReports(
                    f"The file {quoted(path.name)} brings the collection to more than 2^53 reports: check its column reports."
                )
            if state is not None:
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
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise UnreadableReports(
            "There is no room left on the disk: free some and start again. The files collected before are in the state, where there is one."
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


def _check_design(collection: Collection, mechanism: Mechanism, design: str) -> None:
    if collection.design != design or collection.reports.mechanism_digest != mechanism.digest:
        raise ValueError(
            f"The collection so far is of design {quoted(collection.design)} and these reports are to be of {quoted(design)}: only reports "
            "of one design can be added up."
        )


def _check_new(path: Path, digest: str, read: Sequence[Read]) -> None:
    twice = next((file.name for file in read if file.digest == digest), None)
    if twice is not None:
        raise UnreadableReports(
            f"The file {quoted(path.name)} has been collected before, as {quoted(twice)}: its reports would be counted twice."
        )


def _earlier(source: Source, read: Sequence[Read], store: Path, complete: bool) -> list[Path]:
    """Files with the ids of earlier reports that those of ``source`` are compared with; of all of them where ``complete``."""
    if not source.ids:
        return []
    with_ids = [file for file in read if file.ids]
    paths = [path for file in with_ids if (path := store / f"{file.digest}.parquet").is_file()]
    if complete and len(paths) < len(with_ids):
        raise UnreadableReports(
            f"The ids of earlier files are not in the folder {quoted(store.name)} beside the state, so repeated reports could not be "
            "found: put it back, or collect into a new state."
        )
    if paths and any(file.ids != source.ids for file in with_ids):
        raise UnreadableReports(
            f"The ids in {quoted(source.path.name)} are stored as {_KINDS[source.ids]}, those of earlier files are not: export all in "
            "one way, or repeated reports could not be found."
        )
    return paths


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
    told = 0.0

    def tell(share: float) -> None:
        nonlocal told
        if progress is not None and share > told:
            told = share
            progress((begun + share * size) / total)

    return tell


def _all_differ(rows: int, outcomes: int) -> float:
    """The largest chance that as many single reports all differ; 0 where they are all there are, or more."""
    return (
        0.0
        if rows >= outcomes
        else math.exp(math.lgamma(outcomes + 1) - math.lgamma(outcomes - rows + 1) - rows * math.log(outcomes))
    )


class _File:
    """One file of reports while it is read."""

    def __init__(self, source: Source, letters: Alphabet, design: str, engine: Engine):
        self.path, self.letters, self.design, self.engine, self.source = source.path, letters, design, engine, source

    def read(self, digest: str, store: Path | None) -> Collection:
        """The reports of this file alone; their ids are kept in the folder ``store``."""
        tally, repeated = Tally(self.letters, self.letters.mechanism.aggregate(self.letters.nothing)), 0
        with self.engine.connected() as connection:
            again = bool(self.source.ids) and self.engine.find_repeated(connection, self._usable)
            if again and self.source.ids == "text" and (rounded := self.engine.rounded(connection)):
                raise UnreadableReports(
                    f"Ids in {quoted(self.path.name)} such as {quoted(rounded)} look rounded by a spreadsheet, so that different ones became "
                    "the same: export the reports again with ids as text. No report in it was counted."
                )
            few = self.letters.few and self.source.rows <= 2 * self.letters.outcomes
            if few and not self.source.ids and REPORTS not in self.source.columns:
                found = self.engine.like_counts(connection)
                if found is not None and _all_differ(found[1], int(self.letters.outcomes)) < _SURPRISING:
                    raise look_at.like_counts(self.path, found[0])
            if self.source.ids and store is not None:
                self.engine.keep_ids(connection, self._usable)
            self.engine.phase = (0.5, 1.0) if self.source.ids else (0.0, 1.0)
            for statuses, texts, times in self._rows(connection, again):
                for status, reason in _REFUSED.items():
                    tally.refused[reason] += int(times[statuses == status].sum())
                repeated += int(times[statuses == _AGAIN].sum())
                own = statuses == _OWN
                tally.add(texts.filter(pa.array(own)), times[own])
        if look_at.now(self.path) != self.source.version:
            raise UnreadableReports(
                f"The file {quoted(self.path.name)} changed while it was read: collect it again. No report in it was counted."
            )
        if self.source.ids and store is not None:
            store.mkdir(mode=0o700, exist_ok=True)
            moved = store / f"{digest}.parquet"
            try:
                shutil.copyfile(self.engine.written, moved.with_suffix(".part"))
                os.replace(moved.with_suffix(".part"), moved)
            finally:
                moved.with_suffix(".part").unlink(missing_ok=True)
            self.engine.written.unlink()
        refused = {reason: number for reason, number in tally.refused.items() if number}
        size, accepted = self.source.version[0], tally.reports.users
        read = Read(self.path.name, size, digest, accepted, refused, repeated, self.source.ids)
        return Collection(self.design, tally.reports, (read,))

    def _rows(
        self, connection: duckdb.DuckDBPyConnection, again: bool
    ) -> Iterator[tuple[np.ndarray, pa.StringArray, np.ndarray]]:
        """Batches (status, text, times): all rows of the file, each once or together with others that are equal."""
        sql = self._sql(again)
        if self.letters.few and REPORTS not in self.source.columns:
            sql = f"SELECT status, text, CAST(sum(times) AS BIGINT) AS times FROM ({sql}) GROUP BY ALL"
        sql = f"SELECT status, CAST(text AS VARCHAR) AS text, times FROM ({sql})"
        rows = min(max(_NUMBERS_AT_ONCE // self.letters.width, _FEWEST), _ROWS_AT_ONCE)
        for batch in connection.sql(sql).to_arrow_reader(rows):
            self.engine.check()
            status, text, times = batch.columns
            yield status.to_numpy(), text.cast(pa.string()), times.to_numpy()

    @property
    def _own(self) -> str:
        """True if a row is of this design, as SQL."""
        return f"coalesce(design = {literal(self.design)}, false)" if DESIGN in self.source.columns else "true"

    @property
    def _named(self) -> str:
        """True if a row has an id."""
        return {"": "true", "uuid": "(id IS NOT NULL)", "text": "coalesce(id <> '', false)"}[self.source.ids]

    @property
    def _usable(self) -> str:
        return f"({self._own} AND {self._named})"

    @property
    def _times(self) -> str:
        """How many reports a row stands for; NULL where that is no whole number."""
        if REPORTS not in self.source.columns:
            return "CAST(1 AS BIGINT)"
        text = "CAST(reports AS VARCHAR)"
        return f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,15}}') THEN CAST({text} AS BIGINT) END"

    def _sql(self, again: bool) -> str:
        """All rows as (status, text, times)."""
        repeated, table = "false", self.source.query()
        if again:
            repeated = "coalesce(kept <> number, false)"
            table = f"(SELECT f.*, t.number AS kept FROM {self.source.query(numbered=True)} AS f LEFT JOIN twice AS t ON f.id = t.id)"
        # texts longer than any report are dropped
        text = (
            REPORT
            if self.source.whole_numbers
            else f"CASE WHEN strlen(report) <= {longest(self.letters)} THEN report END"
        )
        cases = f"WHEN NOT {self._own} THEN {_ANOTHER} WHEN NOT {self._named} THEN {_NAMELESS} WHEN {repeated} THEN {_AGAIN}"
        status = f"CASE {cases} WHEN {self._times} IS NULL THEN {_UNCOUNTED} ELSE {_OWN} END"
        return (
            f"SELECT status, CASE WHEN status = {_OWN} THEN text END AS text, times FROM "
            f"(SELECT {status} AS status, {text} AS text, coalesce({self._times}, 1) AS times FROM {table})"
        )

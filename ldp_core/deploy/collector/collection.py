"""A collection: the reports counted so far, and the files that they came from."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Annotated, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, TypeAdapter

from ldp_core.bounds.verify import DAMAGED
from ldp_core.deploy.collector.alphabet import alphabet
from ldp_core.deploy.collector.private_folder import replace
from ldp_core.limits import MOST_COLLECTION_BYTES
from ldp_core.mechanisms.base import Mechanism, Reports
from ldp_core.mechanisms.strata import InStrata
from ldp_core.wording import plural, quoted

FORMAT = "ldp-collection/2"
ID_BYTES = 16
MARK = pa.binary(ID_BYTES + 4)
"""A collection keeps of each report with an id the beginnings of two SHA-256 digests: of design and id, and of design, id and report.
The second shows whether a report that comes again is the same. It means nothing to those who do not know the id."""
NO_IDS = pa.chunked_array([], MARK)
_IDS = "ids"
Count = Annotated[int, Field(ge=0)]
_ERRORS = (*DAMAGED, OSError, ValueError, zlib.error)
_EXAMPLES = 64
_ROOM = 4
"""Reports looked at to see how large a number one can add, and how much larger than that it may be."""
_DAMAGED = "This file is no collection of this version, or it is damaged: collect its files again."


@dataclass(frozen=True)
class Read:
    """A file that was read to its end: ``accepted`` + the ``refused`` + ``repeated`` are the reports that it holds.

    Attributes:
        name: of the file, without its folder. size: bytes. digest: SHA-256 (hex) of its bytes.
        accepted: reports counted. refused: how many were not, by reason (one of `REASONS`).
        repeated: reports that an earlier row holds, with the same id.
        ids: whether there is a column of ids.
    """

    name: str
    size: Count
    digest: str
    accepted: Count
    refused: dict[str, Count] = field(default_factory=dict)
    repeated: Count = 0
    ids: bool = False

    @property
    def reports(self) -> int:
        """All that the file holds."""
        return self.accepted + sum(self.refused.values()) + self.repeated


@dataclass(frozen=True)
class _About:
    """The text of a saved collection, about the arrays beside it."""

    format: Literal["ldp-collection/2"]
    design: str
    mechanism: str
    users: Count
    several: bool
    read: list[Read]


@dataclass(frozen=True)
class Collection:
    """The ``reports`` of one ``design``, counted, the files ``read`` that they come from, and a `MARK` for each of the ``ids`` in these."""

    design: str
    reports: Reports
    read: tuple[Read, ...] = ()
    ids: pa.ChunkedArray = field(default_factory=lambda: NO_IDS)

    @classmethod
    def empty(cls, mechanism: Mechanism, design: str) -> Collection:
        """A collection without reports. ValueError for a mechanism whose reports are not whole
        numbers."""
        return cls(design, mechanism.aggregate(alphabet(mechanism).nothing))

    @property
    def users(self) -> int:
        """Reports accepted."""
        return self.reports.users

    @property
    def repeated(self) -> int:
        """Reports dropped because of their id."""
        return sum(file.repeated for file in self.read)

    @property
    def refused(self) -> dict[str, int]:
        """Reports refused, by reason."""
        return dict(sum((Counter(file.refused) for file in self.read), Counter[str]()))

    def added(self, other: Collection, apart: bool = False) -> Collection:
        """Both collections together, exactly.

        Parameters
        ----------
        other : Collection
            Of the same design.
        apart : bool
            True if the two are known to share no people. One may then have ids and the other none.

        Raises
        ------
        ValueError
            For another design, a file or an id that is part of both, and where one has ids alone.
        """
        self.check_design(other.design, other.reports.mechanism_digest)
        for file in other.read:
            self.check_new(file.name, file.digest, file.ids, apart or not file.accepted)
        known, new = (pc.binary_slice(part.ids, 0, ID_BYTES) for part in (self, other))
        if both := pc.sum(pc.is_in(new, known.combine_chunks())).as_py():
            raise ValueError(
                f"{plural(both, 'id')} of reports {'is' if both == 1 else 'are'} in both collections, so these reports would be counted twice: "
                "open one of the two, and count the files of the other again."
            )
        return Collection(
            self.design, self.reports + other.reports, self.read + other.read, together(self.ids, other.ids)
        )

    __add__ = added

    def check_design(self, design: str, mechanism: str) -> None:
        """ValueError for another design, or a mechanism of another digest."""
        if (self.design, self.reports.mechanism_digest) != (design, mechanism):
            raise ValueError(
                f"The collection so far is of design {quoted(self.design)} and these reports are of {quoted(design)}: only reports of one design "
                "can be added up."
            )

    def check_new(self, name: str, digest: str, ids: bool, apart: bool) -> None:
        """ValueError where the file ``name`` has been counted before, or reports of it with ``ids`` and earlier ones without, or the other
        way round, could be of the same people."""
        for file in self.read:
            if file.digest == digest:
                raise ValueError(
                    f"The file {quoted(name)} has been collected before, as {quoted(file.name)}: its reports would be counted twice."
                )
            if file.accepted and file.ids != ids and not apart:
                one, other = (name, file.name) if ids else (file.name, name)
                raise ValueError(
                    f"The file {quoted(one)} has ids and {quoted(other)} has none, so people in both would be counted twice: give ids for all reports, "
                    "or confirm that the files share no people (a box on the Collect page, --apart on the command line)."
                )

    def __repr__(self) -> str:
        refused = sum(self.refused.values())
        return (
            f"<Collection: {self.users:,} reports of design {self.design} from {len(self.read):,} files, {refused:,} refused, "
            f"{self.repeated:,} repeated>"
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all that the collection holds."""
        return _digest(self._about, self._arrays, self.ids)

    @property
    def _about(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "design": self.design,
            "mechanism": self.reports.mechanism_digest,
            "users": self.reports.users,
            "several": isinstance(self.reports.data, tuple),
            "read": [asdict(file) for file in self.read],
        }

    @property
    def _arrays(self) -> dict[str, np.ndarray]:
        return {f"data{i}": array for i, array in enumerate(self.reports.arrays)}

    def to_bytes(self) -> bytes:
        """What `load` reads."""
        written = io.BytesIO()
        self._write(written)
        return written.getvalue()

    def save(self, path: str | Path) -> None:
        """Write to ``path`` so that it holds the whole collection or what it held before, whatever happens meanwhile."""
        replace(Path(path), self._write)

    def _write(self, file: IO[bytes]) -> None:
        about = {**self._about, "digest": self.digest}
        # Text as an array of bytes: nothing has to be pickled.
        np.savez_compressed(
            file, allow_pickle=False, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **self._arrays
        )
        # Digests are as they are, so that a large file need not be unpacked to be compared with.
        with zipfile.ZipFile(file, "a") as archive, archive.open(_IDS, "w", force_zip64=True) as member:
            for part in self.ids.chunks:
                member.write(part.buffers()[1])

    @classmethod
    def load(cls, place: str | Path | bytes, mechanism: Mechanism) -> Collection:
        """What `save` wrote, by its path, or what `to_bytes` gave. ValueError for a damaged file, and for reports of another
        mechanism."""
        try:
            content = pa.py_buffer(place) if isinstance(place, bytes) else pa.memory_map(str(place)).read_buffer()
            with zipfile.ZipFile(pa.BufferReader(content)) as archive:
                sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
                if sum(sizes.values()) - sizes.get(_IDS, 0) > MOST_COLLECTION_BYTES:
                    raise ValueError(_DAMAGED)
                ids = _stored(content, archive.getinfo(_IDS))
            with np.load(pa.BufferReader(content), allow_pickle=False) as members:
                text = members["about"].tobytes()
                data = tuple(members[name] for name in members.files if name not in ("about", _IDS))
            about, document = TypeAdapter(_About).validate_json(text, strict=True), json.loads(text)
            arrays = {f"data{i}": array for i, array in enumerate(data)}
            if document.pop("digest") != _digest(document, arrays, ids):
                raise ValueError(_DAMAGED)
        except FileNotFoundError:
            raise
        except _ERRORS as error:
            raise ValueError(_DAMAGED) from error
        if about.mechanism != mechanism.digest:
            raise ValueError("This collection is of another mechanism, or of the same one with other parameters.")
        reports = Reports(about.mechanism, about.users, data if about.several else data[0])
        collection = cls(about.design, reports, tuple(about.read), ids)
        if not (collection._fits(cls.empty(mechanism, collection.design)) and collection._possible(mechanism)):
            raise ValueError(_DAMAGED)
        return collection

    def _fits(self, empty: Collection) -> bool:
        """True if it can be a collection of the same design as an ``empty`` one: an attacker who
        changes a file can change its digest."""
        kinds = [[(array.shape, array.dtype.kind) for array in part.reports.arrays] for part in (self, empty)]
        return (
            kinds[0] == kinds[1]
            and isinstance(self.reports.data, tuple) == isinstance(empty.reports.data, tuple)
            and self.users == sum(part.accepted for part in self.read)
            and len(self.ids) >= sum(part.accepted for part in self.read if part.ids)
            and len({part.digest for part in self.read}) == len(self.read)
        )

    def _possible(self, mechanism: Mechanism) -> bool:
        """True if this number of reports can add up to these numbers, judged by single reports."""
        people = alphabet(mechanism).some(_EXAMPLES)
        if isinstance(mechanism, InStrata):  # each group on its own: an example is about one of them
            parts = zip(mechanism.strata, mechanism.reports_of(self.reports), strict=True)
            return all(Collection("", part)._possible(made) for made, part in parts)
        for place, array in enumerate(self.reports.arrays):
            if not array.size or array.dtype.kind not in "iuf":
                continue
            each = [mechanism.aggregate(people[i : i + 1]).arrays[place] for i in range(len(people))]
            least, most = min(entry.min() for entry in each), max(entry.max() for entry in each)
            room = 1 if least >= 0 and most <= 1 else _ROOM  # counts of people
            if (
                array.min() < room * min(0, int(least)) * self.users
                or array.max() > room * max(1, int(most)) * self.users
            ):
                return False
        return True


def marks(content: pa.Buffer) -> pa.ChunkedArray:
    """The `MARK` after `MARK` in some bytes, where they lie."""
    return pa.chunked_array([pa.Array.from_buffers(MARK, content.size // MARK.byte_width, [None, content])])


def together(*some: pa.ChunkedArray) -> pa.ChunkedArray:
    """The marks of several files, one after the other."""
    return pa.chunked_array([chunk for array in some for chunk in array.chunks], MARK)


def _stored(content: pa.Buffer, entry: zipfile.ZipInfo) -> pa.ChunkedArray:
    """The marks in an ``entry`` of a zip archive of this ``content``, where they lie: they are not compressed."""
    begin = entry.header_offset + 30
    lengths = content[begin - 4 : begin].to_pybytes()  # of the name, and of what follows it
    begin += int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    return marks(content[begin : begin + entry.file_size])


def _digest(about: Mapping[str, object], arrays: Mapping[str, np.ndarray], ids: pa.ChunkedArray) -> str:
    hasher = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, array in arrays.items():
        hasher.update(f"{name} {array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    for part in ids.chunks:
        hasher.update(part.buffers()[1])
    return hasher.hexdigest()


def lock_of(state: Path) -> Path:
    """The file that is there while somebody collects into a ``state``."""
    return state.with_name(f".{state.name}.lock")

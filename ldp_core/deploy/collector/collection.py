"""A collection: the reports counted so far, and the files that they came from."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter

from ldp_core.bounds.verify import DAMAGED
from ldp_core.deploy.collector.alphabet import alphabet
from ldp_core.limits import MOST_COLLECTION_BYTES
from ldp_core.mechanisms.base import Mechanism, Reports
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.wording import quoted

FORMAT = "ldp-collection/1"
Count = Annotated[int, Field(ge=0)]
_ERRORS = (*DAMAGED, OSError, ValueError, zlib.error)
_EXAMPLES = 64
_ROOM = 4
"""Reports looked at to see how large a number one can add, and how much larger than that it may be."""
_DAMAGED = "This file is no collection, or it is damaged: collect its files again."


@dataclass(frozen=True)
class Read:
    """A file that was read to its end: ``accepted`` + the ``refused`` + ``repeated`` are the reports that it holds.

    Attributes:
        name: of the file, without its folder. size: bytes. digest: SHA-256 (hex) of its bytes.
        accepted: reports counted. refused: how many were not, by reason (one of `REASONS`).
        repeated: reports with an id that an earlier row had.
        ids: "text" or "uuid" where every report had an id to be known by, else "".
    """

    name: str
    size: Count
    digest: str
    accepted: Count
    refused: dict[str, Count] = field(default_factory=dict)
    repeated: Count = 0
    ids: str = ""

    @property
    def reports(self) -> int:
        """All that the file holds."""
        return self.accepted + sum(self.refused.values()) + self.repeated


@dataclass(frozen=True)
class _About:
    """What a file says of the arrays in it."""

    format: Literal["ldp-collection/1"]
    design: str
    mechanism: str
    users: Count
    several: bool
    read: list[Read]
    digest: str


@dataclass(frozen=True)
class Collection:
    """The ``reports`` of one ``design``, counted, and the files ``read`` that they come from."""

    design: str
    reports: Reports
    read: tuple[Read, ...] = ()

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
        reasons: Counter[str] = Counter()
        for file in self.read:
            reasons.update(file.refused)
        return dict(reasons)

    def __add__(self, other: Collection) -> Collection:
        """Both together, exactly. ValueError for another design, or a file that is part of both.

        Ids are not kept here: the same id in files of different collections is not noticed.
        """
        if self.design != other.design:
            raise ValueError(
                f"These collections are of different designs ({quoted(self.design)} and {quoted(other.design)}): only reports of one "
                "design can be added up."
            )
        mine = {file.digest for file in self.read}
        twice = next((file.name for file in other.read if file.digest in mine), None)
        if twice is not None:
            raise ValueError(f"The file {quoted(twice)} is in both collections: its reports would be counted twice.")
        return Collection(self.design, self.reports + other.reports, self.read + other.read)

    def __repr__(self) -> str:
        refused = sum(self.refused.values())
        return (
            f"<Collection: {self.users:,} reports of design {self.design} from {len(self.read):,} files, {refused:,} refused, "
            f"{self.repeated:,} repeated>"
        )

    @property
    def digest(self) -> str:
        """Equal for equal collections: SHA-256 (hex) of all that they hold."""
        return _digest(self._about, self._arrays)

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
        about = {**self._about, "digest": self.digest}
        written = io.BytesIO()
        # Text as an array of bytes: nothing has to be pickled.
        np.savez_compressed(
            written, allow_pickle=False, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **self._arrays
        )
        return written.getvalue()

    def save(self, path: str | Path) -> None:
        """Write to ``path`` so that it holds the whole collection or what it held before, whatever happens meanwhile."""
        replace(Path(path), self.to_bytes())

    @classmethod
    def load(cls, place: str | Path | bytes, mechanism: Mechanism) -> Collection:
        """What `save` wrote, by its path, or what `to_bytes` gave. ValueError for a damaged file, and for reports of another
        mechanism."""
        source = io.BytesIO(place) if isinstance(place, bytes) else place
        try:
            with zipfile.ZipFile(source) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MOST_COLLECTION_BYTES:
                    raise ValueError(_DAMAGED)
            with np.load(source, allow_pickle=False) as members:
                text = members["about"].tobytes()
                data = tuple(members[f"data{i}"] for i in range(len(members.files) - 1))
            about, document = TypeAdapter(_About).validate_json(text, strict=True), json.loads(text)
            if document.pop("digest") != _digest(document, {f"data{i}": array for i, array in enumerate(data)}):
                raise ValueError(_DAMAGED)
        except FileNotFoundError:
            raise
        except _ERRORS as error:
            raise ValueError(_DAMAGED) from error
        if about.mechanism != mechanism.digest:
            raise ValueError("This collection is of another mechanism, or of the same one with other parameters.")
        reports = Reports(about.mechanism, about.users, data if about.several else data[0])
        collection = cls(about.design, reports, tuple(about.read))
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
            and len({part.digest for part in self.read}) == len(self.read)
        )

    def _possible(self, mechanism: Mechanism) -> bool:
        """True if this number of reports can add up to these numbers, judged by single reports."""
        people = alphabet(mechanism).some(_EXAMPLES)
        if isinstance(mechanism, StratifiedMechanism):  # each group on its own: an example is about one of them
            parts = zip(mechanism.strata, mechanism.reports_of(self.reports), strict=True)
            return all(Collection("", own)._possible(made) for made, own in parts)
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


def _digest(about: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> str:
    hasher = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, array in arrays.items():
        hasher.update(f"{name} {array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return hasher.hexdigest()


def lock_of(state: Path) -> Path:
    """The file that is there while somebody collects into a ``state``."""
    return state.with_name(f".{state.name}.lock")


def ids_of(state: Path) -> Path:
    """The folder with the ids that were counted into a ``state``."""
    return state.with_name(f"{state.name}.ids")


def beside(state: Path) -> list[Path]:
    """The files beside a ``state`` that collecting writes or removes."""
    return [lock_of(state), *ids_of(state).glob("*")]


def replace(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Put ``content`` in the place of the file ``path`` at one stroke; whoever may read it is said by the ``mode``."""
    unfinished = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")  # no file that is there
    try:
        with open(unfinished, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)

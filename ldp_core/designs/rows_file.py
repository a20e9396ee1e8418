"""Reads the base rows of a mechanism whose outputs are all ways to move them, a JSON file that any language reads (see its `files`), and
trusts nothing in it.

{"epsilon": 1.0, "moved": "rotated", "types": 4096, "places": 5400,
 "rows": [{"cells": "0f3c...", "share": 0.0418}, ...]}            a bit for every place, packed, most significant bit first

Rows are "rotated" on a ring of places that begins with the types, or "flipped": moved by the bits
of a number, a place for every type.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ldp_core.designs import strict_json
from ldp_core.designs.untrusted import Part, usable
from ldp_core.limits import MOST_RING_PLACES, MOST_RING_ROWS, MOST_ROW_CELLS
from ldp_core.mechanisms import OrbitMechanism, RingMechanism

_DIGITS = 2**16 // 4  # hexadecimal, of a row for as many types as rows are flipped for

LOADED = {
    "rotated": "Each report names one of a few rows of bits on a ring and how far it is rotated, and is likelier where the person's place has a 1. "
    "The rows were loaded from a file, not computed here.",
    "flipped": "Each report names one of a few rows with a bit for each type, and the answers to flip to find the person's place in it. It is "
    "likelier where that place has a 1. The rows were loaded from a file, not computed here.",
}


class _Row(Part):
    cells: Annotated[str, Field(max_length=_DIGITS)]
    share: Annotated[float, Field(gt=0, le=1)]

    def unpacked(self, places: int) -> np.ndarray:
        packed = bytes.fromhex(self.cells)
        if len(packed) != -(-places // 8):
            raise ValueError(
                f"a row of {places:,} places needs {-(-places // 8):,} bytes, and there are {len(packed):,}"
            )
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8))
        if bits[places:].any():
            raise ValueError("there are places beyond the last one of a row")
        return bits[:places].astype(bool)


class _File(Part):
    epsilon: float
    moved: Literal["rotated", "flipped"]
    types: Annotated[int, Field(ge=2)]
    places: Annotated[int, Field(ge=2, le=4 * _DIGITS)]
    rows: Annotated[list[_Row], Field(min_length=1)]

    def check(self) -> None:
        """ValueError for more than is read, before any of it is unpacked."""
        if len(self.rows) * self.places > MOST_ROW_CELLS:
            raise ValueError(f"there are more than {MOST_ROW_CELLS:,} places in all rows")
        if self.moved == "rotated" and (len(self.rows) > MOST_RING_ROWS or self.places > MOST_RING_PLACES):
            raise ValueError(f"there are more than {MOST_RING_ROWS:,} rows or {MOST_RING_PLACES:,} places of a ring")
        if self.moved == "flipped" and self.types != self.places:
            raise ValueError(
                f"rows that are flipped have a place for every type, and these {self.places:,} for {self.types:,}"
            )


def read(content: bytes, name: str) -> OrbitMechanism | RingMechanism:
    """The mechanism of a file, called ``name``; ValueError, one sentence, for anything that is none."""
    document = strict_json.read(content, "The file of rows")
    with usable("The file of rows"):
        file = _File.model_validate(document)
        file.check()
        high = np.array([row.unpacked(file.places) for row in file.rows])
        shares = np.array([row.share for row in file.rows])
        if file.moved == "flipped":
            return OrbitMechanism(name, high, shares, file.epsilon, {}, LOADED[file.moved])
        return RingMechanism(name, high, shares, file.types, file.epsilon, {}, LOADED[file.moved])

"""The base rows of a mechanism on a ring as a JSON file that any language reads, and back, trusting nothing in it.

{"epsilon": 1.0, "types": 4096, "places": 5400,
 "rows": [{"cells": "0f3c...", "share": 0.0418}, ...]}            a bit for every place, packed, most significant bit first
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from ldp_core.designs import strict_json
from ldp_core.designs.untrusted import Part, usable
from ldp_core.mechanisms.rings import RingMechanism
from ldp_core.workloads import DENSE_TYPES

MOST_ROWS, MOST_PLACES = 256, 4 * DENSE_TYPES
"""Base rows, and places of a ring, that are read: what estimates take grows with both."""

LOADED = (
    "Each report names one of a few rows of bits on a ring and how far it is rotated, and is likelier where the person's place has a 1. The rows "
    "were loaded from a file, not computed here."
)


class _Row(Part):
    cells: Annotated[str, Field(max_length=MOST_PLACES)]
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
    types: Annotated[int, Field(ge=2, le=DENSE_TYPES)]
    places: Annotated[int, Field(ge=2, le=MOST_PLACES)]
    rows: Annotated[list[_Row], Field(min_length=1, max_length=MOST_ROWS)]


def write(mechanism: RingMechanism) -> bytes:
    """The file of a mechanism."""
    rows = [
        {"cells": np.packbits(row).tobytes().hex(), "share": share}
        for row, share in zip(mechanism.high, mechanism.shares.tolist(), strict=True)
    ]
    places = mechanism.high.shape[1]
    return (
        strict_json.write({"epsilon": mechanism.epsilon, "types": mechanism.n, "places": places, "rows": rows}) + b"\n"
    )


def read(content: bytes, name: str) -> RingMechanism:
    """The mechanism of a file, called ``name``; ValueError, one sentence, for anything that is none."""
    document = strict_json.read(content, "The file of rows")
    with usable("The file of rows"):
        file = _File.model_validate(document)
        high = np.array([row.unpacked(file.places) for row in file.rows])
        shares = np.array([row.share for row in file.rows])
        return RingMechanism(name, high, shares, file.types, file.epsilon, {}, LOADED)

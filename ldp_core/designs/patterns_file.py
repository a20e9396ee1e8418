"""The patterns of a survey mechanism as a JSON file that any language reads, and back, trusting nothing in it.

{"epsilon": 1.0, "sizes": [16, 9, ...],
 "tables": [{"sizes": [16, 9], "cells": "0f3c..."}, ...],          booleans in row-major order, packed, most significant bit first
 "patterns": [{"attributes": [0, 1], "table": 0, "share": 0.0181}, ...]}
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ldp_core.designs import strict_json
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.people import MOST_CELLS

MOST_PATTERNS = 200_000
Size = Annotated[int, Field(ge=1, le=MOST_CELLS)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class _Table(_Part):
    sizes: Annotated[list[Size], Field(min_length=1, max_length=24)]
    cells: str

    def unpacked(self) -> np.ndarray:
        count = math.prod(self.sizes)
        packed = bytes.fromhex(self.cells) if count <= MOST_CELLS else b""
        if len(packed) != -(-count // 8):
            raise ValueError(
                f"a table of {count:,} cells needs {-(-count // 8):,} bytes, and there are {len(packed):,}"
            )
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8))
        if bits[count:].any():
            raise ValueError("there are cells beyond the last one of a table")
        return bits[:count].astype(bool).reshape(self.sizes)


class _Sent(_Part):
    attributes: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=24)]
    table: Annotated[int, Field(ge=0)]
    share: Annotated[float, Field(gt=0, le=1)]


class _File(_Part):
    epsilon: float
    sizes: Annotated[list[Size], Field(min_length=1, max_length=1_000)]
    tables: Annotated[list[_Table], Field(min_length=1, max_length=MOST_PATTERNS)]
    patterns: Annotated[list[_Sent], Field(min_length=1, max_length=MOST_PATTERNS)]


def write(mechanism: ScrambledPatterns) -> bytes:
    """The file of a mechanism. ValueError where it would be too large to be read again."""
    tables: dict[tuple[tuple[int, ...], bytes], int] = {}
    patterns = []
    for pattern, share in zip(mechanism.patterns, mechanism.shares.tolist(), strict=True):
        key = pattern.cells.shape, np.packbits(pattern.cells).tobytes()
        patterns.append(
            {"attributes": list(pattern.attributes), "table": tables.setdefault(key, len(tables)), "share": share}
        )
    document = {
        "epsilon": mechanism.epsilon,
        "sizes": list(mechanism.sizes),
        "tables": [{"sizes": list(sizes), "cells": packed.hex()} for sizes, packed in tables],
        "patterns": patterns,
    }
    content = strict_json.write(document) + b"\n"
    if len(content) > strict_json.MAX_JSON_BYTES:
        raise ValueError(
            f"The {len(patterns):,} patterns of the mechanism would take {len(content) / 1e6:.1f} MB, and at most "
            f"{strict_json.MAX_JSON_BYTES / 1e6:g} MB are read again: ask about fewer sets of columns."
        )
    return content


def read(content: bytes, name: str) -> ScrambledPatterns:
    """The mechanism of a file, called ``name``; ValueError, one sentence, for anything that is none."""
    document = strict_json.read(content, "The file of patterns")
    try:
        file = _File.model_validate(document)
        tables = [table.unpacked() for table in file.tables]
        patterns = list[Pattern]()
        for sent in file.patterns:
            if sent.table >= len(tables):
                raise ValueError(f"pattern {len(patterns)} is of table {sent.table}, and there are {len(tables)}")
            patterns.append(Pattern(tuple(sent.attributes), tables[sent.table]))
        shares = np.array([sent.share for sent in file.patterns])
        return ScrambledPatterns(name, file.sizes, file.epsilon, patterns, shares, {}, LOADED)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = " > ".join(map(str, first["loc"]))
        raise ValueError(
            f"The file of patterns cannot be used: {where}: {first['msg']}. Export the design again."
        ) from None
    except ValueError as error:
        raise ValueError(
            f"The file of patterns cannot be used: {str(error).rstrip('.')}. Export the design again."
        ) from None


LOADED = (
    "Each report names a few columns and a scrambled set of the combinations of their values; which, and how often, is given by "
    "patterns that were loaded from a file, not computed here."
)

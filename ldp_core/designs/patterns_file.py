"""Reads the patterns of a survey mechanism, a JSON file that any language reads (see its `files`), and trusts nothing in it.

If people are split among separate strategies on a few tables and the patterns, it names these
tables; the probabilities, (m, cells) for the k-th, are numbers in a second file.

{"epsilon": 1.0, "sizes": [16, 9, ...],
 "tables": [{"sizes": [16, 9], "cells": "0f3c..."}, ...],          booleans in row-major order, packed, most significant bit first
 "patterns": [{"attributes": [0, 1], "table": 0, "share": 0.0181}, ...],
 "own": [{"attributes": [4], "share": 0.3}, ...], "rest": 0.7}     only where people are split: shares of people; the rest send patterns

Where groups of people that the collector knows have different designs, {"designs": [such documents], "which": [that of each group]}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ldp_core.designs import strict_json
from ldp_core.limits import MOST_FITTED_TYPES, MOST_PATTERNS, MOST_STRATA, MOST_TABLE_CELLS, MOST_TABLE_STRATEGIES
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.problems import in_words

Size = Annotated[int, Field(ge=1, le=MOST_TABLE_CELLS)]


class Part(BaseModel):
    """A part of such a file: nothing more in it than is named, and nothing converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class _Table(Part):
    sizes: Annotated[list[Size], Field(min_length=1, max_length=24)]
    cells: str

    def unpacked(self) -> np.ndarray:
        count = math.prod(self.sizes)
        packed = bytes.fromhex(self.cells) if count <= MOST_TABLE_CELLS else b""
        if len(packed) != -(-count // 8):
            raise ValueError(
                f"a table of {count:,} cells needs {-(-count // 8):,} bytes, and there are {len(packed):,}"
            )
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8))
        if bits[count:].any():
            raise ValueError("there are cells beyond the last one of a table")
        return bits[:count].astype(bool).reshape(self.sizes)


class _Own(Part):
    attributes: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=24)]
    share: Annotated[float, Field(gt=0, le=1)]


class _Sent(_Own):
    table: Annotated[int, Field(ge=0)]


class _File(Part):
    epsilon: float
    sizes: Annotated[list[Size], Field(min_length=1, max_length=1_000)]
    tables: Annotated[list[_Table], Field(max_length=MOST_PATTERNS)]
    patterns: Annotated[list[_Sent], Field(max_length=MOST_PATTERNS)]
    own: list[_Own] = Field(default_factory=list, max_length=MOST_TABLE_STRATEGIES)
    rest: Annotated[float, Field(gt=0, lt=1)] | None = None


class _Several(Part):
    designs: Annotated[list[_File], Field(min_length=2, max_length=MOST_STRATA)]
    which: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MOST_STRATA)]


def read(
    content: bytes, name: str, strategies: Sequence[np.ndarray] = ()
) -> tuple[list[ScrambledPatterns | SplitSurvey], list[int] | None]:
    """The mechanisms of a file of patterns.

    Parameters
    ----------
    content : bytes
    name : str
        What the mechanisms are called.
    strategies : sequence of ndarray
        The (m, n) probabilities that were written beside the file, in its order.

    Returns
    -------
    mechanisms : list
        One for everybody, or several for groups of people.
    which : list of int or None
        Which of them is that of each group; None where there is one for all.

    Raises
    ------
    ValueError
        One sentence, for anything that is no such file.
    """
    document = strict_json.read(content, "The file of patterns")
    try:
        if not (isinstance(document, dict) and "designs" in document):
            return [_read(document, name, strategies)], None
        file = _Several.model_validate(document)
        ends = np.cumsum([len(each.own) for each in file.designs])
        apart = zip(file.designs, [0, *ends], [*ends[:-1], len(strategies)], strict=False)
        return [_read(each, name, strategies[start:stop]) for each, start, stop in apart], file.which
    except ValueError as error:
        said = in_words(error, document) if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"The file of patterns cannot be used: {said.rstrip('.')}. Export the design again.") from None


def _read(document: object, name: str, strategies: Sequence[np.ndarray]) -> ScrambledPatterns | SplitSurvey:
    file = _File.model_validate(document)
    tables = [table.unpacked() for table in file.tables]
    patterns = list[Pattern]()
    for sent in file.patterns:
        if sent.table >= len(tables):
            raise ValueError(f"pattern {len(patterns)} is of table {sent.table}, and there are {len(tables)}")
        patterns.append(Pattern(tuple(sent.attributes), tables[sent.table]))
    shares = np.array([sent.share for sent in file.patterns])
    if len(strategies) != len(file.own):
        raise ValueError(f"it names {len(file.own)} strategies of their own, and there are {len(strategies)} beside it")
    if not file.own and file.rest is None:
        return ScrambledPatterns(name, file.sizes, file.epsilon, patterns, shares, {}, LOADED)
    return _split(name, file, patterns, shares, strategies)


def _split(
    name: str, file: _File, patterns: Sequence[Pattern], shares: np.ndarray, strategies: Sequence[np.ndarray]
) -> SplitSurvey:
    if (file.rest is None) != (not patterns):
        raise ValueError("patterns and the share of people who send them belong together")
    tables, divided = list[GroupTable](), [part.share for part in file.own] + ([] if file.rest is None else [file.rest])
    if abs(math.fsum(divided) - 1) > 1e-9:
        raise ValueError(f"the shares of people must sum to 1; they sum to {math.fsum(divided):g}")
    for part, strategy in zip(file.own, strategies, strict=True):
        if max(part.attributes) >= len(file.sizes):
            raise ValueError(
                f"there are {len(file.sizes)} columns, and a strategy is for column {max(part.attributes) + 1}"
            )
        if strategy.shape[1] > MOST_FITTED_TYPES:
            raise ValueError(
                f"a strategy for {strategy.shape[1]:,} types is too large; at most {MOST_FITTED_TYPES:,} are allowed"
            )
        tables.append(GroupTable(tuple(part.attributes), ExplicitMechanism(name, strategy, file.epsilon)))
    rest = ScrambledPatterns(name, file.sizes, file.epsilon, patterns, shares) if patterns else None
    return SplitSurvey(name, file.sizes, file.epsilon, tables, rest, divided, {}, LOADED_SPLIT)


LOADED = (
    "Each report names a few columns and a scrambled set of the combinations of their values. The patterns and their frequencies "
    "were loaded from a file, not computed here."
)

LOADED_SPLIT = (
    "Each person takes part in one of several designs, drawn whatever their values are: a strategy fitted to the questions about a few "
    "columns, or patterns for the rest. They were loaded from a file, not computed here."
)

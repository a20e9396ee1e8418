"""The files that a fitted mechanism is written to, for `ldp_core.designs.bundle` to pack and record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

STRATEGY = "strategy.npz"
PATTERNS = "patterns.json"
STRATEGIES = "strategies.npz"


@dataclass(frozen=True)
class MechanismFile:
    """One file of a mechanism.

    Attributes:
        name: of the file: `STRATEGY`, `PATTERNS` or `STRATEGIES`.
        entry: the entry of outcome.json that records the checksum of the file.
        facts: recorded in that entry as well.
        about: what the file holds, a phrase for people.
        content: arrays by name for an .npz file, a JSON document for a .json file; built on request, as it can be large.
    """

    name: str
    entry: str
    facts: Mapping[str, Any]
    about: str
    content: Callable[[], Mapping[str, np.ndarray] | dict[str, Any]]

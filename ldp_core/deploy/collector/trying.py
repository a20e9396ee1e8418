"""Simulated reports, to walk the whole way before anybody is asked. They are marked, and never those of real people."""

from __future__ import annotations

import numpy as np

from ldp_core.deploy.collector.alphabet import alphabet
from ldp_core.limits import MOST_DRAWN_PEOPLE
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, users_of

SIMULATED = "simulated-reports.csv"
"""The name of their file: the column simulated in it says so too."""
_NUMBERS = 2**24


def simulated(mechanism: Mechanism, design: str, counts: Counts, seed: int = 0) -> bytes:
    """A CSV file of reports of the people ``counts`` (n,), or of some of them drawn at random where there are more than
    `MOST_DRAWN_PEOPLE` (or their reports are long); the same seed gives the same file.

    ValueError for a mechanism whose reports hold continuous noise.
    """
    letters, rng, users = alphabet(mechanism), np.random.default_rng(seed), users_of(counts)
    chosen = rng.choice(
        users, min(users, MOST_DRAWN_PEOPLE, _NUMBERS // letters.width), replace=False
    )  # in random order
    sent = mechanism.privatize(mechanism.inputs(mechanism.people(counts).at(chosen)), rng)
    written = ["report,design,id,simulated"]
    for row in sent.astype(letters.dtype).reshape(len(chosen), letters.width).tolist():
        written.append(f"{' '.join(map(str, row))},{design},{rng.bytes(16).hex()},yes")
    return ("\n".join(written) + "\n").encode()

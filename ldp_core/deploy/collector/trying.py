"""Simulated reports, to try a collection before anyone is asked. They are marked, and never those of real people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ldp_core.analysis import questionnaire_of
from ldp_core.deploy.collector.alphabet import alphabet
from ldp_core.deploy.collector.answering import answers
from ldp_core.deploy.collector.collection import Collection
from ldp_core.limits import MOST_DRAWN_PEOPLE
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, people_of, users_of
from ldp_core.studies.simulate import one_collection
from ldp_core.workloads import Workload

SIMULATED = "simulated-reports.csv"
"""The name of their file: the column simulated in it says so too."""
_NUMBERS = 2**24


def simulated(mechanism: Mechanism, design: str, counts: Counts, seed: int = 0) -> bytes:
    """A CSV file of reports of the people ``counts`` (n,), or of some of them drawn at random where there are more than
    `MOST_DRAWN_PEOPLE` (or their reports are long); the same seed gives the same file.

    ValueError for a mechanism whose reports hold continuous noise.
    """
    letters, rng, users = alphabet(mechanism), np.random.default_rng(seed), users_of(counts)
    most = min(users, MOST_DRAWN_PEOPLE, _NUMBERS // letters.width)
    chosen = rng.choice(users, most, replace=False)  # in random order
    sent = mechanism.privatize(mechanism.inputs(mechanism.people(counts).at(chosen)), rng)
    written = ["report,design,id,simulated"]
    for row in sent.astype(letters.dtype).reshape(len(chosen), letters.width).tolist():
        written.append(f"{' '.join(map(str, row))},{design},{rng.bytes(16).hex()},yes")
    return ("\n".join(written) + "\n").encode()


def release(
    mechanism: Mechanism,
    workload: Workload,
    counts: Counts,
    estimator: str = "unbiased",
    seed: int = 0,
    most: int | None = None,
    drawn: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """The answers that one collection might give, as `answers` makes them, and beside them the true ones.

    Parameters
    ----------
    counts : Counts
        The people, by type.
    seed : int
        Another number is another collection.
    most, drawn, options
        As of `answers`; with ``drawn`` as many new people are drawn from these.

    Returns
    -------
    DataFrame
        The columns of `answers`, and ``true``: the answer of these people, in its unit.
    """
    users, lines = float(users_of(counts)), questionnaire_of(workload).lines
    people = counts if workload.survey is None else people_of(counts, workload.survey.shape)
    reports = one_collection(mechanism, counts, np.random.SeedSequence(seed), drawn)[1]
    about = (Collection("", reports), mechanism, workload, estimator)
    found = answers(*about, most=most, drawn=drawn, **options)
    true = [
        (users if lines[k].unit.total else 1.0) * lines[k].values(people, rows["query"].to_numpy())
        for k, rows in found.groupby("line", sort=False)
    ]
    return found.assign(true=np.concatenate(true))

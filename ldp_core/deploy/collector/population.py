"""Weights to a population: the sizes of its groups are stated, and each report of a group counts for N_z / n_z people."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ldp_core.data.domain import Domain
from ldp_core.limits import MOST_USERS
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.mechanisms.strata import InStrata, StratifiedMechanism
from ldp_core.mechanisms.surveys.strata import StratifiedSurveyEstimate
from ldp_core.wording import count, listed, meant, quoted
from ldp_core.workloads import Workload


def group_names(domain: Domain) -> list[str]:
    """(K,) the groups that the collector knows, by their values; none where it knows nothing.

    They stand as strata do, the last known attribute running fastest.
    """
    known = [attribute.labels for attribute in domain.attributes if attribute.known]
    return [", ".join(values) for values in itertools.product(*known)] if known else []


def sizes_of(entries: Iterable[str], groups: list[str]) -> pd.Series:
    """(K,) the people of each of ``groups``, by their names, from entries such as "north = 12,000". ValueError, one sentence, unless each has one."""
    if not groups:
        raise ValueError("There is nothing to weight by: the collector knows no group of this design.")
    found: dict[str, int] = {}
    for entry in filter(None, map(str.strip, entries)):
        name, _, number = (part.strip() for part in entry.rpartition("="))
        digits = number.replace(",", "")
        if name not in groups or name in found:
            raise ValueError(f"{quoted(name or entry)} is not a group, or stands twice; {meant(name, groups)}")
        if not (digits.isascii() and digits.isdigit() and int(digits) <= MOST_USERS):
            raise ValueError(
                f"The people of {quoted(name)} are a whole number up to {MOST_USERS:,}; got {quoted(number)}."
            )
        found[name] = int(digits)
    if missing := [name for name in groups if name not in found]:
        raise ValueError(
            f"Please give the people of each group, such as {missing[0]} = 12000; {quoted(missing[0])} is missing."
        )
    return pd.Series({name: found[name] for name in groups}, dtype=float)


def weights(mechanism: Mechanism, reports: Reports, sizes: pd.Series | np.ndarray) -> np.ndarray:
    """(K,) how many people of a population with groups of these ``sizes`` (K,), by their names, each report stands for. ValueError where a group with
    people has no report, or the collector knows no groups."""
    if not isinstance(mechanism, InStrata) or np.shape(sizes) != (len(mechanism.strata),):
        raise ValueError("Weights are for designs with groups that the collector knows, one size for each.")
    people, names, sizes = reports.arrays[0], pd.Series(sizes).index.astype(str), np.asarray(sizes, dtype=float)
    if not (np.isfinite(sizes) & (sizes >= 0)).all() or not sizes.any():
        raise ValueError("Sizes of groups are numbers of people from 0 up, not all 0.")
    if ((people == 0) & (sizes > 0)).any():
        silent = listed([quoted(name) for name in names[(people == 0) & (sizes > 0)]], 3)
        raise ValueError(
            f"There is no report from {silent}, so nothing can stand for the people there: give 0 people, or wait for reports."
        )
    return np.where(sizes > 0, sizes / np.maximum(1, people), 0.0)


def weighted(
    estimate: Estimate, mechanism: Mechanism, workload: Workload, queries: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """(q,) the answers of an estimate where each report of a group stands for so many ``times`` (K,) people."""
    if isinstance(estimate, StratifiedSurveyEstimate):
        return workload.answers(estimate.weighted(times), queries)
    assert isinstance(mechanism, StratifiedMechanism)
    return workload.answers(times[mechanism.stratum] * estimate.fitted(workload), queries)


def whose(people: float, drawn: bool, sizes: pd.Series | np.ndarray | None) -> str:
    """Whom intervals and answers from so many ``people`` are for, in a sentence."""
    who = "the population that they were drawn from" if drawn else f"these {count(people)} people"
    weighted_to = (
        "" if sizes is None else f"; each group is weighted to the {count(float(np.sum(sizes)))} people stated"
    )
    return f"Intervals are for {who}{weighted_to}."

"""Mechanisms for surveys of people of whom the collector knows some attributes: a survey of the other ones in each stratum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ldp_core.anova import Set
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports, check_generator
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.moments import Contributions
from ldp_core.mechanisms.strata import InStrata, OfStrata, StratifiedEstimate, StratifiedMechanism
from ldp_core.mechanisms.surveys.estimates import Improve, SurveyEstimate, as_survey
from ldp_core.mechanisms.surveys.face import SurveyMechanism, TableContributions
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.people import Counts, People, Tables, people_of, records_of
from ldp_core.workloads import Strata, StratifiedSurvey, Survey, Workload
from ldp_core.workloads.strata import secret_of


def in_strata(
    drawn: Sequence[Mechanism], which: np.ndarray, strata: Strata, parameters: Mapping[str, Any] | None = None
) -> StratifiedMechanism | StratifiedSurveyMechanism:
    """The mechanism ``drawn[which[z]]`` in each of the ``strata``."""
    if all(made.survey is None for made in drawn):
        return StratifiedMechanism(drawn, which, strata.types, parameters)
    sizes = [strata.shape[i] for i in secret_of(strata.shape, strata.known)]
    surveys = [made.survey or _of_all(made, sizes) for made in drawn]
    return StratifiedSurveyMechanism(surveys, which, strata.shape, strata.known, parameters)


def _of_all(made: Mechanism, sizes: Sequence[int]) -> SplitSurvey:
    """A strategy for all types as a survey with one table, of all attributes of ``sizes``."""
    if made.strategy is None:
        raise ValueError("Surveys of known groups take patterns or tables of chances, and some groups have neither.")
    table = ExplicitMechanism(made.name, made.strategy, made.epsilon, made.parameters)
    return SplitSurvey(made.name, sizes, made.epsilon, [GroupTable(tuple(range(len(sizes))), table)], None, [1.0])


class StratifiedSurveyMechanism(InStrata, SurveyMechanism):
    """In stratum z the survey ``drawn[which[z]]`` of the secret attributes of ``shape``; those at the places ``known`` are no secret.

    ValueError for mechanisms that are no surveys of the secret attributes.
    """

    strata: tuple[SurveyMechanism, ...]
    drawn_by_design: tuple[SurveyMechanism, ...]

    def __init__(
        self,
        drawn: Sequence[SurveyMechanism],
        which: np.ndarray,
        shape: Sequence[int],
        known: Sequence[int],
        parameters: Mapping[str, Any] | None = None,
    ):
        self.known, self.secret = tuple(known), secret_of(shape, known)
        if any(made.survey is None or not made.fits([shape[i] for i in self.secret]) for made in drawn):
            raise ValueError("Each stratum needs a mechanism for surveys of its secret attributes.")
        name, epsilon = self._draw(drawn, which)
        SurveyMechanism.__init__(self, name, shape, epsilon, parameters or {})

    def _with(self, drawn: Sequence[Any]) -> StratifiedSurveyMechanism:
        return StratifiedSurveyMechanism(drawn, self.which, self.sizes, self.known, self.parameters)

    def _type(self, z: int, secret: int) -> int:
        values = np.empty(len(self.sizes), dtype=object)
        values[list(self.known)] = _values(z, [self.sizes[i] for i in self.known])
        values[list(self.secret)] = _values(secret, [self.sizes[i] for i in self.secret])
        return sum(value * math.prod(self.sizes[i + 1 :]) for i, value in enumerate(values.tolist()))

    def sizes_of_strata(self, counts: Counts) -> np.ndarray:
        return people_of(counts, self.sizes).table(self.known)

    def _content(self) -> bytes:
        return repr((self.sizes, self.known)).encode()

    def cells_within(self, attributes: Set) -> np.ndarray:
        """(K, m) the cells of the table of ``attributes`` that people of each stratum may be in."""
        sizes, known = [self.sizes[i] for i in attributes], [i for i in attributes if i in self.known]
        places = [attributes.index(i) for i in (*known, *(i for i in attributes if i in self.secret))]
        cells = np.arange(math.prod(sizes)).reshape(sizes).transpose(places)
        cells = cells.reshape(*(self.sizes[i] for i in known), -1)
        whole = [self.sizes[i] for i in self.known]
        placed = cells[tuple(slice(None) if i in known else None for i in self.known)]
        return np.broadcast_to(placed, (*whole, placed.shape[-1])).reshape(len(self.strata), -1)

    def _secret(self, attributes: Set) -> Set:
        """The places, among the secret attributes, of those of ``attributes``."""
        return tuple(self.secret.index(i) for i in attributes if i in self.secret)

    def _people(self, people: Tables) -> Sequence[Any]:
        """(K,) the people of each stratum."""
        assert isinstance(people, People)
        return people.within(self.known)

    # --- questions and errors -----------------------------------------------------------------------------------

    def within(self, workload: Workload) -> list[tuple[SurveyMechanism, Workload, float]]:
        """For each stratum its mechanism and a workload with the errors of ``workload`` there, once multiplied by a number squared, which
        is 0 where nothing secret is asked."""
        strata = strata_of(workload, self.sizes, self.known)
        if strata is None:
            return []
        each = zip(self.strata, strata.which, strata.scale.tolist(), strict=True)
        return [(made, strata.designs[d], scale) for made, d, scale in each]

    def _of_each(self, workload: Workload, error: Callable[[SurveyMechanism, Workload], float]) -> np.ndarray:
        """(K,) an ``error`` of each stratum, worked out once for those that are alike."""
        found = dict[tuple[int, Workload], float]()
        errors = np.zeros(len(self.strata))
        for z, (made, few, scale) in enumerate(self.within(workload)):
            key = id(made), few
            if scale and key not in found:
                found[key] = error(made, few)
            errors[z] = scale**2 * found[key] if scale else 0.0
        return errors

    def supports(self, workload: Workload) -> str | None:
        try:
            asked = {(id(made), few): (made, few) for made, few, scale in self.within(workload) if scale}
        except ValueError as error:
            return str(error)
        return next((reason for made, few in asked.values() if (reason := made.supports(few))), None)

    def knows(self, attributes: Sequence[int]) -> bool:
        return all(made.knows(self._secret(tuple(attributes))) for made in self.strata)

    def surveys(self, workload: Workload) -> list[Survey]:
        sizes = tuple(self.sizes[i] for i in self.secret)
        return [as_survey(few, sizes) for few in {few for _, few, scale in self.within(workload) if scale}]

    def profile_of(self, workload: Workload) -> np.ndarray:
        """(K,) what people of each stratum add: all of them for surveys that treat the values of each attribute alike, else the worst
        type. (n,) for questions that are no survey."""
        worst = self._of_each(workload, lambda made, few: float(made.profile_of(few).max()))
        if workload.survey is not None:
            return worst
        profile = np.zeros(self.n)
        for value, types in zip(worst, self.cells_within(tuple(range(len(self.sizes)))), strict=True):
            profile[types] = value
        return profile

    def average_of(self, workload: Workload) -> float:
        if reason := self.supports(workload):
            raise ValueError(reason)
        return float(self._of_each(workload, lambda made, few: made.average_of(few)).mean())

    def variance_on(self, workload: Workload, counts: Counts) -> float:
        if reason := self.supports(workload):
            raise ValueError(reason)
        people = self._people(people_of(counts, self.sizes))
        each = zip(self.within(workload), people, strict=False)
        return math.fsum(scale**2 * made.variance_on(few, own) for (made, few, scale), own in each if scale)

    def row_variances(self, rows: np.ndarray, attributes: Set, people: Tables) -> np.ndarray:
        variances, secret = np.zeros(len(rows)), self._secret(attributes)
        if not any(self.sizes[self.secret[i]] > 1 for i in secret):
            return variances
        for made, cells, own in zip(self.strata, self.cells_within(attributes), self._people(people), strict=True):
            few = rows[:, cells]
            if (about := few.any(axis=1)).any():
                variances[about] += made.row_variances(few[about], secret, own)
        return variances

    def cell_variances(self, attributes: Set, people: Tables) -> np.ndarray:
        variances, secret = np.zeros(math.prod(self.sizes[i] for i in attributes)), self._secret(attributes)
        if any(self.sizes[self.secret[i]] > 1 for i in secret):
            for made, cells, own in zip(self.strata, self.cells_within(attributes), self._people(people), strict=True):
                variances[cells] += made.cell_variances(secret, own)
        return variances

    def second_moments(self, rows: np.ndarray, attributes: Set) -> Sequence[tuple[Set, np.ndarray]]:
        """For each cell, the most over the strata that people there may be of."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        return [(attributes, centred**2 + self.contributed(rows, attributes).variances)]

    def on(self, attributes: Sequence[int]) -> StratifiedTable:  # type: ignore[override]
        return StratifiedTable(self, tuple(attributes))

    def contributed(self, rows: np.ndarray, attributes: Set) -> Contributions:
        return self.on(attributes).contributions(rows)

    def ends(self, rows: np.ndarray, attributes: Set) -> tuple[np.ndarray, np.ndarray]:
        adds = self.contributed(rows, attributes)
        return adds.means.max(axis=1) - adds.down, adds.means.min(axis=1) + adds.up

    @property
    def dimensions(self) -> int:
        return max(made.dimensions for made in self.drawn_by_design)

    def explain_with(self, names: Sequence[str]) -> str:
        return self._explained(self.drawn_by_design[0].explain_with([names[i] for i in self.secret]))

    # --- reports ------------------------------------------------------------------------------------------------

    def privatize(self, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 1 + k) one report per user: the stratum in the clear, a report of its mechanism, and zeros. Simulation only."""
        check_generator(rng)
        records = records_of(records, self.sizes)
        known = tuple(self.sizes[i] for i in self.known)
        numbers = np.ravel_multi_index(tuple(records[:, i].astype(np.int64) for i in self.known), known)
        secret = records[:, list(self.secret)]
        return self.parts.privatize(numbers, lambda z, people: secret[people], rng)

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """The reports of a collection, each stratum's by its own survey. Simulation only."""
        check_generator(rng)
        people = self._people(people_of(counts, self.sizes))
        return self.parts.joined(
            self.digest, [made.simulate(own, rng) for made, own in zip(self.strata, people, strict=True)]
        )

    def estimate(self, reports: Reports) -> StratifiedSurveyEstimate:
        parts = zip(self.strata, self.reports_of(reports), strict=True)
        return StratifiedSurveyEstimate.of([made.estimate(sent) for made, sent in parts], self, reports.arrays[0])


class StratifiedTable(OfStrata):
    """A mechanism for surveys of strata, seen on the table of ``attributes``, with its cells as types."""

    def __init__(self, mechanism: StratifiedSurveyMechanism, attributes: Set):
        secret = mechanism._secret(attributes)
        self.types = mechanism.cells_within(attributes)
        known = {id(made): TableContributions(made, secret) for made in mechanism.drawn_by_design}
        self.strata = [known[id(made)] for made in mechanism.strata]

    def contributions(self, rows: np.ndarray) -> Contributions:
        """The contribution of a report to ``rows`` (q, cells) times the estimated table, whatever its stratum: at most this."""
        variances, parts = np.zeros(rows.shape), self.contributions_within(rows)
        for types, part in zip(self.types, parts, strict=True):
            variances[:, types] = np.maximum(variances[:, types], part.variances)
        low = np.min([part.means.max(axis=1) - part.down for part in parts], axis=0)
        high = np.max([part.means.min(axis=1) + part.up for part in parts], axis=0)
        return Contributions.between(rows, variances, low, high)

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions:
        return self.contributions(workload.rows(queries))


@dataclass(frozen=True, repr=False)
class StratifiedSurveyEstimate(SurveyEstimate):
    """The estimates ``parts`` of the strata, of as many ``people`` (K,), each of whom stands for so many ``times`` (K,)."""

    parts: tuple[SurveyEstimate, ...] = field(kw_only=True)
    mechanism: StratifiedSurveyMechanism = field(kw_only=True)
    people: np.ndarray = field(kw_only=True)
    times: np.ndarray = field(kw_only=True)

    @classmethod
    def of(
        cls, parts: Sequence[SurveyEstimate], mechanism: StratifiedSurveyMechanism, people: np.ndarray
    ) -> StratifiedSurveyEstimate:
        unbiased, users = all(part.unbiased for part in parts), math.fsum(part.users for part in parts)
        return cls(
            unbiased=unbiased,
            sizes=mechanism.sizes,
            users=users,
            parts=tuple(parts),
            mechanism=mechanism,
            people=people,
            times=np.ones(len(parts)),
        )

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return all(part.adds_up for part in self.parts)

    def weighted(self, times: np.ndarray) -> StratifiedSurveyEstimate:
        """The same reports, those of each stratum standing for so many ``times`` (K,) people."""
        return replace(self, times=times)

    def improved(self, workload: Workload, users: float | None, improve: Improve) -> StratifiedSurveyEstimate:
        """Each stratum with people, improved for what is asked there."""
        shares, parts = self.people / max(1, self.people.sum()), list(self.parts)
        for z, (_, few, scale) in enumerate(self.mechanism.within(workload)):
            if scale and shares[z]:
                own = None if users is None else users * float(shares[z])
                parts[z] = improve(parts[z], as_survey(few, parts[z].sizes), own)
        return self.of(parts, self.mechanism, self.people)

    def _table(self, members: Set) -> np.ndarray:
        table, secret = np.zeros(math.prod(self.sizes[i] for i in members)), self.mechanism._secret(members)
        for part, cells, times in zip(self.parts, self.mechanism.cells_within(members), self.times, strict=True):
            table[cells] += times * part.table(secret)
        return table

    def on(self, attributes: Sequence[int], identified: bool) -> Estimate:
        members = tuple(attributes)
        parts = [part.on(self.mechanism._secret(members), identified) for part in self.parts]
        return StratifiedEstimate.of(parts, self.mechanism.on(members), self.people)


@lru_cache(maxsize=64)
def strata_of(workload: Workload, sizes: tuple[int, ...], known: tuple[int, ...]) -> Strata | None:
    """The strata of ``workload`` on attributes of ``sizes``; None where it only asks what is ``known``."""
    strata = workload.strata
    if strata is not None and (strata.shape, strata.known) == (sizes, known):
        return strata
    survey = as_survey(workload, sizes)
    about = {i for group in survey.groups for i in group.attributes if sizes[i] > 1}
    return StratifiedSurvey(sizes, survey.groups, known, survey.axes).strata if about - set(known) else None


def _values(number: int, sizes: Sequence[int]) -> list[int]:
    """The values that a combination with this number has, the last one fastest."""
    values = []
    for size in reversed(sizes):
        number, value = divmod(number, size)
        values.append(value)
    return values[::-1]

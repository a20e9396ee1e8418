"""Mechanisms for surveys of people of whom the collector knows some attributes: a survey of the
other ones in each stratum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ldp_core.anova import Set
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.strata import InStrata, StratifiedEstimate, StratifiedMechanism
from ldp_core.mechanisms.surveys.estimates import Improve, SurveyEstimate, as_survey
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.people import Counts, people_of, records_of
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
    """In stratum z the survey ``drawn[which[z]]`` of the secret attributes of ``shape``; those at
    the places ``known`` are no secret.

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

    def _type(self, k: int, cell: int) -> int:
        number, step = 0, 1
        for i, size in reversed(list(enumerate(self.sizes))):
            if i in self.known:
                k, value = divmod(k, size)
            else:
                cell, value = divmod(cell, size)
            number, step = number + value * step, step * size
        return number

    def people_within(self, counts: Counts) -> Any:
        return people_of(counts, self.sizes).within(self.known)

    def _assigned(self, people: np.ndarray, rng: np.random.Generator) -> Any:
        records = records_of(people, self.sizes)
        secret = records[:, list(self.secret)]
        return self._cells_of(records.astype(np.int64), self.known), lambda z, some: secret[some]

    def _estimated(self, parts: Sequence[SurveyEstimate], people: np.ndarray) -> StratifiedSurveyEstimate:
        return StratifiedSurveyEstimate.of(parts, self, people)

    def _content(self) -> bytes:
        return repr((self.sizes, self.known)).encode()

    def cells_within(self, columns: Set) -> np.ndarray:  # type: ignore[override]
        sizes, known = self._shape_of(columns), [i for i in columns if i in self.known]
        places = [columns.index(i) for i in (*known, *(i for i in columns if i in self.secret))]
        cells = np.arange(math.prod(sizes)).reshape(sizes).transpose(places)
        cells = cells.reshape(*self._shape_of(known), -1)
        whole = self._shape_of(self.known)
        placed = cells[tuple(slice(None) if i in known else None for i in self.known)]
        return np.broadcast_to(placed, (*whole, placed.shape[-1])).reshape(len(self.strata), -1)

    def secret_of(self, columns: Sequence[int]) -> Set:
        """The places, among the secret attributes, of those of ``columns``."""
        return tuple(self.secret.index(i) for i in columns if i in self.secret)

    # --- questions and errors -----------------------------------------------------------------------------------

    def within(self, workload: Workload) -> list[tuple[SurveyMechanism, Workload, float]]:
        strata = strata_of(workload, self.sizes, self.known)
        if strata is None:
            return [(made, workload, 0.0) for made in self.strata]
        each = zip(self.strata, strata.which, strata.scale.tolist(), strict=True)
        return [(made, strata.designs[d], scale) for made, d, scale in each]

    def knows(self, attributes: Sequence[int]) -> bool:
        return all(made.knows(self.secret_of(attributes)) for made in self.strata)

    def surveys(self, workload: Workload) -> list[Survey]:
        sizes = tuple(self.sizes[i] for i in self.secret)
        return [as_survey(local, sizes) for local in {local for _, local, scale in self.within(workload) if scale}]

    def profile_of(self, workload: Workload) -> np.ndarray:
        """(K,) what people of each stratum add: all of them for surveys that treat the values of
        each attribute alike, else the worst type. (n,) for questions that are no survey."""
        worst = np.array(self._of_each(workload, lambda made, local: float(made.profile_of(local).max())))
        if workload.survey is not None:
            return worst
        profile = np.zeros(self.n)
        for value, types in zip(worst, self.cells_within(tuple(range(len(self.sizes)))), strict=True):
            profile[types] = value
        return profile

    def cell_variances(self, columns: Set, people: Any) -> np.ndarray:
        variances, secret = np.zeros(math.prod(self._shape_of(columns))), self.secret_of(columns)
        for made, cells, users in zip(self.strata, self.cells_within(columns), self.people_within(people), strict=True):
            variances[cells] += made.cell_variances(secret, users)
        return variances

    @property
    def dimensions(self) -> int:
        return max(made.dimensions for made in self.drawn_by_design)

    def explain_with(self, names: Sequence[str]) -> str:
        return self._explained(self.drawn_by_design[0].explain_with([names[i] for i in self.secret]))


@dataclass(frozen=True, repr=False)
class StratifiedSurveyEstimate(SurveyEstimate):
    """The estimates ``parts`` of the strata, of as many ``people`` (K,), each of whom stands for so
    many ``times`` (K,)."""

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
        for z, (_, local, scale) in enumerate(self.mechanism.within(workload)):
            if scale and shares[z]:
                total = None if users is None else users * float(shares[z])
                parts[z] = improve(parts[z], as_survey(local, parts[z].sizes), total)
        return self.of(parts, self.mechanism, self.people)

    def _table(self, members: Set) -> np.ndarray:
        table, secret = np.zeros(math.prod(self.sizes[i] for i in members)), self.mechanism.secret_of(members)
        for part, cells, times in zip(self.parts, self.mechanism.cells_within(members), self.times, strict=True):
            table[cells] += times * part.table(secret)
        return table

    def on(self, attributes: Sequence[int], identified: bool) -> Estimate:
        secret, cells = self.mechanism.secret_of(attributes), self.mechanism.cells_within(tuple(attributes))
        return StratifiedEstimate.of([part.on(secret, identified) for part in self.parts], cells, self.people)


@lru_cache(maxsize=64)
def strata_of(workload: Workload, sizes: tuple[int, ...], known: tuple[int, ...]) -> Strata | None:
    """The strata of ``workload`` on attributes of ``sizes``; None where it only asks what is
    ``known``."""
    strata = workload.strata
    if strata is not None and (strata.shape, strata.known) == (sizes, known):
        return strata
    survey = as_survey(workload, sizes)
    about = {i for group in survey.groups for i in group.attributes if sizes[i] > 1}
    return StratifiedSurvey(sizes, survey.groups, known, survey.axes).strata if about - set(known) else None

"""Mechanisms for people of whom the collector knows some attributes: one mechanism for the secret
types in each stratum.

A device draws its report from the secret type alone, and sends it with its stratum in the clear.
Estimates of strata are independent, so that variances add. The guarantee is about the secret
attributes; nothing protects the known ones. See `ldp_core.workloads.strata`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import (
    Estimate,
    Mechanism,
    Reports,
    check_generator,
    check_reports,
    check_values,
)
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.files import PATTERNS, STRATEGIES, MechanismFile
from ldp_core.mechanisms.moments import TYPES, Contributions, Ends, Moments, Rows, as_rows
from ldp_core.mechanisms.parts import InParts, stacked
from ldp_core.people import Counts, checked_counts, dense
from ldp_core.run import Check, unchecked
from ldp_core.wording import magnitude
from ldp_core.workloads import Representatives, Workload


class InStrata(InParts):
    """In stratum z, the mechanism ``drawn[which[z]]`` for its secret types. A raw report is the
    number of the stratum and a report of its mechanism."""

    strata: Sequence[Any]
    """(K,) the mechanism of each stratum."""
    drawn_by_design: tuple[Mechanism, ...]
    which: np.ndarray
    part_name, filler, guarantee = "a group", 0, "{}, within each group that the collector knows"

    def _draw(self, drawn: Sequence[Mechanism], which: np.ndarray) -> tuple[str, float]:
        """Takes over the mechanisms; their name, and the largest epsilon of them."""
        self.drawn_by_design, self.which = tuple(drawn), np.asarray(which, dtype=np.int64)
        self.delta = max(made.delta for made in self.drawn_by_design)
        self.protects_all = all(made.protects_all for made in self.drawn_by_design)
        self.lost = max((made.lost for made in self.drawn_by_design if made.lost is not None), default=None)
        self.strata = self.parts = tuple(self.drawn_by_design[i] for i in self.which)
        tables = (made for made in self.drawn_by_design if isinstance(made.drawn, ExplicitMechanism))
        first = next(tables, self.drawn_by_design[0])  # groups of one fit may have closed forms
        return first.name, max(made.epsilon for made in self.drawn_by_design)

    @abstractmethod
    def _with(self, drawn: Sequence[Mechanism]) -> InStrata:
        """The same strata with other mechanisms."""

    @abstractmethod
    def people_within(self, counts: Counts) -> Any:
        """(K,) those of the people ``counts`` who are in each stratum."""

    @abstractmethod
    def cells_within(self, columns: Any = TYPES) -> np.ndarray:
        """(K, m) the cells of the table of ``columns`` that people of each stratum may be in."""

    def secret_of(self, columns: Any) -> Any:
        """The secret ones of ``columns``, numbered as the mechanisms of the strata number them."""
        return columns

    @abstractmethod
    def within(self, workload: Workload) -> list[tuple[Any, Workload, float]]:
        """What is asked within each stratum.

        Parameters
        ----------
        workload : the questions about all types.

        Returns
        -------
        (K,) the mechanism of a stratum, a workload on its secret types, and a number: once
        multiplied by it squared, errors are those of ``workload`` there. It is 0 where nothing
        secret is asked.

        Raises
        ------
        ValueError
            Where the workload has other types.
        """

    @abstractmethod
    def _estimated(self, parts: Sequence[Any], people: np.ndarray) -> Estimate:
        """The estimate from those of all strata, of as many ``people`` (K,)."""

    def __repr__(self) -> str:
        epsilons = [made.epsilon for made in self.strata]
        if len({*epsilons}) == 1:
            return super().__repr__()
        types = magnitude(self.n)
        return f"<{self.name} mechanism: {types} types, epsilon by group {', '.join(f'{epsilon:g}' for epsilon in epsilons)}>"

    def _identity(self) -> dict[str, Any]:
        return {"drawn": [made.digest for made in self.strata]}

    @property
    def bits_per_report(self) -> float:
        """On average over the strata, the stratum itself left out."""
        return float(np.mean([made.bits_per_report for made in self.strata]))

    @property
    def bytes_held(self) -> int:
        return sum(made.bytes_held for made in self.drawn_by_design)

    @property
    def consistent(self) -> Mechanism:
        """The same collection with answers that add up within each stratum."""
        drawn = [made.consistent for made in self.drawn_by_design]
        same = all(mine is theirs for mine, theirs in zip(drawn, self.drawn_by_design, strict=True))
        return self if same else self._with(drawn)

    def files(self) -> tuple[MechanismFile, ...]:
        """The files of all designs: those of one as they would be alone, of several together.
        ValueError where they are too large together."""
        by_design = [made.files() for made in self.drawn_by_design]
        if len(by_design) == 1:
            return by_design[0]
        written = dict[str, list[tuple[int, MechanismFile]]]()
        for k, files in enumerate(by_design):
            for file in files:
                written.setdefault(file.name, []).append((k, file))
        return tuple(self._together_in_file(files) for files in written.values())

    def _together_in_file(self, files: list[tuple[int, MechanismFile]]) -> MechanismFile:
        """One file of several, each with the number of its design. Tables and strategies are
        numbered, and documents in a list."""
        count, first = len(self.drawn_by_design), files[0][1]
        if first.name == PATTERNS:
            facts = {"patterns": sum(file.facts["patterns"] for _, file in files)}

            def document() -> dict[str, Any]:
                return {"designs": [file.content() for _, file in files], "which": self.which.tolist()}

            about = f"the patterns of {count:,} designs, each for some of the groups, plain JSON"
            return replace(first, facts=facts, about=about, content=document)
        about = f"the probabilities of {count:,} designs, each for some of the groups, plain numbers only"
        if sum(array.size for _, file in files for array in file.content().values()) > MOST_STRATEGY_ENTRIES:
            raise ValueError(
                f"The strategies of {count:,} different designs of groups have more than the {MOST_STRATEGY_ENTRIES:,} entries that are kept "
                "in a file: use coarser bins, or ask the same questions of every group."
            )

        if first.name == STRATEGIES:

            def strategies() -> dict[str, Any]:
                arrays = [array for _, file in files for array in file.content().values()]
                return {str(k): array for k, array in enumerate(arrays)}

            return replace(first, about=about, content=strategies)

        def content() -> dict[str, Any]:
            arrays = {f"{name}{k or ''}": array for k, file in files for name, array in file.content().items()}
            return {**arrays, "which": self.which.astype(float)}

        underlying = [
            made.drawn if isinstance(made.drawn, ExplicitMechanism) else made for made in self.drawn_by_design
        ]
        facts = {**first.facts, "parameters": [dict(made.parameters) for made in underlying]}
        return replace(first, facts=facts, about=about, content=content)

    # --- questions and errors -----------------------------------------------------------------------------------

    def supports(self, workload: Workload) -> str | None:
        try:
            distinct = {(id(made), local): (made, local) for made, local, scale in self.within(workload) if scale}
        except ValueError as error:
            return str(error)
        return next((reason for made, local in distinct.values() if (reason := made.supports(local))), None)

    def _of_each(self, workload: Workload, error: Callable[[Any, Workload], Any]) -> list[Any]:
        """(K,) an ``error`` of each stratum, worked out once for those that are alike. ValueError
        where the workload cannot be answered."""
        self.check_supports(workload)
        errors, each = dict[tuple[int, Workload], Any](), self.within(workload)
        for made, local, scale in each:
            if scale and (id(made), local) not in errors:
                errors[id(made), local] = error(made, local)
        return [scale**2 * errors[id(made), local] if scale else 0.0 for made, local, scale in each]

    def average_of(self, workload: Workload) -> float:
        return float(np.mean(self._of_each(workload, lambda made, local: made.average_of(local))))

    def variance_on(self, workload: Workload, counts: Counts) -> float:
        self.check_supports(workload)
        each = zip(self.within(workload), self.people_within(counts), strict=True)
        return math.fsum(scale**2 * made.variance_on(local, people) for (made, local, scale), people in each if scale)

    def _of_rows(
        self, rows: Rows | np.ndarray, columns: Any
    ) -> Iterator[tuple[Any, np.ndarray, np.ndarray, np.ndarray]]:
        """For each stratum its mechanism, its cells, which ``rows`` are about these (of groups most
        are about one), and the rows there."""
        rows = as_rows(rows).rows
        for made, cells in zip(self.strata, self.cells_within(columns), strict=True):
            restricted = rows[:, cells]
            about = np.any(restricted, axis=1)
            yield made, cells, about, restricted[about]

    def variances_by_type(self, rows: Rows | np.ndarray, columns: Any = TYPES) -> np.ndarray:
        """(q, cells) the most over the strata that people of a cell may be of."""
        variances, secret = np.zeros(as_rows(rows).rows.shape), self.secret_of(columns)
        for made, cells, about, restricted in self._of_rows(rows, columns):
            here = np.ix_(about, cells)
            variances[here] = np.maximum(variances[here], made.variances_by_type(restricted, secret))
        return variances

    def linear_variances(self, rows: Rows | np.ndarray, counts: Counts, columns: Any = TYPES) -> np.ndarray:
        variances, secret = np.zeros(len(as_rows(rows).rows)), self.secret_of(columns)
        each = zip(self._of_rows(rows, columns), self.people_within(counts), strict=True)
        for (made, _, about, restricted), people in each:
            if about.any():
                variances[about] += made.linear_variances(restricted, people, secret)
        return variances

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        """The farthest of all strata."""
        ends, secret = np.zeros((len(self.strata), 2, len(rows.rows))), self.secret_of(columns)
        for end, (made, _, about, restricted) in zip(ends, self._of_rows(rows, columns), strict=True):
            end[:, about] = made.ends(Rows(restricted), secret)[:2]
        return Ends(ends[:, 0].min(axis=0), ends[:, 1].max(axis=0))

    def central_moments(self, questions: Any, columns: Any = TYPES) -> Moments:
        """By cells, as each stratum has its own root."""
        rows = isinstance(questions, Rows)
        return [(columns, self.variances_by_type(questions, columns) if rows else self.variance_profile(questions))]

    def contributions_within(self, rows: np.ndarray, columns: Any = TYPES) -> list[Contributions]:
        """What a report of each stratum adds to linear questions.

        Parameters
        ----------
        rows : (q, cells) the questions, on the table of ``columns``.

        Returns
        -------
        (K,) the contributions to each row times the estimated table, stratum by stratum.
        """
        secret = self.secret_of(columns)
        return [
            made.contributions(restricted, secret).among(about)
            for made, _, about, restricted in self._of_rows(rows, columns)
        ]

    # --- reports ------------------------------------------------------------------------------------------------

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """The reports of a collection, stratum by stratum. Simulation only."""
        check_generator(rng)
        each = zip(self.strata, self.people_within(counts), strict=True)
        return self._joined([made.simulate(people, rng) for made, people in each])

    def estimate(self, reports: Reports) -> Any:
        check_reports(reports, self.digest)
        each = zip(self.strata, self.reports_of(reports), strict=True)
        return self._estimated([made.estimate(sent) for made, sent in each], reports.arrays[0])

    def explain(self) -> str:
        return self._explained(self.drawn_by_design[0].explain())

    def _explained(self, first: str) -> str:
        count = len(self.drawn_by_design)
        others = "" if count == 1 else f" This is the first of {count:,} designs for them."
        return (
            f"{first} The collector knows which of {len(self.strata):,} groups each person is in; reports are "
            f"about the rest.{others}"
        )


class StratifiedMechanism(InStrata):
    """In stratum z, the types ``types[z]`` of ``types`` (K, m), the mechanism ``drawn[which[z]]``
    for m secret types.

    ValueError for mechanisms that do not fit the types.
    """

    def __init__(
        self,
        drawn: Sequence[Mechanism],
        which: np.ndarray,
        types: np.ndarray,
        parameters: Mapping[str, Any] | None = None,
    ):
        self.types = np.asarray(types, dtype=np.int64)
        if any(made.n != self.types.shape[1] or made.survey is not None for made in drawn):
            raise ValueError("Each stratum needs a mechanism for its secret types, and none for surveys.")
        self.name, epsilon = self._draw(drawn, which)
        super().__init__(self.types.size, epsilon, parameters or {})
        self.stratum, self.secret = np.divmod(np.argsort(self.types.ravel()), self.types.shape[1])

    @property
    def promised(self) -> np.ndarray:
        return self._unordered(np.concatenate([made.promised for made in self.strata]))

    def _with(self, drawn: Sequence[Mechanism]) -> StratifiedMechanism:
        return StratifiedMechanism(drawn, self.which, self.types, {**self.parameters, **drawn[0].parameters})

    def _type(self, k: int, cell: int) -> int:
        return int(self.types[k, cell])

    def people_within(self, counts: Counts) -> Any:
        return np.asarray(dense(checked_counts(counts, self.n)))[self.types]

    def cells_within(self, columns: Any = TYPES) -> np.ndarray:
        return self.types

    def _assigned(self, people: np.ndarray, rng: np.random.Generator) -> Any:
        values = check_values(people, self.n)
        return self.stratum[values], lambda z, some: self.secret[values[some]]

    def _estimated(self, parts: Sequence[Estimate], people: np.ndarray) -> Estimate:
        return StratifiedEstimate.of(parts, self.types, people)

    def _content(self) -> bytes:
        return self.types.tobytes()

    @property
    def bytes_held(self) -> int:
        return super().bytes_held + 3 * self.types.nbytes

    @property
    def strategy(self) -> np.ndarray | None:
        """(m, n) Q where it is small enough to write out: reports of the first stratum first."""
        tables = [made.strategy for made in self.strata]
        if (
            any(Q is None for Q in tables)
            or sum(len(Q) for Q in tables if Q is not None) * self.n > MOST_STRATEGY_ENTRIES
        ):
            return None
        return self._unordered(linalg.block_diag(*tables))

    def _unordered(self, by_stratum: np.ndarray) -> np.ndarray:
        """(..., n) in the order of the types, from stratum after stratum."""
        return by_stratum[..., np.argsort(self.types.ravel())]

    @cached_property
    def channel(self) -> LinearOperator | None:
        """(m, n) Q where reports keep how often each output was sent."""
        channels, order = [made.channel for made in self.strata], np.argsort(self.types.ravel())
        if any(Q is None for Q in channels):
            return None

        def of_types(parts: Sequence[np.ndarray]) -> np.ndarray:
            return np.concatenate(parts)[order]

        return stacked(channels, lambda x: [x[types] for types in self.types], of_types, self.n)

    # --- errors -----------------------------------------------------------------------------------------

    def within(self, workload: Workload) -> list[tuple[Mechanism, Workload, float]]:
        if reason := Mechanism.supports(self, workload):
            raise ValueError(reason)
        strata = workload.strata
        # answers of a mechanism that is not consistent depend on how questions are put
        raw = any(made.consistent is not made for made in self.drawn_by_design)
        if strata is not None and np.array_equal(strata.types, self.types) and not (raw or strata.constant.any()):
            workloads, scales = [strata.designs[d] for d in strata.which], strata.scale.tolist()
        else:
            workloads, scales = [Representatives(workload, types) for types in self.types], [1.0] * len(self.strata)
        scales = [scale * bool(local.gram_diag.any()) for local, scale in zip(workloads, scales, strict=True)]
        return list(zip(self.strata, workloads, scales, strict=True))

    def variance_profile(self, workload: Workload, check: Check = unchecked) -> np.ndarray:
        def error(made: Mechanism, local: Workload) -> np.ndarray:
            check()
            return made.variance_profile(local, check)

        parts = self._of_each(workload, error)
        return self._unordered(np.concatenate([np.broadcast_to(part, self.types.shape[1]) for part in parts]))

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        covariance = np.zeros((self.n, self.n))
        for made, types, users in zip(self.strata, self.types, np.asarray(counts)[self.types], strict=True):
            covariance[np.ix_(types, types)] = made.covariance(users)
        return covariance

    def contributions(self, rows: Rows | np.ndarray, columns: Any = TYPES) -> Contributions:
        """What a report adds, whatever its stratum: one of two values only where that is so in all
        strata, with the same two."""
        parts = self.contributions_within(as_rows(rows).rows)

        def of_all(name: str) -> list[np.ndarray]:
            return [getattr(part, name) for part in parts]

        means, variances = (self._unordered(np.hstack(of_all(name))) for name in ("means", "variances"))
        up, down = (np.max(of_all(name), axis=0) for name in ("up", "down"))
        low, high = (np.where(np.ptp(of_all(name), axis=0) == 0, of_all(name)[0], np.nan) for name in ("low", "high"))
        return Contributions(means, variances, up, down, low, high, max(part.parts for part in parts))


@dataclass(frozen=True, repr=False)
class StratifiedEstimate(Estimate):
    """The estimates ``parts`` of the strata, of as many ``people`` (K,), about the ``cells`` (K, m)
    of a table, such as that of all types."""

    parts: tuple[Estimate, ...]
    cells: np.ndarray
    people: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Estimate], cells: np.ndarray, people: np.ndarray) -> StratifiedEstimate:
        counts = np.zeros(cells.max() + 1)
        for part, places in zip(parts, cells, strict=True):
            counts[places] += part.estimated_counts
        identified = all(part.identified for part in parts)
        return cls(counts, all(part.unbiased for part in parts), tuple(parts), cells, people, identified=identified)

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return all(part.adds_up for part in self.parts)

    @property
    def total(self) -> float:
        return float(self.people.sum())

    def counts(self) -> np.ndarray | None:
        """(n,) the counts of all strata, None where one does not identify its own."""
        return None if any(part.counts() is None for part in self.parts) else super().counts()

    def consistent(self, users: float) -> Estimate:
        """The estimate with answers that add up within each stratum, to ``users`` of all."""
        shares = users * self.people / max(1, self.people.sum())
        parts = [part.consistent(float(share)) for part, share in zip(self.parts, shares, strict=True)]
        return StratifiedEstimate.of(parts, self.cells, self.people)

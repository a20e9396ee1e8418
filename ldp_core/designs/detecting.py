"""The differences that a design compares, how many people find one of a size, and which one its people find."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ldp_core import analysis, detection, verdicts, wording
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads import Detect

MEANING = (
    "The power is the chance to find a difference that is there; the level is the chance to find one where there is none, on either side. "
    "The chance of who takes part is counted."
)
GROUPS = "the two groups compared"
COLLECTIONS = "two collections (this month's and the next, say)"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Detection:
    """What is compared ``between`` whom: ``name``, ``unit``, ``target`` (the difference to detect), ``users_needed`` for that, and
    ``difference``, the least that the ``expected`` people of the design find; in ``table``, a row an answer."""

    table: pd.DataFrame
    between: str
    expected: int

    def in_words(self) -> str:
        """What the table comes to, by the answer that needs the most people."""
        groups, row = self.between == GROUPS, self.table.loc[self.table["users_needed"].idxmax()]
        answers = "" if len(self.table) == 1 else f" in each of {len(self.table):,} answers"
        target, found = (verdicts.in_unit(row[name], row["unit"]) for name in ("target", "difference"))
        each = "" if groups else " in each"
        return (
            f"{wording.needed(row['users_needed'])} people{each} find a difference of {target} between {self.between}{answers}. "
            f"{wording.plural(self.expected, 'person', 'people')}{each} find differences from {found} up."
        )


def of_design(setting: Setting, mechanism: Mechanism, target: Detect | None = None) -> Detection:
    """The differences that the questions ask for, for their own targets or for ``target``; or else any answer in two collections, by default for
    a difference that its target error finds. ValueError, one sentence, where single answers take too long, or nothing is compared."""
    told = setting.answered(mechanism)
    compared = told[told["finds"].notna() & (told["finds"] > _ROUNDING)]
    if len(compared):
        each = [_between_groups(setting, mechanism, k, target) for k in range(len(setting.answers.lines))]
        table = pd.concat(each, ignore_index=True)
        table = table[table["difference"] > _ROUNDING].reset_index(drop=True)
        return Detection(table[["name", "unit", "target", "users_needed", "difference"]], GROUPS, setting.users)
    rows = [_two_collections(setting, mechanism, k, target) for k in range(len(setting.answers.lines))]
    table = pd.concat(rows, ignore_index=True)
    table = table[table["difference"] > _ROUNDING].reset_index(drop=True)
    if table.empty:
        raise ValueError("Every answer compared is known without a report, so there is no difference to detect.")
    return Detection(table, COLLECTIONS, setting.users)


def _between_groups(setting: Setting, mechanism: Mechanism, k: int, target: Detect | None) -> pd.DataFrame:
    """Each difference that a question asks for; none where it asks for other answers."""
    line = setting.answers.lines[k]
    if not isinstance(line.target, Detect):
        return pd.DataFrame()
    asked = target or line.target
    contrasts = analysis.contrasts(mechanism, line, setting.counts, setting.cases[setting.case])
    needed = contrasts.users(asked.difference / line.unit.factor, asked.power, asked.level)
    found = line.unit.factor * contrasts.difference(setting.users, asked.power, asked.level)
    names = [line.told.query_name(query) for query in range(line.told.num_queries)]
    numbers = {"target": asked.difference, "users_needed": needed, "difference": found}
    return pd.DataFrame({"name": names, "unit": line.key, **numbers})


def _two_collections(setting: Setting, mechanism: Mechanism, k: int, target: Detect | None) -> pd.DataFrame:
    """Each answer to a question, in two collections of as many people each as the design has."""
    line, told = setting.answers.lines[k], setting.answered(mechanism)
    own, many = told[told["line"] == k], setting.users if line.unit.total else 1.0
    queries = own["query"].to_numpy()
    asked = target or Detect(many * detection.reach(detection.POWER, detection.LEVEL) * line.standard_error)
    contrasts = detection.of_collections(mechanism, line, setting.counts, queries)
    found = many * line.unit.factor * contrasts.difference(setting.users, asked.power, asked.level)
    needed = contrasts.users(asked.difference / many / line.unit.factor, asked.power, asked.level)
    numbers = {"target": asked.difference, "users_needed": needed, "difference": found}
    return pd.DataFrame({"name": own["name"], "unit": line.key, **numbers})

"""``audit``: the promise of a design, or of somebody's own strategy matrix, in exact arithmetic,
and its costs."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Sequence
from typing import Any

from ldp_core import analysis, wording
from ldp_core.deploy.commands import files, terminal, working
from ldp_core.deploy.kit import package
from ldp_core.designs import Setting, ready
from ldp_core.limits import MOST_EXACT_TYPES
from ldp_core.mechanisms import ExplicitMechanism, strategy_files
from ldp_core.mechanisms.base import Audit, Mechanism
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    content = files.content(given.file)
    if not strategy_files.is_matrix(content):
        if given.questions:
            raise ValueError("A design has questions of its own: give --questions with a strategy matrix only.")
        result = _of_design(given, stop)
    elif given.questions:
        result = _of_matrix(given, content, stop)
    else:
        mechanism = ExplicitMechanism("own", strategy_files.read_strategy(content), MAX_EPSILON)
        result = _audited(mechanism, mechanism.audit())
    terminal.show(given, stop, result, lambda: terminal.facts(_facts(result)))


def _of_design(given: argparse.Namespace, stop: threading.Event) -> dict[str, Any]:
    bundle, setting = working.opened(given.file, given, stop)
    mechanism = working.built(setting, setting.chosen, stop, bundle)
    result = _audited(mechanism, mechanism.audit(), setting.labels, setting.chosen) | {
        "claimed_epsilon": setting.epsilon
    }
    if reason := setting.too_expensive(mechanism.name):
        return result | {"missing": reason}
    return result | _judged(setting, mechanism, setting.case, stop)


def _of_matrix(given: argparse.Namespace, content: bytes, stop: threading.Event) -> dict[str, Any]:
    """Judged at the epsilon of the questions' design where the matrix keeps that, else at its own."""
    bundle, setting = working.opened(given.questions, given, stop)
    strategy = strategy_files.read_strategy(content, setting.workload.n, setting.labels)
    mechanism = ExplicitMechanism("own", strategy, setting.epsilon)
    audit = mechanism.audit()
    result = _audited(mechanism, audit, setting.labels) | {"claimed_epsilon": setting.epsilon}
    if not audit.epsilon <= setting.epsilon:
        if not MIN_EPSILON <= audit.epsilon <= MAX_EPSILON:
            return result | {"missing": f"Costs are worked out for epsilon from {MIN_EPSILON:g} to {MAX_EPSILON:g}."}
        configuration = setting.configuration.with_(epsilon=wording.rounded_up(audit.epsilon, 12))
        setting = ready(configuration, files.table(given.data, bundle.configuration), stop)
    if setting.workload.working_types > MOST_EXACT_TYPES:
        return result | {"missing": f"Exact errors are worked out for at most {MOST_EXACT_TYPES:,} types."}
    return result | _judged(setting, mechanism, analysis.WORST_CASE.name, stop)


def _audited(mechanism: Mechanism, audit: Audit, labels: Sequence[str] | None = None, name: str = "") -> dict[str, Any]:
    """The result has the names of the best distinguished types if these have ``labels``."""
    named: dict[str, Any] = (
        {} if labels is None else {"worst_pair_named": [labels[place] for place in audit.worst_pair]}
    )
    return named | {
        "mechanism": name or mechanism.name,
        "types": mechanism.n,
        "audited_epsilon": audit.epsilon,
        "audited_delta": audit.delta,
        "method": audit.method,
        "worst_pair": list(audit.worst_pair),
    }


def _judged(setting: Setting, mechanism: Mechanism, case: str, stop: threading.Event) -> dict[str, Any]:
    """True if the questions can be answered, and if so what that takes, in every case."""
    if reason := mechanism.supports(setting.workload):
        return {"answers_the_questions": False, "reason": reason}
    working.prove(setting, stop, package.to_prove(setting, searched=False))
    terminal.begin("Working out the errors")
    costs = setting.costs(mechanism)
    chosen = costs[costs["case"] == case].iloc[0]
    judged = {name: chosen[name] for name in ("users_needed", "users_bound", "gap")} | {"cases": costs}
    where = {"answers_the_questions": True, "judged_at_epsilon": setting.epsilon, "case": case}
    return where | judged


def _facts(result: dict[str, Any]) -> dict[str, str]:
    epsilon, claimed = result["audited_epsilon"], result.get("claimed_epsilon")
    answered = result.get("answers_the_questions")
    pair = result.get("worst_pair_named")
    certain = "none: a report can tell two types apart for certain"
    facts = {
        "Epsilon": wording.rounded_up(epsilon, 12) if math.isfinite(epsilon) else certain,
        "How": result["method"],
        "Told apart best": " and ".join(pair)
        if pair
        else "types {} and {}, counted from 0".format(*result["worst_pair"]),
    }
    if result["audited_delta"]:
        facts["Delta"] = wording.significant(result["audited_delta"])
    if claimed is not None:
        facts["Promised"] = f"{claimed:g}: {'kept' if epsilon <= claimed else 'NOT KEPT'}"
    if answered is not None:
        facts["Answers the questions"] = "yes" if answered else f"no. {result['reason']}"
    if answered:
        facts["People needed"] = f"{wording.needed(result['users_needed'])}, {working.WHOSE[result['case']]}"
        least = wording.at_least(result["users_bound"])
        facts["Proved minimum"] = f"{least} at epsilon {result['judged_at_epsilon']:g}"
        facts["Of the minimum, at most"] = wording.gap(result["gap"])
    return facts

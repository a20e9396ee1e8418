"""``design``: the mechanism of a configuration, what it costs, and the zip that the app exports."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Iterator
from typing import Any

from ldp_core import detection, frames, library, wording
from ldp_core.deploy.commands import files, terminal, working
from ldp_core.deploy.kit import package
from ldp_core.designs import Setting, audited_in_words, detecting, open_values
from ldp_core.workloads import Detect


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    setting = fitted(given, stop)
    costs = _costs(setting)
    if given.detect is not None:
        found = detecting.of_design(setting, setting.chosen_mechanism, _target(given))
        costs["detection"] = {"between": found.between, "in_words": found.in_words(), "answers": found.table}
    if given.output:
        outcome, proof = package.outcome_of(setting, given.errors_on_data), package.certificate_of(setting)
        content = package.design(setting.recorded, outcome, setting.chosen_mechanism, certificate=proof)
        files.write(given.output, content)
    terminal.show(given, stop, costs | {"file": given.output}, lambda: _text(setting, costs, given.output))


def _target(given: argparse.Namespace) -> Detect | None:
    """The difference to detect, where one is given; else that of the design."""
    if given.detect is True:
        return None
    if not 0 < given.detect < math.inf:
        raise ValueError(f"A difference to detect must be above 0, in the unit of the answers; got {given.detect:g}.")
    power, level = given.power or detection.POWER, given.significance or detection.LEVEL
    detection.reach(power, level)  # refused before anything is fitted
    return Detect(given.detect, power, level)


def fitted(given: argparse.Namespace, stop: threading.Event) -> Setting:
    """The design of a file, its mechanism from there or fitted, and what none can beat proved. A strategy in the file is used as
    it is, unless a time limit or a seed asks for another."""
    changes = {"time_limit": given.time_limit, "seed": given.seed}
    bundle, setting = working.opened(given.config, given, stop, "optimizer", **changes)
    name = setting.chosen
    loaded = bundle if setting.configuration.optimizer == bundle.configuration.optimizer else None
    if (loaded is None or loaded.mechanism is None) and (warning := setting.outgrows_a_kit(name)):
        terminal.say(warning)
    again = loaded is None and library.spec(name).aimed
    working.prove(setting, stop, [setting.case] * again + package.to_prove(setting))
    working.built(setting, name, stop, loaded)
    terminal.begin("Working out the errors")
    return setting


def _costs(setting: Setting) -> dict[str, Any]:
    mechanism, case = setting.chosen_mechanism, setting.case
    audit = mechanism.audit()
    result: dict[str, Any] = {
        "mechanism": setting.chosen,
        "epsilon": setting.epsilon,
        "audited_epsilon": audit.epsilon,
        "audited_delta": audit.delta,
        "promise": audit.promise,
        "users": setting.users,
        "case": case,
        "users_needed": None,
        "users_no_mechanism_can_do_without": {name: setting.bounds(name) for name in setting.cases},
        "gap": None,
        "questions": None,
    }
    try:
        return result | {
            "users_needed": setting.users_needed(mechanism, case),
            "gap": setting.gap(mechanism, case),
            "questions": setting.lines(mechanism),
            "cases": setting.costs(mechanism),
        }
    except ValueError as error:
        return result | {"missing": str(error)}


def _text(setting: Setting, costs: dict[str, Any], written: str | None) -> Iterator[str]:
    c, case, mechanism = setting.configuration, costs["case"], setting.chosen_mechanism
    limits = costs["users_no_mechanism_can_do_without"][case]
    yield f"{setting.titled(setting.chosen)}, epsilon {c.epsilon}, for {'' if c.workload is None else c.workload.summary}"
    yield ""
    if costs["questions"] is not None:
        yield from (setting.verdict(mechanism), "", *costs["questions"]["in_words"], "")
    facts = {
        "People needed": "not worked out" if costs["users_needed"] is None else wording.needed(costs["users_needed"]),
        "Proved minimum": f"{wording.at_least(max(limits.values()))} ({frames.BOUND_TITLES[frames.strongest(limits)]})",
        "Of the minimum, at most": "unknown" if costs["gap"] is None else wording.gap(costs["gap"]),
        "Counted for": working.WHOSE[case],
        "Target": setting.error_in_words(1.0),
        "Audited epsilon": audited_in_words(costs["audited_epsilon"], mechanism.audit()),
        "People": f"{wording.count(setting.users)}, {'counted' if setting.on_data else 'expected'}",
    }
    yield from terminal.facts(facts)
    if costs["users_needed"] is not None and (spared := setting.spared(mechanism)):
        yield from ("", spared)
    if promise := open_values(c, mechanism.audit()):
        yield from ("", promise)
    if "detection" in costs:
        yield from ("", f"{costs['detection']['in_words']} {detecting.MEANING}")
    if written:
        yield from ("", f"Written to {written}.")

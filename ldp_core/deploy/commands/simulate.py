"""``simulate``: whole collections drawn at random, as the page Simulate draws them."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator

from ldp_core import estimators, library, studies, wording
from ldp_core.deploy.commands import files, terminal, working
from ldp_core.designs import Setting

WITHIN_GROUPS = {"name": ("Within groups", str), "unit": ("Unit", str)} | {
    name: (title, lambda value: "none" if value != value else wording.significant(value, 4))
    for name, title in {"true": "True", "observed": "Error observed", "predicted": "predicted"}.items()
}

HELP = "Simulate whole collections, and hold the errors that were observed against those predicted"


def arguments(parser: argparse.ArgumentParser) -> None:
    files.configuration_argument(parser)
    parser.add_argument(
        "--trials", type=int, metavar="N", help="collections to draw; without it as many as the configuration says"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the simulation, which no client may ever use")
    known = ", ".join(estimators.names())
    parser.add_argument("--estimators", nargs="+", metavar="NAME", help=f"how answers are made of reports: {known}")
    parser.add_argument(
        "--mechanisms", nargs="+", metavar="NAME", help="mechanisms to simulate; without it that of the configuration"
    )
    files.data_argument(parser)
    files.json_argument(parser)


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    asked = {"trials": given.trials, "seed": given.seed, "estimators": given.estimators}
    bundle, setting = working.opened(given.config, given, stop, "simulation", **asked)
    for name in setting.configuration.simulation.estimators:
        estimators.spec(name)
    names = working.asked_for(setting, given.mechanisms or [setting.chosen])
    mechanisms, _ = working.several(setting, names, stop, bundle)
    terminal.begin("Simulating")
    result = setting.simulated(mechanisms, cancel=stop)
    for mechanism, estimator, reason in result.skipped:
        title = estimators.spec(estimator).title
        terminal.say(f"{title} is left out for {library.spec(mechanism).title}. {reason}")
    views = {name: getattr(result, name) for name in ("errors", "groups", "queries", "intervals")}
    views["within_groups"] = result.ratios
    settings = {"seed": setting.configuration.simulation.seed, "users": setting.users, "trials": result.trials}
    terminal.show(given, stop, settings | views, lambda: _text(setting, result))


def _text(setting: Setting, result: studies.outcomes.Outcomes) -> Iterator[str]:
    scale = setting.scale

    def said(value: float) -> str:
        return "none" if value != value else f"{scale.text(value)} {scale.short}"

    columns: terminal.Columns = {
        "mechanism": ("Mechanism", lambda name: library.spec(name).title),
        "estimator": ("Estimate", lambda name: estimators.spec(name).title),
        "observed": ("Error observed", said),
        "standard_error": ("give or take", said),
        "predicted": ("predicted", said),
    }
    yield from terminal.table(result.errors, columns)
    if len(result.ratios):
        whose = {name: columns[name] for name in ("mechanism", "estimator")}
        yield from ("", *terminal.table(result.ratios, whose | WITHIN_GROUPS))
    yield ""
    yield (
        f"{wording.plural(result.trials, 'collection')} from {wording.count(setting.users)} people; the error of a typical answer "
        f"{'in percentage points (pp) of all people' if scale == wording.POINTS else scale.unit}. Exact predictions exist for unbiased "
        "estimates only."
    )

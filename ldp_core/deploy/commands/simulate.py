"""``simulate``: whole collections drawn at random, as the page Simulate draws them."""

from __future__ import annotations

import argparse
import threading

from ldp_core import estimators, library, studies, wording, workloads
from ldp_core.deploy.commands import files, terminal, working
from ldp_core.designs import Configuration, Setting, ready
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads.axes import axes_of

WITHIN_GROUPS: terminal.Columns = {"name": ("Within groups", str), "unit": ("Unit", str)} | {
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
    bundle = files.opened(given.config)
    asked = {"trials": given.trials, "seed": given.seed, "estimators": given.estimators}
    configuration = _told(bundle.configuration, {name: value for name, value in asked.items() if value is not None})
    setting = ready(configuration, files.table(given.data, configuration), stop)
    working.told(setting)
    names = working.asked_for(setting, given.mechanisms or [setting.chosen])
    mechanisms, _ = working.several(setting, names, stop, bundle)
    result = _simulated(setting, mechanisms, stop)
    for mechanism, estimator, reason in result.skipped:
        title = estimators.spec(estimator).title
        terminal.say(f"{title} is left out for {library.spec(mechanism).title}. {reason}")
    if given.json:
        views = {
            "errors": result.errors,
            "groups": result.groups,
            "queries": result.queries,
            "intervals": result.intervals,
            "within_groups": result.ratios,
        }
        settings = {"seed": configuration.simulation.seed, "users": setting.users, "trials": result.trials}
        terminal.write_json({**settings, **views, "stopped": stop.is_set()})
        return
    errors = result.errors.assign(
        mechanism=[library.spec(name).title for name in result.errors["mechanism"]],
        estimator=[estimators.spec(name).title for name in result.errors["estimator"]],
    )
    scale = setting.scale

    def said(value: float) -> str:
        return "none" if value != value else f"{scale.text(value)} {scale.short}"

    columns: terminal.Columns = {
        "mechanism": ("Mechanism", str),
        "estimator": ("Estimate", str),
        "observed": ("Error observed", said),
        "standard_error": ("give or take", said),
        "predicted": ("predicted", said),
    }
    terminal.write_table(errors, columns)
    if len(result.ratios):
        print()
        terminal.write_table(result.ratios, WITHIN_GROUPS)
    print(
        f"\n{result.trials:,} collection{'s' if result.trials > 1 else ''} from {wording.count(setting.users)} people; the error of a "
        f"typical answer {'in percentage points (pp) of all people' if scale == wording.POINTS else scale.unit}. Exact predictions exist "
        "for unbiased estimates only."
    )


def _told(configuration: Configuration, asked: dict[str, object]) -> Configuration:
    stated = configuration.with_(simulation={**dict(configuration.simulation), **asked})
    for name in stated.simulation.estimators:
        estimators.spec(name)
    return stated


def _simulated(setting: Setting, mechanisms: dict[str, Mechanism], stop: threading.Event) -> studies.outcomes.Outcomes:
    c = setting.configuration
    titles = (
        [part.summary for part in c.workload.parts] if c.workload is not None and len(c.workload.parts) > 1 else None
    )
    scales = studies.outcomes.scales_of(setting.workload, axes_of(setting.domain))
    with terminal.Bar("simulating") as bar:
        return studies.outcomes.compare(
            mechanisms,
            setting.workload,
            setting.counts,
            setting.labels,
            c.simulation.trials,
            c.simulation.seed,
            c.simulation.estimators,
            scales,
            bar,
            stop,
            titles,
            ratios=workloads.ratios_of(
                [] if c.workload is None else c.workload.parts, setting.domain, setting.workload
            ),
        )

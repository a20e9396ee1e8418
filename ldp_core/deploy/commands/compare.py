"""``compare``: mechanisms side by side, as the page Compare shows them."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Iterator
from typing import Any

import pandas as pd

from ldp_core import analysis, frames, library, wording
from ldp_core.deploy.commands import files, terminal, working
from ldp_core.deploy.kit import package
from ldp_core.designs import Setting

HELP = "Compare mechanisms: users needed, the gap to what is proved possible, and standard errors"
CASES = (analysis.WORST_CASE.name, "average", "people", "histogram")


def arguments(parser: argparse.ArgumentParser) -> None:
    files.configuration_argument(parser)
    parser.add_argument(
        "--mechanisms",
        nargs="+",
        metavar="NAME",
        help="mechanisms, or variants such as 'hierarchical(branching=16)'; without it those that the configuration compares",
    )
    parser.add_argument("--case", choices=CASES, help="whose error to optimise for; default: the case of the design")
    files.data_argument(parser)
    files.json_argument(parser)


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    bundle, setting = working.opened(given.config, given, stop)
    names = working.asked_for(setting, given.mechanisms) if given.mechanisms else setting.side_by_side
    case = given.case or setting.case
    if case not in setting.cases:
        raise ValueError(f"There is no case {case} here; choose one of {', '.join(setting.cases)}.")
    aimed = [name for name in names if library.spec(name).aimed]
    working.prove(setting, stop, [*map(setting.aim, aimed), *package.to_prove(setting)])
    mechanisms, left_out = working.several(setting, names, stop, bundle)
    for name in list(mechanisms):
        try:
            setting.profile(mechanisms[name])
        except ValueError as error:
            left_out[name] = str(error)
            terminal.say(f"{library.spec(name).title}: {error}")
            del mechanisms[name]
    table, limits = setting.compared(mechanisms, case), setting.bounds(case)
    result: dict[str, Any] = {"case": case, "alpha": setting.alpha, "users": setting.users}
    result |= {"users_no_mechanism_can_do_without": limits, "mechanisms": table, "left_out": left_out}
    terminal.show(given, stop, result, lambda: _text(setting, table, case, limits) if len(table) else ())


def _text(setting: Setting, shown: pd.DataFrame, case: str, limits: dict[str, float]) -> Iterator[str]:
    scale = setting.scale

    def said(value: float) -> str:
        return f"{scale.text(value)} {scale.short}"

    columns: terminal.Columns = {
        "name": ("Mechanism", setting.titled),
        "users_needed": ("Users needed", wording.needed),
        "gap": ("Gap, at most", lambda value: "none" if math.isinf(value) else wording.gap(value)),
        "standard_error_worst_case": ("± worst case", said),
        "standard_error_average": ("± average", said),
        "standard_error_on_data": ("± this data" if setting.on_data else "± expected", said),
    }
    if analysis.only_case(setting.people, setting.workload):  # the other cases are no others
        columns = {name: column for name, column in columns.items() if not name.endswith(("_average", "_on_data"))}
    yield from terminal.table(shown, columns)
    yield ""
    least, name = wording.at_least(max(limits.values())), frames.BOUND_TITLES[frames.strongest(limits)]
    yield f"No unbiased mechanism with pure epsilon can need fewer than {least}, {working.WHOSE[case]} ({name})."
    yield (
        f"Users needed are for a standard error of {setting.error_in_words(setting.target)} in a typical answer, {working.WHOSE[case]}; "
        f"± is that of a typical answer from {wording.count(setting.users)} people."
    )

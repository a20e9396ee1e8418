"""``collect``: reports that came back, counted and turned into answers."""

from __future__ import annotations

import argparse
import threading
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any

import pandas as pd

from ldp_core import estimators, frames, verdicts, wording
from ldp_core.deploy import collector
from ldp_core.deploy.collector import Read
from ldp_core.deploy.commands import files, terminal
from ldp_core.deploy.kit.opening import open_kit


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kit", metavar="KIT", type=files.Input, help="the kit's zip, or the folder that it was unpacked to"
    )
    parser.add_argument(
        "reports",
        nargs="+",
        metavar="REPORTS",
        type=files.Input,
        help="files of reports, or of their counts (CSV or Parquet)",
    )
    parser.add_argument(
        "-o", "--output", metavar="CSV", type=files.Output, help="where to write the answers; without it they are shown"
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        type=files.State,
        help="the collection: counts and digests of ids are kept here, and the next call goes on with them. Files can be added day by day, and an "
        "id counts once on all days. The Collect page downloads and opens the same file",
    )
    parser.add_argument(
        "--apart",
        action="store_true",
        help="count files with ids and files without together: you know that they share no people",
    )
    parser.add_argument(
        "--any-time", action="store_true", help="intervals that stay valid however often somebody looks"
    )
    parser.add_argument(
        "--drawn",
        action="store_true",
        help="intervals for the population that people were drawn from, not for those who reported alone",
    )
    parser.add_argument(
        "--population",
        nargs="+",
        metavar="GROUP=PEOPLE",
        help="weight to a population with so many people in each group that the collector knows, such as north=12000 south=8000",
    )
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="confidence of the intervals (0.95)")
    known = ", ".join(estimators.names())
    parser.add_argument(
        "--estimator", default="unbiased", metavar="NAME", help=f"how answers are made of reports: {known}"
    )
    parser.add_argument(
        "--occasions",
        type=int,
        metavar="N",
        help="how many reports of each person these files hold, each of an occasion of its own; answers are the average of the occasions. "
        "Needed where a design allows each person several reports",
    )
    files.json_argument(parser)


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    terminal.begin("Opening the kit")
    kit = open_kit(given.kit)
    estimators.spec(given.estimator)  # refused before anything is counted
    for warning in kit.warnings:
        terminal.say(warning)
    occasions = _occasions(given.occasions, kit.configuration.reports_per_user)
    terminal.begin("Counting reports")
    collection = collector.collect(
        given.reports, kit.mechanism, kit.design, None, terminal.done, stop, given.state, given.apart
    )
    terminal.begin("Working out the answers")
    if not collection.users:  # then why is all there is to say
        for file in collection.read:
            terminal.say(_said(file))
    if unlike := collector.unlike_in_words(collection, kit.mechanism):
        terminal.say(unlike)
    options: dict[str, Any] = {"labels": kit.labels, "occasions": occasions, "drawn": given.drawn}
    kind, sizes, reported = "any_time" if given.any_time else "fixed", None, collection.users / occasions
    if given.population:
        sizes = collector.sizes_of(given.population, collector.group_names(kit.domain))
    users = reported if sizes is None else float(sizes.sum())
    answers = collector.answers(
        collection, kit.mechanism, kit.workload, given.estimator, given.level, kind, sizes=sizes, **options
    )
    about = (collection, kit.mechanism, kit.workload, kit.ratios, given.estimator, given.level, kind)
    ratios = collector.within_groups(*about, drawn=given.drawn)
    told = collector.in_units(answers, kit.workload, users)
    if given.output:
        # Without a byte order mark, spreadsheets take UTF-8 for another encoding.
        files.write(given.output, BOM_UTF8 + frames.as_csv(collector.with_groups(told, ratios)).encode())
    read = [
        {"name": file.name, "accepted": file.accepted, "refused": dict(file.refused), "repeated": file.repeated}
        for file in collection.read
    ]
    result = {"design": kit.design, "files": read, "answers": told, "within_groups": ratios, "unlike": unlike}
    whose = collector.whose(reported, given.drawn, sizes)
    result |= {"intervals": whose, "file": given.output}

    def text() -> Iterator[str]:
        yield from map(_said, collection.read)
        if given.output:
            yield f"Answers written to {given.output}."
            return
        yield from ("", *_table(told.assign(verdict=collector.judged(answers, users, kit.target, kit.workload))), "")
        if len(ratios):
            yield from (*_table(ratios), "")
            yield from filter(None, [estimators.unbounded_in_words(ratios, kind)])
        yield whose
        yield f"Target error: {verdicts.error_in_words(kit.workload, kit.target, users)}. {verdicts.RULE}"
        missed = estimators.missed_in_words(float(answers["adds_up_to"].iloc[0]), reported, given.estimator)
        yield from filter(None, (missed, estimators.contradicted_in_words(answers, given.estimator)))

    terminal.show(given, stop, result, text)


def _occasions(stated: int | None, allowed: int) -> int:
    """How many reports of each person were counted. ValueError where that is more than ``allowed``, or not known."""
    if stated is None and allowed > 1:
        raise ValueError(
            f"People of this design send up to {allowed:,} reports, one on each occasion: say with --occasions how many of each person's are "
            "in these files."
        )
    occasions = 1 if stated is None else stated
    if not 1 <= occasions <= allowed:
        raise ValueError(
            f"Each person of this design sends at most {wording.plural(allowed, 'report')}, so --occasions is 1 to {allowed:,}."
        )
    return occasions


def _said(file: Read) -> str:
    """A file in a sentence."""
    parts = [f"{file.name}: {wording.count(file.accepted)} reports counted"]
    if file.repeated:
        parts.append(f"{wording.count(file.repeated)} left out since the same report had come before under its id")
    parts += [f"{wording.count(number)} refused ({reason})" for reason, number in file.refused.items()]
    return ", ".join(parts) + "."


def _table(answers: pd.DataFrame) -> Iterator[str]:
    numbers = {"answer": "Answer", "low": "Low", "high": "High", "standard_error": "±"}
    columns: terminal.Columns = {"name": ("Question", str)} | {
        name: (heading, lambda value: "none" if value != value else wording.significant(value, 5))
        for name, heading in numbers.items()
    }
    if (answers["unit"] != "people").any():
        columns = {**columns, "unit": ("Unit", str)}
    if "verdict" in answers:
        columns = {**columns, "verdict": ("Verdict", str)}
    return terminal.table(answers, columns)

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
    options: dict[str, Any] = {"occasions": occasions, "drawn": given.drawn}
    kind, sizes, reported = "any_time" if given.any_time else "fixed", None, collection.users / occasions
    if given.population:
        sizes = collector.sizes_of(given.population, collector.group_names(kit.domain))
    answers = collector.answers(
        collection, kit.mechanism, kit.workload, given.estimator, given.level, kind, sizes=sizes, **options
    )
    about = (collection, kit.mechanism, kit.workload, kit.domain)
    reached = collector.quantiles.quantiles(*about, given.level, kind, given.drawn)
    together = list[str]()
    if given.associate:
        pair = tuple(given.associate)
        together = collector.associating.in_words(collection, kit.mechanism, kit.domain, pair, given.level, given.drawn)
    fitted = None
    if given.regress:
        columns = collector.regressing.formula(given.regress)
        fitted = collector.regressing.regression(collection, kit.mechanism, kit.domain, *columns, given.level)
    lines = kit.lines()
    if lines is not None:
        answers = answers.assign(promise=answers["line"].map(lines["in_words"]))
    if given.output:
        # Without a byte order mark, spreadsheets take UTF-8 for another encoding.
        files.write(given.output, BOM_UTF8 + frames.as_csv(answers).encode())
    read = [
        {"name": file.name, "accepted": file.accepted, "refused": dict(file.refused), "repeated": file.repeated}
        for file in collection.read
    ]
    result = {
        "design": kit.design,
        "promise": kit.mechanism.audit().promise,
        "files": read,
        "questions": lines,
        "answers": answers,
        "unlike": unlike,
        "regression": fitted,
        "quantiles": reached,
        "associations": together,
    }
    whose = collector.whose(reported, given.drawn, sizes)
    result |= {"intervals": whose, "file": given.output}

    def text() -> Iterator[str]:
        yield from map(_said, collection.read)
        if fitted is not None:
            yield from ("", *terminal.words(collector.regressing.table(fitted)), collector.regressing.in_words(fitted))
        yield from together
        if given.output:
            yield f"Answers written to {given.output}."
            return
        yield from ("", *(() if lines is None else lines["in_words"]), "", *_table(answers), "")
        if len(reached):
            yield from (*terminal.words(collector.quantiles.table(reached)), collector.quantiles.MEANING, "")
        yield from filter(None, [estimators.unbounded_in_words(answers, kind)])
        yield f"{whose} {verdicts.RULE}"
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
    shown = answers.assign(unit=answers["unit"].map(verdicts.unit_in_words))
    columns = {**columns, "unit": ("Unit", str), "verdict": ("Verdict", str)}
    if answers["found"].any():
        columns = {**columns, "found": ("Difference", str)}
    return terminal.table(shown, columns)

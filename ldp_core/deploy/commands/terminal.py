"""Output of commands: one result as text for people or JSON for programs, and Ctrl-C."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

import pandas as pd

from ldp_core import wording
from ldp_core.designs import strict_json
from ldp_core.threads import beside

Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Columns of a table by name: the heading, and how a value is written."""
SILENCE, _MOST_SILENCE = 5.0, 60.0
"""Seconds without a word while a command works: at first, and at most."""
_AT: list[Any] = ["", 0.0, 0.0]
"""The work that a command is at, when it began, and the share of it that is done where that is told."""


class Stopping(Exception):
    """Ctrl-C was pressed a second time."""


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets: long work ends with what it has. The second one ends everything."""
    event = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise Stopping
        event.set()
        say("Stopping with what there is; press Ctrl-C again to stop at once.")

    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread alone
        yield event
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def say(sentence: str) -> None:
    """A sentence for people, beside the results."""
    print(plain(sentence), file=sys.stderr)


def plain(text: str) -> str:
    """Text from files in one line, without what moves the cursor or colours a terminal."""
    return wording.visible(re.sub(r"[\t\n\r\u00a0]", " ", text))


def begin(work: str) -> None:
    """Long ``work`` begins: said at once on a terminal, and elsewhere should it last."""
    _AT[:] = [work, time.monotonic(), 0.0]
    if sys.stderr.isatty():
        say(f"{work} ...")


def done(share: float) -> None:
    """A ``share`` of the work that `begin` named is done."""
    _AT[2] = share


def telling() -> AbstractContextManager[None]:
    """While a command runs, say beside its results what it is at: once that has lasted `SILENCE`, and then ever more rarely."""
    _AT[:] = ["Working", time.monotonic(), 0.0]
    return beside(_tell)


def _tell(ended: threading.Event) -> None:
    pause = SILENCE
    while not ended.wait(pause):
        work, began, share = _AT
        done_by_now = f", {round(100 * share)} % done" if share else ""
        say(f"{work}: {wording.duration(time.monotonic() - began)} so far{done_by_now}.")
        pause = min(2 * pause, _MOST_SILENCE)


def show(
    given: argparse.Namespace, stop: threading.Event, result: Mapping[str, Any], text: Callable[[], Iterable[str]]
) -> None:
    """The result of a command: one JSON document where that was asked for, with whether it was stopped; else its lines of ``text``, and
    beside them why something of it is missing."""
    if given.json:
        document = strict_json.plain({**result, "stopped": stop.is_set()}, "the result")
        print(json.dumps(document, indent=2, allow_nan=False))  # ASCII, whatever the encoding of the output
        return
    if "missing" in result:
        say(result["missing"])
    for line in text():
        print(plain(line))


def facts(named: Mapping[str, str]) -> Iterator[str]:
    """Lines of names and values below each other."""
    width = max(map(len, named), default=0)
    return (f"{name:<{width}}  {value}" for name, value in named.items())


def words(shown: pd.DataFrame) -> Iterator[str]:
    """A table whose cells are words already, under its own headings."""
    return table(shown, {name: (name, str) for name in shown})


def table(frame: pd.DataFrame, shown: Columns) -> Iterator[str]:
    """Lines of some columns of a frame; numbers to the right."""
    columns = []
    for name, (heading, written) in shown.items():
        cells = [heading, *(plain(written(value)) for value in frame[name])]
        width, text = max(map(len, cells)), frame[name].dtype.kind not in "iuf"
        columns.append([cell.ljust(width) if text else cell.rjust(width) for cell in cells])
    return ("  ".join(row).rstrip() for row in zip(*columns, strict=True))

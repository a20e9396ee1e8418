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
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pandas as pd

from ldp_core import wording
from ldp_core.designs import strict_json

Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Columns of a table by name: the heading, and how a value is written."""


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
    return wording.visible(re.sub(r"[\t\n\r]", " ", text))


def begin(work: str) -> None:
    """Say on a terminal that long ``work`` begins; nothing elsewhere."""
    if sys.stderr.isatty():
        say(f"{work} ...")


@contextmanager
def progress(work: str) -> Iterator[Callable[[float], None]]:
    """Say that long ``work`` goes on, and how much is done where that is told: every ten seconds on a terminal, every minute elsewhere."""
    told, ended, begun = [0.0], threading.Event(), time.monotonic()

    def follow() -> None:
        while not ended.wait(10.0 if sys.stderr.isatty() else 60.0):
            done = f"{told[-1]:.0%} done after" if told[-1] else "going on for"
            say(f"{work}: {done} {wording.duration(time.monotonic() - begun)}.")

    begin(work)
    threading.Thread(target=follow, daemon=True).start()
    try:
        yield told.append
    finally:
        ended.set()


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


def table(frame: pd.DataFrame, shown: Columns) -> Iterator[str]:
    """Lines of some columns of a frame; numbers to the right."""
    columns = []
    for name, (heading, written) in shown.items():
        cells = [heading, *(plain(written(value)) for value in frame[name])]
        width, text = max(map(len, cells)), frame[name].dtype.kind not in "iuf"
        columns.append([cell.ljust(width) if text else cell.rjust(width) for cell in cells])
    return ("  ".join(row).rstrip() for row in zip(*columns, strict=True))

"""Output of commands: progress and Ctrl-C, tables for people and JSON for programs."""

from __future__ import annotations

import json
import math
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.run import Progress

WIDTH = 24
Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Columns of a table by name: the heading, and how a value is written."""
EVERY = 0.1  # seconds between two looks of a bar


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
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    print(plain(sentence), file=sys.stderr)


def plain(text: str) -> str:
    """Text from files in one line, without what moves the cursor or colours a terminal."""
    return wording.visible(re.sub(r"[\t\n\r]", " ", text))


class Bar:
    """One line about work in progress, on a terminal; nothing elsewhere. ``seconds`` is how long the work may take."""

    def __init__(self, title: str, seconds: float | None = None):
        self.title, self.seconds = plain(title), seconds
        self._shown = -math.inf
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Bar:
        self.share(0.0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: Progress) -> None:
        """The share done, by rounds or by time, as `ldp_core.run` reports it."""
        limit = progress.max_rounds
        if limit:
            self.share(progress.round / limit, f"{progress.round:,} of {limit:,}")
        else:
            done = 0.0 if not self.seconds else progress.seconds / self.seconds
            self.share(done, f"round {progress.round:,}, {wording.duration(progress.seconds)}")

    def share(self, done: float, words: str = "") -> None:
        """How much is done, 0 to 1."""
        now = time.monotonic()
        if not self._terminal or (now - self._shown < EVERY and done < 1):
            return
        self._shown = now
        full = round(WIDTH * min(max(done, 0.0), 1.0))
        sys.stderr.write(f"\r\x1b[K{'█' * full}{'░' * (WIDTH - full)} {self.title} {words}".rstrip())
        sys.stderr.flush()


def write_json(result: object) -> None:
    """One JSON document; NaN and infinities are null."""
    print(json.dumps(_json(result), indent=2, allow_nan=False))  # ASCII, whatever the encoding of the output


def _json(value: Any) -> Any:
    if isinstance(value, pd.DataFrame):
        return [_json(row) for row in value.to_dict("records")]
    if is_dataclass(value) and not isinstance(value, type):
        return _json(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def write_facts(facts: Mapping[str, str]) -> None:
    """Names and values below each other."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        print(plain(f"{name:<{width}}  {value}"))


def write_table(frame: pd.DataFrame, shown: Columns) -> None:
    """Some columns of a frame; numbers to the right."""
    columns = []
    for name, (heading, written) in shown.items():
        cells = [heading, *(plain(written(value)) for value in frame[name])]
        width, text = max(map(len, cells)), frame[name].dtype.kind not in "iuf"
        columns.append([cell.ljust(width) if text else cell.rjust(width) for cell in cells])
    for row in zip(*columns, strict=True):
        print("  ".join(row).rstrip())

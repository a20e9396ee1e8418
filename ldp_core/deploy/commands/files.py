"""The files that commands are given: configurations, tables of people, and places to write to."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ldp_core import designs
from ldp_core.data import tables
from ldp_core.deploy.collector.collection import lock_of
from ldp_core.deploy.collector.private_folder import replace
from ldp_core.deploy.commands import terminal
from ldp_core.deploy.commands.parsers import Input, Output, State
from ldp_core.designs import Bundle, Configuration, UploadedData
from ldp_core.designs.bundle import KIT, MEMBERS, PROOF
from ldp_core.designs.standalone import Table
from ldp_core.limits import MOST_DESIGN_BYTES


def check_apart(given: argparse.Namespace) -> None:
    """ValueError, one sentence, where an output of a command cannot be written, or is one of its inputs or another output, by
    whatever name or link."""
    values = [one for value in vars(given).values() for one in (value if isinstance(value, list) else [value])]
    outputs = [value for value in values if isinstance(value, Output)]
    for place, output in enumerate(outputs):
        if not Path(output).parent.is_dir():
            raise ValueError(f"{output}: there is no folder {Path(output).parent}; make it, or choose another path.")
        if Path(output).exists() and not Path(output).is_file():
            raise ValueError(f"{output} is a folder or a device: name a file.")
        try:
            tempfile.TemporaryFile(dir=Path(output).parent).close()
        except OSError as error:
            raise ValueError(
                f"{output}: files cannot be written to this folder ({error.strerror}); choose another one."
            ) from error
        for other in [value for value in values if isinstance(value, Input)] + outputs[:place]:
            if any(_same(written, read) for written in _files(output) for read in _files(other)):
                raise ValueError(
                    f"{output} would be written over {other}, which this command uses: choose another name."
                )


def _files(name: str) -> Iterator[Path]:
    """The files that stand behind a name."""
    path = Path(name)
    yield path
    if isinstance(name, State):
        yield lock_of(path.expanduser().resolve())
    elif path.is_dir():
        yield from (path / member for member in (*MEMBERS, *KIT, *PROOF))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there yet
        return one.resolve() == other.resolve()


def content(name: str, most: int = MOST_DESIGN_BYTES) -> bytes:
    """The bytes of a file. ValueError, one sentence, where it is no file or larger than ``most``."""
    path = Path(name)
    if path.is_dir():
        raise ValueError(f"{name} is a folder: name a file.")
    if path.stat().st_size > most:
        raise ValueError(f"{name} is too large: at most {most // 10**6} MB are read.")
    return path.read_bytes()


def opened(name: str) -> Bundle:
    """A design file; what it has to say goes to standard error."""
    bundle = designs.load(content(name))
    for warning in bundle.warnings:
        terminal.say(warning)
    return bundle


def table(name: str | None, configuration: Configuration) -> Table | None:
    """The table of ``--data``, read as the configuration says; None without it."""
    if name is None:
        return None
    choice = configuration.data
    options = choice.reading if isinstance(choice, UploadedData) else None
    if Path(name).suffix.lower() in tables.EXCEL_ENDINGS:
        return tables.load(content(name), name, options).table
    return tables.LocalTable(name, options)


def write(name: str, what: bytes) -> None:
    """Write a file whole, or not at all."""
    replace(Path(name), lambda file: file.write(what), 0o666)

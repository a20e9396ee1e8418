"""The files that commands are given: configurations, tables of people, and places to write to."""

from __future__ import annotations

import argparse
from pathlib import Path

from ldp_core import designs
from ldp_core.data import tables
from ldp_core.deploy.commands import terminal
from ldp_core.designs import Bundle, Configuration, UploadedData
from ldp_core.designs.standalone import Table
from ldp_core.limits import MOST_DESIGN_BYTES


def configuration_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", help="configuration.json, or a zip that the app has saved or exported"
    )


def json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of text")


def data_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        metavar="FILE",
        help="a table (CSV, Parquet or Excel) whose people are counted by the configuration; without it they are as the configuration "
        "says",
    )


def figures_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--errors-on-data",
        action="store_true",
        help="write the exact errors on counted people into the file. Anyone who gets them and the number of users may be able to "
        "compute all counts. Without this, the file has the errors of people spread evenly",
    )


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
    path = Path(name)
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_bytes(what)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)

"""Arguments that several commands take, and the kinds of file names among them."""

from __future__ import annotations

import argparse


class Input(str):
    """The name of a file or a kit's folder that a command reads."""


class Output(str):
    """The name of a file that a command writes."""


class State(Output):
    """The name of a file that a command reads and writes, with a lock beside it."""


def add_configuration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", type=Input, help="configuration.json, or a zip that the app has saved or exported"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of text")


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        metavar="FILE",
        type=Input,
        help="a table (CSV, Parquet or Excel) whose people are counted by the configuration; without it they are as the configuration "
        "says",
    )


def add_figures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--errors-on-data",
        action="store_true",
        help="write the exact errors on counted people into the file. Anyone who gets them and the number of users may be able to "
        "compute all counts. Without this, the file has the errors of people spread evenly",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """How a mechanism is fitted, where that is not left to the configuration."""
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for the search, and again for the proof")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the search")

"""The arguments of ``audit``."""

from __future__ import annotations

import argparse

from ldp_core.deploy.commands.parsers import arguments


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        type=arguments.Input,
        help="a design (zip or configuration.json), or a strategy matrix (CSV, NPY or NPZ): a row for each report, a column for each type",
    )
    parser.add_argument(
        "--questions",
        metavar="CONFIG",
        type=arguments.Input,
        help="the design whose questions a strategy matrix is to answer",
    )
    arguments.add_data(parser)
    arguments.add_json(parser)

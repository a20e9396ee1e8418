"""The arguments of ``design``."""

from __future__ import annotations

import argparse

from ldp_core.deploy.commands.parsers import arguments


def add_to(parser: argparse.ArgumentParser) -> None:
    arguments.add_configuration(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="ZIP",
        type=arguments.Output,
        help="where to write the design, as Export in the app does",
    )
    arguments.add_search(parser)
    parser.add_argument(
        "--secret",
        action="append",
        metavar="COLUMN=VALUE",
        help="a value that is secret, such as illness=yes: the others of its column may be known. Repeat it for more values; COLUMN= alone says that "
        "no value of a column is secret",
    )
    parser.add_argument(
        "--detect",
        type=float,
        nargs="?",
        const=True,
        metavar="D",
        help="also say how many people find a difference of this size between two groups, in the unit of the answers (percentage points for "
        "shares); without D, that of the configuration",
    )
    parser.add_argument("--power", type=float, metavar="P", help="chance to find it if it is there (0.8)")
    parser.add_argument("--significance", type=float, metavar="A", help="chance to find one that is not (0.05)")
    arguments.add_data(parser)
    arguments.add_figures(parser)
    arguments.add_json(parser)

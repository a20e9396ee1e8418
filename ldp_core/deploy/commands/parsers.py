"""The arguments that can be typed after each command, a function a command, and the kinds of file names among them.

It loads nothing of their work: help and a mistyped argument are answered from here, in a moment.
"""

from __future__ import annotations

import argparse


class Input(str):
    """The name of a file or a kit's folder that a command reads."""


class Output(str):
    """The name of a file that a command writes."""


class State(Output):
    """The name of a file that a command reads and writes, with a lock beside it."""


def _configuration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", type=Input, help="configuration.json, or a zip that the app has saved or exported"
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of text")


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        metavar="FILE",
        type=Input,
        help="a table (CSV, Parquet or Excel) whose people are counted by the configuration; without it they are as the configuration "
        "says",
    )


def _figures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--errors-on-data",
        action="store_true",
        help="write the exact errors on counted people into the file. Anyone who gets them and the number of users may be able to "
        "compute all counts. Without this, the file has the errors of people spread evenly",
    )


def _search(parser: argparse.ArgumentParser) -> None:
    """How a mechanism is fitted, where that is not left to the configuration."""
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for the search, and again for the proof")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the search")


def design(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command design."""
    _configuration(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="ZIP",
        type=Output,
        help="where to write the design, as Export in the app does",
    )
    _search(parser)
    parser.add_argument(
        "--secret",
        action="append",
        metavar="COLUMN=VALUE",
        help="a value that is secret, such as illness=yes: the others of its column may be known. Repeat it for more values; COLUMN= alone says that "
        "no value of a column is secret",
    )
    parser.add_argument(
        "--split",
        action="append",
        metavar="COLUMN=SIGN",
        help='a column whose cells hold several answers with this sign between them, such as transport=, for "Bus, Car": each answer is counted. '
        "Repeat it for more columns",
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
    _data(parser)
    _figures(parser)
    _json(parser)


def audit(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command audit."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Input,
        help="a design (zip or configuration.json), or a strategy matrix (CSV, NPY or NPZ): a row for each report, a column for each type",
    )
    parser.add_argument(
        "--questions",
        metavar="CONFIG",
        type=Input,
        help="the design whose questions a strategy matrix is to answer",
    )
    _data(parser)
    _json(parser)


def kit(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``kit``."""
    _configuration(parser)
    parser.add_argument("-o", "--output", metavar="ZIP", type=Output, required=True, help="where to write the kit")
    _search(parser)
    _data(parser)
    parser.add_argument(
        "--sign",
        metavar="PEM",
        type=Input,
        help="sign the device with this private key, and print the public key for clients; openssl genpkey -algorithm ed25519 -out private.pem makes one",
    )
    parser.add_argument(
        "--mixed",
        action="store_true",
        help="reports are mixed before anyone sees them: say in the report for a privacy review what that gives",
    )
    _figures(parser)
    _json(parser)


def collect(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command collect."""
    parser.add_argument("kit", metavar="KIT", type=Input, help="the kit's zip, or the folder that it was unpacked to")
    parser.add_argument(
        "reports",
        nargs="+",
        metavar="REPORTS",
        type=Input,
        help="files of reports, or of their counts (CSV or Parquet)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CSV",
        type=Output,
        help="where to write the answers; without it they are shown",
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        type=State,
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
    parser.add_argument(
        "--estimator",
        default="unbiased",
        metavar="NAME",
        help="how answers are made of reports: unbiased, wnnls, wnnls_total, norm_sub, polytope, mle, ems, posterior, posterior_distribution, consistency",
    )
    parser.add_argument(
        "--regress",
        metavar="FORMULA",
        help="a logistic regression of a secret yes or no on columns that the collector knows, such as 'satisfied ~ age, arm'",
    )
    parser.add_argument(
        "--associate",
        nargs=2,
        metavar=("X", "Y"),
        help="slope of Y by X, correlation and a test of independence of two secret columns, as far as the design tells them",
    )
    parser.add_argument(
        "--occasions",
        type=int,
        metavar="N",
        help="how many reports of each person these files hold, each of an occasion of its own; answers are the average of the occasions. "
        "Needed where a design allows each person several reports",
    )
    _json(parser)

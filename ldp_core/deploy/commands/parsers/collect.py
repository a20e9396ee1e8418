"""The arguments of ``collect``."""

from __future__ import annotations

import argparse

from ldp_core.deploy.commands.parsers import arguments


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kit", metavar="KIT", type=arguments.Input, help="the kit's zip, or the folder that it was unpacked to"
    )
    parser.add_argument(
        "reports",
        nargs="+",
        metavar="REPORTS",
        type=arguments.Input,
        help="files of reports, or of their counts (CSV or Parquet)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CSV",
        type=arguments.Output,
        help="where to write the answers; without it they are shown",
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        type=arguments.State,
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
    arguments.add_json(parser)

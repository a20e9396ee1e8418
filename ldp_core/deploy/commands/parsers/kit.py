"""The arguments of ``kit``."""

from __future__ import annotations

import argparse

from ldp_core.deploy.commands.parsers import arguments


def add_to(parser: argparse.ArgumentParser) -> None:
    arguments.add_configuration(parser)
    parser.add_argument(
        "-o", "--output", metavar="ZIP", type=arguments.Output, required=True, help="where to write the kit"
    )
    arguments.add_search(parser)
    arguments.add_data(parser)
    parser.add_argument(
        "--sign",
        metavar="PEM",
        type=arguments.Input,
        help="sign the device with this private key, and print the public key for clients; openssl genpkey -algorithm ed25519 -out private.pem makes one",
    )
    parser.add_argument(
        "--mixed",
        action="store_true",
        help="reports are mixed before anyone sees them: say in the report for a privacy review what that gives",
    )
    arguments.add_figures(parser)
    arguments.add_json(parser)

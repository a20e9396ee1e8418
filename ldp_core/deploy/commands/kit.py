"""``kit``: what draws reports on people's devices, in one zip."""

from __future__ import annotations

import argparse
import threading

from ldp_core.deploy.commands import design, files, terminal
from ldp_core.deploy.kit import package, signing
from ldp_core.limits import MOST_KEY_BYTES


def arguments(parser: argparse.ArgumentParser) -> None:
    files.configuration_argument(parser)
    parser.add_argument(
        "-o", "--output", metavar="ZIP", type=files.Output, required=True, help="where to write the kit"
    )
    design.search_arguments(parser)
    files.data_argument(parser)
    parser.add_argument(
        "--sign",
        metavar="PEM",
        type=files.Input,
        help=f"sign the device with this private key, and print the public key for clients; {signing.MAKE_A_KEY} makes one",
    )
    parser.add_argument(
        "--mixed",
        action="store_true",
        help="reports are mixed before anyone sees them: say in the report for a privacy review what that gives",
    )
    files.figures_argument(parser)
    files.json_argument(parser)


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    key = None if given.sign is None else files.content(given.sign, MOST_KEY_BYTES)
    public_key = None if key is None else signing.public_key(key)  # before a long search
    setting = design.fitted(given, stop)
    terminal.begin("Packing the kit")
    content = package.kit(setting, package.certificate_of(setting), given.errors_on_data, key, given.mixed)
    files.write(given.output, content)
    said = [
        f"Written to {given.output}: {len(content) / 1000:,.0f} kB. Its README.md says how to run it.",
        public_key
        and f"Signed. Clients check that with --key {public_key}: give them the key by another way than the kit.",
    ]
    result = {"file": given.output, "bytes": len(content), "public_key": public_key}
    terminal.show(given, stop, result, lambda: filter(None, said))

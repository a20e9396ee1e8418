"""``kit``: what draws reports on people's devices, in one zip."""

from __future__ import annotations

import argparse
import threading

from ldp_core.commands import design, files, terminal
from ldp_core.kit import package

HELP = "Write the kit of a design: clients, audit, test vectors and a report for a privacy review, in one zip"


def arguments(parser: argparse.ArgumentParser) -> None:
    files.configuration_argument(parser)
    parser.add_argument("-o", "--output", metavar="ZIP", required=True, help="where to write the kit")
    design.search_arguments(parser)
    files.data_argument(parser)
    files.json_argument(parser)


def run(given: argparse.Namespace, stop: threading.Event) -> None:
    found = design.fitted(given, stop)
    outcome, proof = package.outcome_of(found), package.certificate_of(found)
    content = package.kit(found.configuration, outcome, found.chosen_mechanism, found.workload, found.counts, proof)
    files.write(given.output, content)
    if given.json:
        terminal.write_json({"file": given.output, "bytes": len(content), "stopped": stop.is_set()})
    else:
        print(
            f"Written to {terminal.plain(given.output)}: {len(content) / 1000:,.0f} kB. Its README.md says how to run it."
        )

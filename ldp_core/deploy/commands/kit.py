"""``kit``: what draws reports on people's devices, in one zip."""

from __future__ import annotations

import argparse
import threading

from ldp_core.deploy.commands import design, files, terminal
from ldp_core.deploy.kit import package, signing
from ldp_core.limits import MOST_KEY_BYTES


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

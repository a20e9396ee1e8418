"""Long work of several commands: mechanisms built and proofs found."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterable

from ldp_core import library
from ldp_core.deploy.commands import files, terminal
from ldp_core.designs import Bundle, Setting, proof_files, ready
from ldp_core.designs.standalone import adopt, with_secret, with_split
from ldp_core.mechanisms.base import Mechanism

WHOSE = {
    "worst_case": "whatever people answer",
    "average": "with all types equally common",
    "people": "for people spread over the types like yours",
    "histogram": "for people spread like your histogram",
}
"""Whose error counts, to follow users needed."""


def opened(
    name: str, given: argparse.Namespace, stop: threading.Event, part: str = "", **changes: object
) -> tuple[Bundle, Setting]:
    """A design file, opened. Assumptions are said, and the reason why a proof in the file cannot be used.

    Parameters
    ----------
    name, given, stop : the file, the arguments of the command, and whether Ctrl-C was pressed.
    part, changes : a part of the configuration, and the values of its fields instead; None for as they are.

    Returns
    -------
    The file, and its setting, with the proof in the file once that was checked.
    """
    bundle = files.opened(name)
    configuration = bundle.configuration
    if stated := {field: value for field, value in changes.items() if value is not None}:
        configuration = configuration.with_(**{part: {**dict(getattr(configuration, part)), **stated}})
    for named in getattr(given, "split", None) or ():
        column, _, sign = named.partition("=")
        configuration = with_split(configuration, column, sign)
    if secret := getattr(given, "secret", None):
        configuration = with_secret(configuration, secret)
    setting = ready(configuration, files.table(given.data, configuration), stop)
    for note in setting.notes:
        terminal.say(note)
    if bundle.certificate is not None:
        try:
            proof_files.adopt(setting, bundle.certificate)
        except ValueError as error:
            terminal.say(str(error))
    return bundle, setting


def prove(setting: Setting, stop: threading.Event, cases: Iterable[str]) -> None:
    """Prove what no mechanism can beat.

    Parameters
    ----------
    setting, stop : the design, and whether Ctrl-C was pressed.
    cases : whose errors count, by name.
    """
    for name in dict.fromkeys(cases):
        if stop.is_set():
            return
        terminal.begin(f"Proving what no mechanism can beat, {WHOSE[name]}")
        setting.prove(name, None, stop)


def built(setting: Setting, name: str, stop: threading.Event, bundle: Bundle | None = None) -> Mechanism:
    """The named mechanism: that of the ``bundle`` where it is the chosen one, else built or fitted."""
    if name == setting.chosen and (mechanism := adopt(setting, bundle)) is not None:
        return mechanism
    if library.spec(name).fitted:
        terminal.begin(f"Fitting {library.spec(name).title}")
    return setting.build(name, None, stop)

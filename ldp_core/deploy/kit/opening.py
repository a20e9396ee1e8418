"""A kit opened again: the design, and the mechanism that counts the reports of its device."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

import pandas as pd

from ldp_core import analysis, limits, verdicts
from ldp_core.data.domain import Domain
from ldp_core.deploy.kit import devices
from ldp_core.deploy.kit.client import Device
from ldp_core.designs import Configuration, Setting, bundle
from ldp_core.designs.disclosure import PEOPLE
from ldp_core.designs.standalone import realise
from ldp_core.designs.zips import zipped
from ldp_core.mechanisms import Mechanism
from ldp_core.workloads import Workload

_READ = (*bundle.MEMBERS, *bundle.KIT, *bundle.PROOF)


@dataclass(frozen=True, eq=False)
class Kit:
    """A kit opened again, to count and answer: ``device`` is the description that people's devices
    run, ``design`` its id, ``setting`` what it stands for, ``outcome`` what the file says of it, ``needed`` the people that the questions' targets take for whom the design is for (None where that is
    not known), ``warnings`` say what else of it changed or is missing."""

    configuration: Configuration
    domain: Domain
    workload: Workload
    mechanism: Mechanism
    device: Mapping[str, object]
    design: str
    needed: float | None
    warnings: tuple[str, ...]
    setting: Setting
    outcome: Mapping[str, Any] | None = None

    def lines(self, alone: Sequence[tuple[float, bool]] | None = None) -> pd.DataFrame | None:
        """What was promised, question by question, with what each would be ``alone``: see `Setting.lines`. Computed; what the file says only where it is about people who are
        not in it. None where neither is known."""
        made = self.setting
        if made.case == PEOPLE and made.notes:
            return _recorded((self.outcome or {}).get("questions"))
        try:
            return made.lines(self.mechanism, alone)
        except ValueError:
            return None


def kit_of(made: Setting) -> Kit:
    """The kit of a design, as it is opened again. ValueError, one sentence, where no device can draw its reports."""
    return _kit(made, devices.describe(made.chosen_mechanism, made.configuration.epsilon, made.domain), None)


def _kit(
    made: Setting, device: Mapping[str, Any], outcome: Mapping[str, Any] | None, warnings: Iterable[str] = ()
) -> Kit:
    about = (made.configuration, made.domain, made.workload, made.chosen_mechanism, device)
    return Kit(*about, Device(device).design, _needed(made, outcome), tuple(warnings), made, outcome)


def open_kit(place: str | Path | bytes) -> Kit:
    """The kit in a zip (its bytes or its path), or in the folder that it was unpacked to.

    The mechanism is built from the configuration and the strategy, described again and compared with device.json: ValueError, one
    sentence, where they differ in anything, where the file holds no kit, or where `designs.load` refuses it.
    """
    opened = bundle.load(place if isinstance(place, bytes) else _content(Path(place)))
    if opened.device is None:
        raise ValueError(f"The file holds no {bundle.DEVICE}, so it is a design but no kit: export the kit.")
    made = realise(opened.configuration, opened, fit=False)
    c = made.configuration
    written, device = _parsed(opened.device), devices.describe(made.chosen_mechanism, c.epsilon, made.domain)
    if written != {**device, "signature": written.get("signature") if isinstance(written, dict) else None}:
        raise ValueError(
            f"{bundle.DEVICE} does not draw reports as the design beside it does; one of them was changed: export the kit again."
        )
    return _kit(made, written, opened.outcome, opened.warnings)


def _needed(made: Setting, outcome: Mapping[str, Any] | None) -> float | None:
    """Computed; what the file says only where it is about people who are not in it."""
    said = (outcome or {}).get("users_needed")
    try:
        if made.case == PEOPLE and made.notes:
            return float(said[PEOPLE]) if isinstance(said, dict) else None
        return made.users_needed(made.chosen_mechanism, made.case)
    except (ValueError, TypeError, LookupError):
        return None


def _recorded(said: object) -> pd.DataFrame | None:
    """The lines of questions in a file, which somebody may have changed."""
    try:
        table = pd.DataFrame(said)[[*analysis.NUMBERS, "question", "unit", "verdict", "at_best"]]
        table = table.astype(
            dict.fromkeys(analysis.NUMBERS, float) | {"answers": int, "users": int, "usable": int, "judged": int}
        )
        return table.assign(in_words=[verdicts.line_in_words(line) for line in table.to_dict("records")])
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


def _parsed(content: bytes) -> Any:
    """JSON that somebody has indented, say; None where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _content(place: Path) -> bytes:
    """The bytes of a zip, or those of a folder's files as one. ValueError where it cannot be read."""
    try:
        if not place.is_dir():
            return _limited(place)
        return zipped({name: _limited(place / name) for name in _READ if (place / name).is_file()}, ZIP_STORED)
    except OSError as error:
        raise ValueError(f"{place.name} cannot be read ({error.strerror}): name the kit's zip or its folder.") from None


def _limited(file: Path) -> bytes:
    if file.stat().st_size > limits.MOST_DESIGN_BYTES:
        raise ValueError(
            f"{file.name} is too large to be part of a kit: at most {limits.MOST_DESIGN_BYTES // 10**6} MB are read."
        )
    return file.read_bytes()

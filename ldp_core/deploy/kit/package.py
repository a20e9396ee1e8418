"""The kit: one zip with a design, what draws reports on people's devices, what checks it, and what says so to a privacy review.

It loads again as the design it is made from: see `ldp_core.designs.bundle`, and `ldp_core.deploy.kit.opening` for what counts reports.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ldp_core import analysis, library
from ldp_core.deploy.kit import devices, readme, review, signing, vectors
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.report import report
from ldp_core.designs import Configuration, bundle, choices, disclosure, guarantee, proof_files, strict_json
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms import Mechanism
from ldp_core.shuffled import promised
from ldp_core.wording import visible

COPIED = ("client.py", "client.js", "audit.py", "collect.py", "form.html", "answers.cjs")
"""Files that are the same in every kit."""
_HERE = Path(__file__).parent


def outcome_of(setting: Setting, figures: bool = False) -> dict[str, Any]:
    """The outcome of a design, as its files record it, with everything that takes no time to
    compute. If people were counted, errors are those on the data only if these ``figures`` are
    requested (see `disclosure`).

    ValueError, one sentence, if nothing can be promised; `NotFitted` while its mechanism has yet to
    be fitted.
    """
    c, mechanism, shown = setting.configuration, setting.chosen_mechanism, disclosure.released(setting, figures)
    cases = disclosure.cases(shown)
    columns = [] if c.domain is None else [attribute.name for attribute in c.domain.attributes]
    explanation = mechanism.explain_with(columns)
    stated = {"name": c.mechanism.name, "parameters": mechanism.parameters, "explanation": explanation}
    loaded = setting.from_file(setting.chosen)
    if loaded or library.spec(c.mechanism.name).fitted:
        stated["origin"] = "loaded from a file, not computed here" if loaded else "computed here"
    expected: dict[str, Any]
    try:
        expected = {
            "questions": shown.lines(mechanism).to_dict("records"),
            "errors_refer_to": analysis.CASES.get(shown.case, shown.population),
            "users_needed": {case: shown.users_needed(mechanism, case) for case in cases},
        }
    except ValueError as error:  # a large design can be deployed all the same
        expected = {"questions": None, "errors_missing": str(error)}
    return {
        "mechanism": stated,
        "audit": asdict(mechanism.audit()),
        "guarantee": guarantee(c, mechanism.audit()),
        "users_no_mechanism_can_do_without": {case: shown.bounds(case) for case in cases},
        "read_off_the_data": disclosure.observed(setting, figures),
        **expected,
    }


def design(
    configuration: Configuration,
    outcome: Mapping[str, Any],
    mechanism: Mechanism | None,
    kit: Mapping[str, bytes] | None = None,
    certificate: Written | None = None,
) -> bytes:
    """The zip of a design with the strategy of its mechanism, where that is fitted: probabilities cannot be rebuilt from parameters
    alone. ``kit`` are files to go with it, ``certificate`` is a proof. ValueError as of `designs.export`."""
    held = None if without_files(configuration, mechanism) else mechanism
    return bundle.export(configuration, dict(outcome), held, kit=kit, certificate=certificate)


def without_files(configuration: Configuration, mechanism: Mechanism | None) -> str:
    """Why the file of a design holds no files of its mechanism, in a sentence; empty where it holds some."""
    name = configuration.mechanism.name
    if mechanism is None and library.spec(name).fitted:
        return "The mechanism is not optimised for this design yet."
    if mechanism is None or not library.held_by_file(name, mechanism):
        return "This mechanism is fully described by its parameters."
    try:
        reason = "" if mechanism.files() else "Its reports are not all written out anywhere."
    except ValueError as error:
        reason = str(error)
    return reason and f"{reason} After loading, optimise again with the same seed."


def kit(
    setting: Setting,
    certificate: Written | None = None,
    figures: bool = False,
    private_key: bytes | None = None,
    mixed: bool = False,
) -> bytes:
    """The kit of a design; the same design gives the same bytes. If there is a ``private_key``, a
    PEM file, its device is signed.

    ``certificate`` is a proof of what no mechanism can beat; ``figures`` as for `outcome_of`; where the reports are ``mixed``,
    the report for a privacy review says what that gives. Raises `devices.NoDevice` with the reason
    where reports of this mechanism cannot be drawn from whole numbers, or ValueError, one sentence, where the file could not be
    loaded again.
    """
    setting = replace(setting, configuration=setting.recorded)
    configuration, mechanism, outcome = setting.configuration, setting.chosen_mechanism, outcome_of(setting, figures)
    shown = disclosure.released(setting, figures)
    description = devices.describe(mechanism, configuration.epsilon, configuration.domain)
    if private_key is not None:
        description = signing.sign(description, private_key)
    device, audit = Device(description), mechanism.audit()
    files = {
        bundle.DEVICE: strict_json.write(description) + b"\n",
        **{name: (_HERE / name).read_bytes() for name in COPIED},
        "count.sql": readme.count_sql(device.design).encode(),
        "people.txt": "".join(f"{visible(line)}\n" for line in review.for_people(configuration, audit)).encode(),
        "vectors.json": json.dumps(vectors.vectors(description), indent=1).encode(),
        "README.md": readme.readme(
            configuration, audit, device, certificate is not None, private_key is not None
        ).encode(),
    }
    written_report = report(
        shown,
        outcome,
        _verdict(setting, shown is setting),
        device.design,
        bundle.digests({**files, **(certificate.members if certificate else {})}),
        bundle.software(),
        promised(mechanism, shown.counts, configuration.reports_per_user) if mixed else "",
    )
    files["report.html"] = written_report.encode("utf-8", "replace")
    return design(configuration, outcome, mechanism, files, certificate)


def _verdict(setting: Setting, singly: bool) -> str:
    """The verdict of Design on the people of the design, with that on single answers, which depends on their counts, only if ``singly``; empty
    where errors take too long."""
    with suppress(ValueError):
        said = setting.verdict(setting.chosen_mechanism, singly)
        return (
            said if singly else f"{said} How many answers are usable depends on counts that are left out of the files."
        )
    return ""


def to_prove(setting: Setting, searched: bool = True) -> list[str]:
    """The cases of a design whose proofs are to be found before its files are written.

    Parameters
    ----------
    setting : the design.
    searched : whether proofs may be searched for, which takes up to minutes. That is done in the case of a
        mechanism which is fitted to the questions.

    Returns
    -------
    The names of the cases without a proof where one is a matter of seconds, or may be searched for. None
    are where epsilon is not pure: proofs are about pure epsilon.
    """
    aimed = [setting.case] if searched and library.spec(setting.configuration.mechanism.name).aimed else []
    quick = [name for name, case in setting.cases.items() if choices.proved_unasked(setting.workload, case)]
    return [name for name in dict.fromkeys(aimed + quick) if not setting.delta and setting.proof(name) is None]


def certificate_of(setting: Setting, before: bool = False) -> Written | None:
    """The proof of what no mechanism can beat in the case that the mechanism of a design is judged in.

    Parameters
    ----------
    setting : the design.
    before : whether it has to be written already, as writing it takes as long as two checks.

    Returns
    -------
    The proof as files; None where there is none.
    """
    return None if setting.chosen_mechanism.delta > 0 else proof_files.written(setting, setting.case, before)


def device_size(kit: bytes) -> int:
    """Bytes of the file in a ``kit`` that each person's device downloads, compressed."""
    with zipfile.ZipFile(io.BytesIO(kit)) as files:
        return files.getinfo("device.json").compress_size

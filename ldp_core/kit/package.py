"""The kit: one zip with a design, what draws reports on people's devices, what checks it, and what says so to a privacy review.

It loads again as the design it is made from: see `ldp_core.designs.bundle`, and `ldp_core.kit.opening` for what counts reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldp_core import library
from ldp_core.designs import Configuration, bundle, strict_json
from ldp_core.kit import devices, readme, vectors
from ldp_core.kit.client import Device
from ldp_core.kit.report import report
from ldp_core.mechanisms import ExplicitMechanism, Mechanism, ScrambledPatterns
from ldp_core.people import Counts
from ldp_core.workloads import Workload

COPIED = ("client.py", "client.js", "audit.py", "collect.py")
"""Files that are the same in every kit."""
_HERE = Path(__file__).parent


def design(
    configuration: Configuration,
    outcome: Mapping[str, Any],
    mechanism: Mechanism | None,
    kit: Mapping[str, bytes] | None = None,
) -> bytes:
    """The zip of a design with the strategy of its mechanism, where that is fitted: probabilities cannot be rebuilt from parameters
    alone. ``kit`` are files to go with it. BundleError as of `designs.export`."""
    fitted: dict[str, Any] = {}
    if library.spec(configuration.mechanism.name).fitted:
        if isinstance(mechanism, ExplicitMechanism):
            fitted = {"strategy": mechanism.strategy, "prior": mechanism.prior}
        elif isinstance(mechanism, ScrambledPatterns):
            fitted = {"patterns": mechanism}
    return bundle.export(configuration, dict(outcome), **fitted, kit=kit)


def kit(
    configuration: Configuration,
    outcome: Mapping[str, Any],
    mechanism: Mechanism,
    workload: Workload,
    counts: Counts,
) -> bytes:
    """The kit of a design; the same design gives the same bytes.

    ``outcome`` holds results as `designs.export` takes them, ``counts`` (n,) the people expected or counted. Raises `devices.NoDevice`
    with the reason where reports of this mechanism cannot be drawn from whole numbers, or BundleError, one sentence, where the file
    could not be loaded again.
    """
    description = devices.describe(mechanism, configuration.epsilon, configuration.domain)
    device, audit = Device(description), mechanism.audit()
    files = {
        bundle.DEVICE: device_file(description),
        **{name: (_HERE / name).read_bytes() for name in COPIED},
        "count.sql": readme.count_sql(device.design).encode(),
        "vectors.json": vectors.text(vectors.vectors(description)).encode(),
        "README.md": readme.readme(configuration, audit, device.design, device.sizes).encode(),
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    told = report(configuration, outcome, mechanism, workload, counts, device.design, digests, bundle.software())
    return design(configuration, outcome, mechanism, {**files, "report.html": told.encode("utf-8", "replace")})


def device_file(description: Mapping[str, Any]) -> bytes:
    """device.json."""
    return strict_json.write(description) + b"\n"

"""A design as a file, and such files changed or damaged."""

import hashlib
import io
import json
import math
import zipfile

import numpy as np
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import (
    Bundle,
    BundleError,
    Configuration,
    MechanismRecipe,
    Population,
    export,
    load,
)
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.quantised import quantised


def domain(n: int) -> Domain:
    return Domain(attributes=(CategoricalAttribute(name="answer", values=tuple(map(str, range(n))), origin="data"),))


def randomized_response(n: int, epsilon: float) -> np.ndarray:
    kept, other = math.exp(epsilon), 1.0
    return (np.full((n, n), other) + (kept - other) * np.eye(n)) / (kept + n - 1)


CONFIGURATION = Configuration(
    domain=domain(4),
    population=Population(users=3000, origin="declared", shape="uniform"),
    mechanism=MechanismRecipe(name="optimized_gradient"),
)
STRATEGY = quantised(randomized_response(4, 1.0), 1.0)
OUTCOME = {"worst_case_variance": 12.5}


def explicit(strategy: np.ndarray, prior: np.ndarray | None = None, epsilon: float = 1.0) -> ExplicitMechanism:
    return ExplicitMechanism("optimized_gradient", strategy, epsilon, prior=prior)


EXPORTED = export(CONFIGURATION, OUTCOME, explicit(STRATEGY))


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents: dict[str, bytes] | list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", method) as archive:
        for name, content in contents.items() if isinstance(contents, dict) else contents:
            archive.writestr(name, content)
    return result.getvalue()


def npz(**arrays) -> bytes:
    result = io.BytesIO()
    np.savez_compressed(result, **arrays)
    return result.getvalue()


def with_strategy_file(content: bytes) -> bytes:
    """EXPORTED with another strategy.npz whose SHA-256 is recorded as it should be."""
    parts = members(EXPORTED)
    outcome = json.loads(parts["outcome.json"])
    outcome["strategy"]["sha256"] = hashlib.sha256(content).hexdigest()
    return packed({**parts, "strategy.npz": content, "outcome.json": json.dumps(outcome).encode()})


def with_setting(key: str, value) -> bytes:
    parts = members(EXPORTED)
    document = {**json.loads(parts["configuration.json"]), key: value}
    return packed({**parts, "configuration.json": json.dumps(document).encode()})


def complaint(content: bytes) -> str:
    with pytest.raises(BundleError) as caught:
        load(content)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def loaded_or_refused(content: bytes) -> Bundle | None:
    """The bundle, or None if it is refused in one sentence; other errors pass through."""
    try:
        return load(content)
    except ValueError as error:
        if "\n" in str(error):
            raise
        return None

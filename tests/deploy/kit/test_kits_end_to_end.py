"""Kits of the newest kinds of designs from people's devices to answers: the client draws, the collector counts, the answers are right."""

import csv
import io
import json
import math
import runpy
import subprocess
import sys

import numpy as np
import pytest
from kits import kit_of, members

from ldp_core import mechanisms
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.standalone import realise
from ldp_core.designs.supplied_tables import SuppliedTable
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.workloads import HistogramPart, PrefixPart

PEOPLE = 4_000


def realised(domain, parts, mechanism, parameters=None, **more):
    chosen = Configuration(
        domain=domain,
        population=Population(users=PEOPLE, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=parts),
        epsilon="1.0",
        mechanism=MechanismRecipe(name=mechanism, parameters=parameters or {}),
        optimizer=Optimizer(max_rounds=2),
        **more,
    )
    return realise(chosen)


def own_matrix():
    """Randomized response on six ages, in a supplied matrix."""
    share = 1 / (math.e * (1 - 1e-9) + 5)
    table = np.full((6, 6), share) + np.eye(6) * (1 - 6 * share)
    file = io.StringIO()
    csv.writer(file).writerows(table.tolist())
    own = SuppliedTable.from_file(file.getvalue().encode(), "my own", [], 6)
    domain = Domain(attributes=(NumericAttribute(name="age", edges=tuple(range(0, 70, 10)), origin="declared"),))
    return realised(domain, (HistogramPart(attribute="age"), PrefixPart(attribute="age")), own.mechanism, own=(own,))


def tree_of_shares():
    """A tree of local hashing whose levels are picked by the best shares."""
    domain = Domain(attributes=(NumericAttribute(name="age", edges=tuple(range(0, 130, 10)), origin="declared"),))
    told = {"branching": 3, "oracle": "olh", "reconstruction": "consistent", "shares": "fitted"}
    return realised(domain, (PrefixPart(attribute="age"),), "hierarchical", told)


def said(domain, numbers):
    """Values as people say them."""
    return {
        one.name: one.edges[number] if isinstance(one, NumericAttribute) else one.values[number]
        for one, number in zip(domain.attributes, numbers, strict=True)
    }


KINDS = {
    own_matrix: mechanisms.ExplicitMechanism,
    tree_of_shares: HierarchicalTree,
}


@pytest.mark.parametrize("kind", KINDS)
def test_reports_of_the_client_of_a_kit_are_answered_by_its_opener(kind, tmp_path):
    found = kind()
    parts = members(kit_of(found))
    assert all(f"`{name}`" in parts["README.md"].decode() for name in parts if name != "README.md")
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content)
    audited = subprocess.run(
        [sys.executable, "-I", "audit.py", "device.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "The promise holds." in audited.stdout

    rng = np.random.default_rng(5)
    shape = found.domain.shape
    values = np.minimum(rng.geometric(0.4, size=(PEOPLE, len(shape))) - 1, np.array(shape) - 1)
    device = runpy.run_path(str(tmp_path / "client.py"))["Device"](json.loads((tmp_path / "device.json").read_text()))
    reports = [device.report(said(found.domain, row), rng.bytes) for row in values.tolist()]
    with (tmp_path / "reports.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "design", "report"])
        writer.writerows([f"{k:032x}", device.design, report] for k, report in enumerate([*reports, reports[0]]))
        writer.writerow([f"{0:032x}", device.design, reports[1]])  # an id that was there
        writer.writerow(["f" * 32, "f" * 16, reports[1]])  # another design

    kit = open_kit(tmp_path)
    assert isinstance(kit.mechanism, KINDS[kind])
    counted = collector.collect(tmp_path / "reports.csv", kit.mechanism, kit.design)
    assert (counted.users, counted.repeated) == (PEOPLE + 1, 1)
    assert sum(counted.read[0].refused.values()) == 1

    told = collector.answers(counted, kit.mechanism, kit.workload)
    people = np.vstack([values, values[:1]])
    true = np.bincount(people[:, 0], minlength=shape[0])
    exact = kit.workload.answers(true)
    spread = np.sqrt(kit.mechanism.query_variances(kit.workload, true))
    weights = kit.workload.query_weights()
    scores = ((told["answer"] * weights - exact) / np.maximum(spread, 1e-9))[spread > 1e-6 * spread.max()]
    assert np.abs(scores).max() < 5
    assert 0.8 < np.sqrt(np.mean(scores**2)) < 1.25 or len(scores) < 20
    held = (told["low"] * weights <= exact + 1e-6) & (exact <= told["high"] * weights + 1e-6)
    assert held.mean() > 0.9

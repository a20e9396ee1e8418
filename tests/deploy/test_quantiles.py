"""Quantiles on the way back: from reports, with intervals that hold together."""

import json

import numpy as np
import pytest

from ldp_core import mechanisms
from ldp_core.data.domain import NumericAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.collector.quantiles import SHARES, quantiles
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs.standalone import realise
from ldp_core.workloads import HistogramPart, PrefixPart, over_attributes
from tests.deploy.test_journeys import bins, designed, labels

AGES = NumericAttribute(name="age", edges=tuple(range(0, 101, 5)), missing="category", origin="declared")


@pytest.mark.parametrize("missing", [False, True])
def test_all_quantiles_of_a_collection_are_in_their_intervals(missing):
    """Of 60 collections at most as many miss one as four standard errors allow; the values are those of the people."""
    axis = AGES if missing else bins("age", 20)
    workload = over_attributes([HistogramPart(attribute="age")], [axis])
    rng, counts = np.random.default_rng(0), np.rint(3000 * np.exp(-(((np.arange(20) - 9) / 4) ** 2) / 2)).astype(int)
    whole = np.append(counts, 4000) if missing else counts
    mechanism = mechanisms.create("oue", n=len(whole), epsilon=1.0)
    totals = np.cumsum(counts)
    true = [int(np.argmax(totals >= share * counts.sum() * (1 - 1e-9))) for share in SHARES]
    held, far = 0, []
    for _ in range(60):
        reports = mechanism.simulate(whole, rng)
        held_reports = collector.Collection.empty(mechanism, "design")
        collection = type(held_reports)(**{**vars(held_reports), "reports": reports})
        found = quantiles(collection, mechanism, workload, [axis])
        places = {name: [axis.labels.index(label) for label in found[name]] for name in ("value", "low", "high")}
        held += all(low <= own <= high for low, own, high in zip(places["low"], true, places["high"], strict=True))
        far.append(np.abs(np.array(places["value"]) - true).max())
        assert (np.array(places["low"]) <= places["value"]).all()
        assert (np.array(places["value"]) <= places["high"]).all()
    assert held >= 60 * 0.95 - 4 * 1.7
    assert np.mean(far) < 2


def test_the_command_gives_quantiles_where_running_totals_follow(tmp_path, capsys):
    for question, some in (("running totals", True), ("two types", False)):
        (tmp_path / "kit.zip").write_bytes(package.kit(realise(designed(question, "subset_selection"))))
        kit = open_kit(tmp_path / "kit.zip")
        counts = np.full(kit.domain.size, 500)
        reports = collector.simulated(kit.mechanism, kit.design, counts, 1)
        (tmp_path / "reports.csv").write_bytes(reports)
        call = ["collect", str(tmp_path / "kit.zip"), str(tmp_path / "reports.csv")]
        assert main([*call, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["quantiles"]
        assert [row["share"] for row in rows] == (list(SHARES) if some else [])
        assert main(call) == 0
        assert ("Quantile of" in capsys.readouterr().out) == some


def test_a_column_without_an_order_has_no_quantiles():
    workload = over_attributes(
        [PrefixPart(attribute="x"), HistogramPart(attribute="a")], [bins("x", 4), labels("a", 4)]
    )
    mechanism = mechanisms.create("randomized_response", n=16, epsilon=3.0)
    empty = collector.Collection.empty(mechanism, "design")
    full = type(empty)(**{**vars(empty), "reports": mechanism.simulate(np.full(16, 90), np.random.default_rng(0))})
    assert set(quantiles(full, mechanism, workload, [bins("x", 4), labels("a", 4)])["of"]) == {"x"}

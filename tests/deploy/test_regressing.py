"""A logistic regression from a design to its coefficients: by kit, command and the core."""

import json

import numpy as np
import pytest

from ldp_core.data.domain import Domain
from ldp_core.deploy import collector
from ldp_core.deploy.collector import regressing
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import WorkloadRecipe
from ldp_core.designs.standalone import realise
from ldp_core.workloads import SlopePart
from tests.deploy.test_journeys import KNOWN, bins, designed, labels

ATTRIBUTES = (labels("c", 3), KNOWN, labels("b", 2), bins("y", 3).model_copy(update={"known": True}))


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A kit that asks about b alone, beside another secret column, and 20,000 simulated reports."""
    folder = tmp_path_factory.mktemp("regressing")
    design = designed("slopes on known columns", "optimized").with_(
        domain=Domain(attributes=ATTRIBUTES),
        workload=WorkloadRecipe(parts=(SlopePart(of="b", on=("y", "arm")),)),
    )
    (folder / "kit.zip").write_bytes(package.kit(realise(design)))
    kit = open_kit(folder / "kit.zip")
    share = 1 / (1 + np.exp(0.5 - 0.8 * np.arange(2)[None, :, None, None] - 0.5 * (np.arange(3) - 1)))
    counts = 1100 * np.concatenate([1 - share, share], axis=2).repeat(3, axis=0)
    reports = collector.simulated(kit.mechanism, kit.design, np.rint(counts).astype(int).ravel(), 1)
    (folder / "reports.csv").write_bytes(reports)
    return folder


def test_coefficients_come_back_by_the_command(collected, capsys):
    call = ["collect", str(collected / "kit.zip"), str(collected / "reports.csv"), "--regress", "b ~ arm, y"]
    assert main([*call, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["regression"]
    assert [row["name"] for row in rows] == ["intercept", "arm arm 1 minus arm 0", "per 10 of y"]
    for row, true in zip(rows, (-0.5, 0.8, 0.5), strict=True):
        assert row["low"] < true < row["high"]
        assert abs(row["answer"] - true) < 4 * row["standard_error"] < 0.5
    assert main(call) == 0
    said = capsys.readouterr().out
    assert "Log odds of b b 1, by maximum likelihood" in said
    assert "per 10 of y" in said


def test_what_is_no_logistic_regression_is_refused_in_a_sentence(collected):
    kit = open_kit(collected / "kit.zip")
    held = collector.collect([collected / "reports.csv"], kit.mechanism, kit.design)
    for of, on, sentence in (
        ("c", ["y"], "two values"),
        ("b", ["c"], "two values"),
        ("b", [], "two values"),
        ("b", ["b"], "named twice"),
    ):
        with pytest.raises(ValueError, match=sentence):
            regressing.regression(held, kit.mechanism, kit.domain, of, on)
    for text in ("b", "b ~", "b, c ~ y"):
        with pytest.raises(ValueError, match="is written as"):
            regressing.formula(text)
    assert regressing.formula('"a, b" ~ y, "z, w"') == ("a, b", ["y", "z, w"])

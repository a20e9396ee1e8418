"""Shares and averages within groups from a kit's reports and on the command line, known groups and secret ones."""

import json

import numpy as np
import pandas as pd
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.standalone import realise
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, SharePart

SCORE = RangeAttribute(name="score", low=1, high=4, bins=4, integer=True, outside="clamp")
PARTS = (
    MeanPart(attribute="score", by=("arm",)),
    DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="b", second="a", shares=True),
    SharePart(of=HistogramPart(attribute="score"), within=("arm",)),
)


@pytest.mark.parametrize("known", [True, False], ids=["known", "secret"])
def test_a_kits_reports_become_shares_and_averages(known, tmp_path, capsys):
    arm = CategoricalAttribute(name="arm", values=("a", "b"), known=known)
    design = Configuration(
        domain=Domain(attributes=(arm, SCORE)),
        population=Population(users=1200, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=PARTS),
        epsilon="3.0",
        mechanism=MechanismRecipe(name="randomized_response"),
    )
    kit, reports, out = tmp_path / "kit.zip", tmp_path / "reports.csv", tmp_path / "answers.csv"
    kit.write_bytes(package.kit(realise(design)))
    device, rng = Device(open_kit(kit.read_bytes()).device), np.random.default_rng(0)
    people = [("a", 1)] * 300 + [("a", 4)] * 100 + [("b", 4)] * 600 + [("b", 3)] * 200
    sent = [device.report({"arm": arm, "score": score}, rng.bytes) for arm, score in people]
    reports.write_text("".join(f"{line}\n" for line in ["report", *sent]))
    about = ["collect", str(kit), str(reports)]
    assert main([*about, "-o", str(out)]) == 0
    told = pd.read_csv(out).set_index("name")
    expected = {
        "average of score, arm a": 1.75,
        "average of score, arm b": 3.75,
        "score 1: arm b as a share of arm b less arm a": -75,
        "score 4 and arm b as a share of arm b": 75,
    }
    for name, true in expected.items():
        row = told.loc[name]
        assert abs(row["answer"] - true) < 6 * row["standard_error"], name
        assert row["low"] < row["answer"] < row["high"]
        assert (row["method"] == "Fieller") != known
    assert set(told["unit"]) == {"people", "score", "%"}
    capsys.readouterr()
    assert main(about) == 0
    assert "average of score, arm b" in capsys.readouterr().out
    assert main([*about, "--any-time", "--json"]) == 0
    looks = json.loads(capsys.readouterr().out)["within_groups"]
    assert len(looks) == 2 + 4 + 8
    assert all((row["low"] is not None) == known for row in looks)


@pytest.mark.parametrize("known", [True, False], ids=["known", "secret"])
def test_where_a_compared_group_has_nobody_the_other_answers_are_given(known, tmp_path, capsys):
    arm = CategoricalAttribute(name="arm", values=("a", "b"), known=known)
    design = Configuration(
        domain=Domain(attributes=(arm, SCORE)),
        population=Population(users=200, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(PARTS[1], HistogramPart(attribute="score"))),
        mechanism=MechanismRecipe(name="randomized_response"),
    )
    kit, reports = tmp_path / "kit.zip", tmp_path / "reports.csv"
    kit.write_bytes(package.kit(realise(design)))
    device, rng = Device(open_kit(kit.read_bytes()).device), np.random.default_rng(0)
    sent = [device.report({"arm": "a", "score": 1 + i % 4}, rng.bytes) for i in range(200)]
    kept = [report for report in sent if known or int(report) < 4]  # those that name arm a: estimates of b are below 0
    reports.write_text("".join(f"{line}\n" for line in ["report", *kept]))
    for option in ([], ["--estimator", "wnnls"], ["--any-time"], ["--drawn"]):
        assert main(["collect", str(kit), str(reports), "--json", *option]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)
        assert all(row["answer"] is not None for row in found["answers"])
        assert {row["answer"] for row in found["within_groups"]} == {None}
        assert {row["standard_error"] for row in found["within_groups"]} == {None}
    assert main(["collect", str(kit), str(reports)]) == 0
    assert "none" in capsys.readouterr().out

"""Shares and averages within groups from a kit's reports and on the command line, known groups and secret ones."""

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
    DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="b", second="a"),
    SharePart(of=HistogramPart(attribute="score"), within=("arm",)),
)


def sent_to(folder, known, people, seed):
    """A kit and the reports of people, each an arm and a score, as files in a folder."""
    arm = CategoricalAttribute(name="arm", values=("a", "b"), known=known)
    design = Configuration(
        domain=Domain(attributes=(arm, SCORE)),
        population=Population(users=1200, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=PARTS),
        epsilon="3.0",
        mechanism=MechanismRecipe(name="randomized_response"),
    )
    kit, reports = folder / "kit.zip", folder / "reports.csv"
    kit.write_bytes(package.kit(realise(design)))
    device, rng = Device(open_kit(kit.read_bytes()).device), np.random.default_rng(seed)
    sent = [device.report({"arm": arm, "score": score}, rng.bytes) for arm, score in people]
    reports.write_text("".join(f"{line}\n" for line in ["report", *sent]))
    return kit, reports


@pytest.mark.parametrize("known", [True, False], ids=["known", "secret"])
def test_on_the_first_day_a_group_has_nobody_and_the_others_have_their_answers(known, tmp_path, capsys):
    """Nobody has been shown the new version yet. In a secret arm that is an estimate of a few people, or of less than nobody."""
    kit, reports = sent_to(tmp_path, known, [("a", k % 4 + 1) for k in range(800)], seed=2)
    out = tmp_path / "answers.csv"
    assert main(["collect", str(kit), str(reports), "-o", str(out)]) == 0
    told = pd.read_csv(out).set_index("name")
    there = told.index.str.endswith("in arm a")
    assert len(told) == 2 + 4 + 8
    assert (told["low"] < told["high"])[there].all()
    assert (
        abs(told["answer"]["average of score in arm a"] - 2.5) < 6 * told["standard_error"]["average of score in arm a"]
    )
    assert told[~there][["low", "high"]].isna().all(axis=None)
    assert (told["verdict"][~there] == "noise").all()
    assert (told["found"][told.index.str.endswith("b minus a")] == "too few people").all()
    capsys.readouterr()
    assert main(["collect", str(kit), str(reports)]) == 0
    assert "9 answers have no interval: by these reports the group may have nobody in it" in capsys.readouterr().out

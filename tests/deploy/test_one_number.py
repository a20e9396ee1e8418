"""One number of people needed, and the same errors, wherever a design goes: on the page, in the design's file, the kit, its report and the command
line, with the planning data and without."""

import json

import numpy as np
import pandas as pd
import pytest

from ldp_core import designs, wording
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Optimizer, Population, WorkloadRecipe
from ldp_core.designs.standalone import ready, realise
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, PrefixPart, SharePart, TotalPart
from tests.deploy.kit.kits import members

ARM = CategoricalAttribute(name="arm", values=("old", "new"), known=True)
SEX = CategoricalAttribute(name="sex", values=("f", "m"))
HAPPY = CategoricalAttribute(name="happy", values=("no", "yes"))
SCORE = RangeAttribute(name="score", low=0, high=20, bins=5, outside="clamp")
OVER = {"attribute": "arm", "first": "new", "second": "old"}
ASKED = {
    "counts": ((SEX, SCORE), PrefixPart(attribute="score"), HistogramPart(attribute="sex", weight=2.0)),
    "averages and totals": ((SEX, SCORE), MeanPart(attribute="score"), TotalPart(attribute="score", by=("sex",))),
    "known groups": (
        (ARM, HAPPY, SCORE),
        SharePart(of=HistogramPart(attribute="happy"), within=("arm",)),
        MeanPart(attribute="score", by=("arm",)),
    ),
    "secret groups": (
        (SEX, HAPPY, SCORE),
        SharePart(of=HistogramPart(attribute="happy"), within=("sex",)),
        MeanPart(attribute="score", by=("sex",)),
    ),
    "differences of known groups": (
        (ARM, HAPPY, SCORE),
        DifferencePart(of=HistogramPart(attribute="happy"), **OVER),
        DifferencePart(of=MeanPart(attribute="score"), **OVER),
    ),
    "differences of secret groups": (
        (SEX, HAPPY),
        DifferencePart(of=HistogramPart(attribute="happy"), attribute="sex", first="m", second="f"),
    ),
    "numbers of people compared": (
        (ARM, HAPPY),
        DifferencePart(of=HistogramPart(attribute="happy"), shares=False, **OVER),
    ),
    "a mixture": (
        (ARM, SEX, HAPPY, SCORE),
        SharePart(of=PrefixPart(attribute="score"), within=("sex",)),
        DifferencePart(of=HistogramPart(attribute="happy"), **OVER),
        HistogramPart(attribute="score"),
    ),
}


def table(attributes, people=2_000):
    """Rows of people, in groups of unlike sizes and answers."""
    rng, columns = np.random.default_rng(7), {}
    group = rng.random(people) < 0.3
    for one in attributes:
        shift = 0.25 * (group if one.name not in ("arm", "sex") else 0)
        share = np.clip(rng.beta(2, 3, people) + shift, 0, 0.999)
        columns[one.name] = 20 * share if one.name == "score" else np.where(share > 0.55, one.values[1], one.values[0])
        if one.name in ("arm", "sex"):
            columns[one.name] = np.where(group, one.values[1], one.values[0])
    return pd.DataFrame(columns)


def designed(asked, aim):
    attributes, *parts = ASKED[asked]
    return Configuration(
        domain=Domain(attributes=attributes),
        population=Population(users=1, origin="data", shape="data"),
        workload=WorkloadRecipe(parts=tuple(parts)),
        epsilon="1.5",
        mechanism=MechanismRecipe(name="optimized"),
        optimizer=Optimizer(max_rounds=3, aim=aim),
    ), table(attributes)


@pytest.mark.promise
@pytest.mark.parametrize("aim", ["worst_case", "average", "people"])
@pytest.mark.parametrize("asked", ASKED)
def test_people_needed_and_errors_are_one_wherever_the_design_goes(asked, aim, tmp_path, capsys):
    written, rows = designed(asked, aim)
    page = ready(written, rows)
    made = page.build("optimized")
    needed, lines, case = page.users_needed(made, page.case), page.lines(made), page.case
    assert case == aim
    assert page.on_data
    packed = package.kit(page)
    content = members(packed)
    outcome = json.loads(content["outcome.json"])
    assert outcome["users_needed"][case] == pytest.approx(needed, rel=1e-9)
    told = pd.DataFrame(outcome["questions"])
    for name in ("question", "answers", "unit", "target"):
        assert told[name].tolist() == lines[name].tolist()
    for name in ("standard_error", "finds"):
        assert told[name].to_numpy(float) == pytest.approx(lines[name].to_numpy(), rel=1e-9, nan_ok=True)
    report = content["report.html"].decode()
    assert f">{wording.users(needed)}</td>" in report
    # Opened again by somebody without the data.
    kit = open_kit(packed)
    assert kit.needed == pytest.approx(needed, rel=1e-9)
    assert kit.lines()["in_words"].tolist() == told["in_words"].tolist()
    assert kit.workload == page.workload
    assert [line.target for line in kit.workload.questionnaire.lines] == [line.target for line in page.answers.lines]
    again = realise(*(lambda held: (held.configuration, held))(designs.load(packed)), fit=False)
    if aim != "people":
        assert again.users_needed(again.chosen_mechanism, case) == pytest.approx(needed, rel=1e-9)
        errors = again.answered(again.chosen_mechanism)
        for name in ("standard_error", "finds", "target"):
            assert errors[name].to_numpy() == pytest.approx(page.answered(made)[name].to_numpy(), rel=1e-9, nan_ok=True)
    # On the command line, with the data and from the kit's own files.
    rows.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "kit.zip").write_bytes(packed)
    for more in ([], ["--data", str(tmp_path / "people.csv")]):
        assert main(["design", str(tmp_path / "kit.zip"), *more, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        if more or aim != "people":
            assert said["users_needed"] == pytest.approx(needed, rel=1e-9)
            assert [one["question"] for one in said["questions"]] == lines["question"].tolist()

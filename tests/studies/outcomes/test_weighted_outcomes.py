"""Outcomes of weighted unions over several attributes: answers are those of the plain queries, under their own names."""

import numpy as np
import pytest

from ldp_core import mechanisms, workloads
from ldp_core.studies import outcomes
from ldp_core.workloads import Axis

AXES = (
    Axis("age", ("young", "middle", "old", "very old"), 4, ordered=True, edges=(0, 20, 40, 60, 100), integer=True),
    Axis("sex", ("female", "male"), 2),
    Axis("smokes", ("no", "yes"), 2),
)
COUNTS = np.array([30, 10, 25, 5, 60, 20, 45, 25, 70, 15, 80, 30, 20, 5, 50, 10])
N = COUNTS.sum()
LABELS = [f"{a}, {b}, {c}" for a in AXES[0].labels for b in AXES[1].labels for c in AXES[2].labels]
SIGNED = [[1.0, -2.0] * 8, [45.0] * 16]


def parts(*weights):
    recipes = [
        workloads.PrefixPart(attribute="age"),
        workloads.MarginalsPart(groups=(("sex", "smokes"), ("age", "smokes"))),
        workloads.ParityPart(),
        workloads.MatrixPart.of(np.array(SIGNED), ["difference", "mean"]),
        workloads.PredicatesPart(predicates=(workloads.Predicate(expression="sex = female and smokes = yes"),)),
        workloads.PrefixPart(attribute="age", by=("sex",)),
    ]
    return [recipe.model_copy(update={"weight": w}) for recipe, w in zip(recipes, weights, strict=True)]


PLAIN = workloads.over_attributes(parts(1, 1, 1, 1, 1, 1), AXES)
WEIGHTED = workloads.over_attributes(parts(3, 0.5, 20, 1e-3, 7, 1), AXES)
VIEWS = {"answers": "name", "lines": "question", "errors": "mechanism", "curves": "label", "quantiles": "quantile"}


def run(workload, estimators=("unbiased",), trials=12):
    chosen = {name: mechanisms.create(name, 16, 1.0) for name in ("subset_selection", "hadamard")}
    scales = outcomes.scales_of(workload, AXES)
    return outcomes.compare(chosen, workload, COUNTS, LABELS, trials, 5, estimators, scales)


@pytest.fixture(scope="module")
def found():
    return run(WEIGHTED)


def test_weights_change_no_answer_interval_or_error(found):
    """They steer designs alone: these mechanisms are none of them."""
    plain = run(PLAIN)
    for view, named in VIEWS.items():
        weighted, unweighted = getattr(found, view), getattr(plain, view)
        assert list(weighted[named]) == list(unweighted[named])
        numbers = weighted.select_dtypes("number").columns
        assert weighted[numbers].to_numpy() == pytest.approx(unweighted[numbers].to_numpy(), rel=1e-6, nan_ok=True)


def test_shares_of_people_are_shares_and_other_answers_keep_their_sign(found):
    W = np.vstack([part.matrix for part in PLAIN.parts])
    one = found.answers.query("mechanism == 'hadamard'").reset_index()
    assert one["true"].to_numpy() == pytest.approx(100 * W @ COUNTS / N)
    counting = ((W == 0) | (W == 1)).all(axis=1)
    assert one["true"][counting].between(0, 100).all()
    assert (one["true"] < 0).any()
    mean = one.set_index("name").loc["mean"]  # the same for everybody, and so known: rounding leaves no doubt
    assert mean[["true", "low", "high"]].tolist() == pytest.approx([4500] * 3)
    assert mean["holds"]


def test_quantiles_are_those_of_the_attribute_the_questions_go_along(found):
    ages = COUNTS.reshape(4, 4).sum(axis=1)
    assert outcomes.scales_of(WEIGHTED, AXES)[0].values.tolist() == [10, 30, 50, 80]
    curve = found.curves.query("mechanism == 'hadamard'")
    assert curve["label"].tolist() == list(AXES[0].labels)
    assert curve["true"].to_numpy() == pytest.approx(np.cumsum(ages) / N)
    released = found.answers.query("mechanism == 'hadamard'")["answer"].to_numpy() / 100  # of the first collection
    assert curve["first"].to_numpy() == pytest.approx(released[:4])
    median = found.quantiles.query("mechanism == 'hadamard' and quantile == 0.5").iloc[0]
    assert median["true_label"] == AXES[0].labels[np.searchsorted(np.cumsum(ages), N / 2)]

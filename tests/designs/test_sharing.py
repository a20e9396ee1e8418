"""What a shared design reveals besides its choices, and that the shared file keeps nothing of it."""

import numpy as np
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import (
    Configuration,
    Optimizer,
    Population,
    SampleData,
    UploadedData,
    WorkloadRecipe,
    given_by_hand,
    left_out,
    left_out_in_words,
    observed_parts,
    revealing,
    shareable,
)
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    MatrixPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    SharePart,
)

ILLNESS = CategoricalAttribute(name="illness", values=("flu", "gout"), origin="data")
ANSWER = CategoricalAttribute(name="answer", values=("no", "yes"))
MATRIX = MatrixPart.of(np.eye(2), names=["Ann", "Bob"])
CONDITION = PredicatesPart(predicates=[Predicate(expression="illness = flu")])
HISTOGRAM = HistogramPart(attribute="illness")
OBSERVED = Configuration(
    data=UploadedData(
        recipes=(CategoricalRecipe(column="illness"),), query="SELECT illness FROM t WHERE doctor = 'Bob'"
    ),
    domain=Domain(attributes=(ILLNESS,)),
    population=Population(users=31_415, origin="data", shape="data"),
    workload=WorkloadRecipe(parts=(HISTOGRAM, MATRIX, CONDITION)),
    optimizer=Optimizer(histogram=(1.0, 2.0)),
)
DECLARED = Configuration(
    data=UploadedData(recipes=(CategoricalRecipe(column="answer", categories=("no", "yes")),)),
    domain=Domain(attributes=(ANSWER,)),
    workload=WorkloadRecipe(parts=(CONDITION,)),
)


def test_all_that_is_told_is_listed():
    by_hand = given_by_hand(OBSERVED)
    for what in ("histogram", "matrix", "conditions", "SQL query"):
        assert sum(what in sentence and "by hand" in sentence for sentence in by_hand) == 1
    assert revealing(OBSERVED) == [*observed_parts(OBSERVED), *by_hand]
    assert len(observed_parts(OBSERVED)) == 4


def test_nothing_of_it_is_shared():
    shared = shareable(OBSERVED)
    assert revealing(shared) == []
    text = shared.to_json().decode()
    for word in ("flu", "gout", "Ann", "Bob", "31415", "SELECT", MATRIX.data):
        assert word in OBSERVED.to_json().decode()
        assert word not in text
    assert shared == Configuration(workload=WorkloadRecipe(parts=(HISTOGRAM,)))


def test_a_declared_domain_stays_where_only_people_were_counted():
    counted = DECLARED.with_(population=Population(users=7, origin="data", shape="data"))
    assert len(revealing(counted)) == 3
    assert shareable(counted) == DECLARED


def test_only_what_was_given_by_hand_goes_where_the_domain_was_declared():
    uploaded = DECLARED.with_(
        workload=WorkloadRecipe(parts=(CONDITION, MATRIX)),
        data=OBSERVED.data.model_copy(update={"recipes": DECLARED.data.recipes}),
    )
    assert revealing(uploaded) == given_by_hand(uploaded) != []
    assert shareable(uploaded) == DECLARED
    assert shareable(DECLARED.with_(workload=WorkloadRecipe(parts=(MATRIX,)))).workload is None


def test_samples_are_made_up_but_matrices_are_not():
    sample = OBSERVED.with_(
        data=SampleData(file="ages.csv", recipes=(CategoricalRecipe(column="illness"),)), optimizer=Optimizer()
    )
    assert revealing(sample) == ["The uploaded matrix of queries was given by hand."]
    assert shareable(sample) == sample.with_(workload=WorkloadRecipe(parts=(HISTOGRAM, CONDITION)))


@pytest.mark.parametrize("origin", ["data", "declared"])
def test_edited_recipes_count_without_a_domain(origin):
    recipe = CategoricalRecipe(column="illness", categories=("flu", "gout"), origin=origin)
    shared = shareable(Configuration(data=UploadedData(recipes=(recipe,))))
    assert (shared.data is None) == (origin == "data")


def test_what_is_compared_or_divided_is_looked_into():
    less = DifferencePart(of=PrefixPart(attribute="age"), attribute="illness", first="flu", second="gout")
    shares = SharePart(of=CONDITION, within=("illness",))
    for part in (less, shares):
        design = OBSERVED.with_(workload=WorkloadRecipe(parts=(part,)))
        assert revealing(design) != revealing(OBSERVED.with_(workload=None))
        assert shareable(design).workload is None
        assert {"conditions", "differences"} & set(left_out(design))
    matrix = DECLARED.with_(workload=WorkloadRecipe(parts=(SharePart(of=MATRIX, within=("answer",)),)))
    assert left_out(matrix) == ("matrix",)


def test_what_is_left_out_is_named_without_telling_any_of_it():
    assert left_out(OBSERVED) == ("attributes", "query", "matrix", "conditions", "histogram")
    counted = DECLARED.with_(population=Population(users=7, origin="data", shape="data"))
    assert left_out(counted) == ("people",)
    assert left_out(DECLARED) == left_out(Configuration()) == ()
    sentence = left_out_in_words(left_out(OBSERVED))
    assert sentence.startswith("The link leaves out the values that people can have (choose their table")
    assert sentence.count(";") == 4
    assert left_out_in_words(["<b>", ""]) == ""

"""Questions within groups, differences of groups, and groups that the collector knows: their blocks against the whole Gram matrix."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import (
    AllMarginalsPart,
    DifferencePart,
    HistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    MeanPart,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    SharePart,
    TotalPart,
    TypesPart,
    over_attributes,
)
from tests.refused import refused

ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"), known=True)
REGION = CategoricalAttribute(name="region", values=("north", "south"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True, outside="other")
SEX = CategoricalAttribute(name="sex", values=("female", "male"))
ORDERS = [(ARM, SCORE), (SCORE, ARM), (SEX, ARM, SCORE, REGION)]
PARTS = [
    [PrefixPart(attribute="score", by=("arm",))],
    [HistogramPart(attribute="score", by=("arm",)), RangesPart(attribute="score", weight=0.3)],
    [KWayMarginalsPart(k=1)],
    [KWayMarginalsPart(k=2)],
    [AllMarginalsPart()],
    [PredicatesPart(predicates=[{"expression": "score < 3 and arm = 'a'"}, {"expression": "arm = 'a' or score > 3"}])],
    [DifferencePart(of=RangesPart(attribute="score"), attribute="arm", first="b", second="a", weight=3, shares=False)],
    [
        PrefixPart(attribute="score"),
        DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="b", second="a"),
    ],
    [PrefixPart(attribute="score"), HistogramPart(attribute="arm")],
    [TypesPart(family="prefix")],
    [MeanPart(attribute="score")],
]


def secret(attribute):
    return attribute.model_copy(update={"known": False})


@pytest.mark.parametrize("attributes", ORDERS, ids=lambda order: "-".join(a.name for a in order))
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: parts[0].summary)
def test_blocks_are_those_of_the_gram_matrix(parts, attributes):
    attributes = [
        a.model_copy(update={"outside": "clamp"}) if parts[0].kind == "mean" and a is SCORE else a for a in attributes
    ]
    workload = over_attributes(parts, Domain(attributes=attributes))
    plain = over_attributes(parts, [secret(a) for a in attributes])
    G, strata = workload.gram_dense(), workload.strata
    assert np.allclose(G, plain.gram_dense()) == all(line.rates is None for line in workload.questionnaire.lines)
    assert np.array_equal(np.sort(strata.types.ravel()), np.arange(workload.n))
    for z, own in enumerate(strata.types):
        block = strata.scale[z] ** 2 * strata.designs[strata.which[z]].gram_dense() + strata.constant[z]
        assert block == pytest.approx(G[np.ix_(own, own)], rel=1e-12, abs=1e-12)
    assert workloads.from_spec(workload.spec) == workload != plain
    assert plain.strata is None


def test_groups_that_are_asked_alike_have_one_design():
    strata = over_attributes([PrefixPart(attribute="score", by=("arm",), weight=2)], [ARM, SCORE]).strata
    assert [type(design) for design in strata.designs] == [workloads.OnAttributes]
    assert strata.scale.tolist() == [1.0] * 3
    compared = DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="b")
    numbers = compared.model_copy(update={"shares": False})
    assert over_attributes([numbers], [ARM, SCORE]).strata.scale.tolist() == [1.0, 1.0, 0.0]
    people = np.repeat([1, 2, 3], 7)
    unlike = over_attributes([compared], [ARM, SCORE], counts=people).strata
    assert len(unlike.designs) == 1
    assert unlike.scale == pytest.approx([6, 3, 0])  # one over the share of everybody in each of the groups compared


def test_columns_that_no_question_is_about_are_found_beside_known_ones():
    workload = over_attributes([PrefixPart(attribute="score")], [ARM, SCORE, SEX])
    assert workloads.unused_attributes(workload, (3, 7, 2)) == (0, 2)


def test_one_group_is_no_group_and_only_groups_are_refused():
    one = ARM.model_copy(update={"values": ("a",)})
    parts = [PrefixPart(attribute="score")]
    assert over_attributes(parts, [one, SCORE]).digest == over_attributes(parts, [secret(one), SCORE]).digest
    refused("no secret to protect", Domain, attributes=(ARM, REGION))
    refused(
        "knows already; ask about a secret", lambda: over_attributes([HistogramPart(attribute="arm")], [ARM, SCORE])
    )
    refused(
        "nothing to protect",
        lambda: over_attributes([TypesPart(family="prefix")], [ARM, SEX.model_copy(update={"values": ("female",)})]),
    )
    many = RangeAttribute(name="shop", low=0, high=999, bins=1000, integer=True, known=True)
    refused("make 1,000 groups; at most 256", over_attributes, parts, [many, SCORE])


@pytest.mark.parametrize(
    "part",
    [
        HistogramPart(attribute="score"),
        PrefixPart(attribute="score"),
        KWayMarginalsPart(k=2),
        AllMarginalsPart(),
        MarginalsPart(groups=[("score",), ("sex", "score")]),
        PredicatesPart(predicates=[{"expression": "score < 3 and sex = 'male'"}]),
        MatrixPart.of(np.arange(14.0 * 2).reshape(2, 14)),
        TypesPart(family="all_range"),
        TypesPart(family="histogram"),
    ],
    ids=lambda part: part.kind,
)
def test_questions_within_groups_are_those_of_each_group(part):
    """Against the rows of the question about the people of one group alone."""
    axes = [SEX, secret(ARM), SCORE]
    alone = part.build([SEX, SCORE])
    within = part.model_copy(update={"by": ("arm",)}).build(axes)
    less = DifferencePart(of=part, attribute="arm", first="c", second="a", shares=False).build(axes)
    counts = np.random.default_rng(0).integers(0, 50, (2, 3, 7))
    own = [alone.answers(counts[:, k].ravel()) for k in range(3)]
    assert np.sort(within.answers(counts.ravel())) == pytest.approx(np.sort(np.concatenate(own)))
    assert np.sort(less.answers(counts.ravel())) == pytest.approx(np.sort(own[2] - own[0]))
    assert part.model_copy(update={"by": ("arm",)}).summary.endswith(", within each arm")


def test_names_and_refusals_of_groups():
    axes = [secret(ARM), SCORE]
    less = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="b", second="a", shares=False)
    assert less.build(axes).query_name(2) == "score up to 3, arm b minus arm a"
    assert less.summary == "Running totals along score, arm b minus a, numbers of people"
    assert less.model_copy(update={"shares": True}).summary == "Running totals along score, arm b minus a, shares"
    assert HistogramPart(attribute="score", by=("arm",)).build(axes).query_name(1) == "score 1 and arm b"
    for part, words in [
        (less.model_copy(update={"first": "z"}), "z and a are not two of them"),
        (less.model_copy(update={"first": "a"}), "compares two values"),
        (less.model_copy(update={"attribute": "score"}), "no attribute score|compares two values"),
        (HistogramPart(attribute="arm", by=("arm",)), "named twice"),
        (HistogramPart(attribute="score", by=("arms",)), "did you mean arm"),
        (MeanPart(attribute="score", by=("arm",)), "people without a number"),
        (TypesPart(family="prefix", by=("arm", "score")), "nothing to ask within"),
        (less.model_copy(update={"of": MeanPart(attribute="score")}), "shares=True"),
        (less.model_copy(update={"second": "b", "shares": True}), "compares two values"),
        (SharePart(of=MeanPart(attribute="score"), within=("arm",)), "ask for the average within each group"),
        (SharePart(of=TotalPart(attribute="score"), within=("arm",)), "A total has no share"),
        (SharePart(of=HistogramPart(attribute="arm"), within=("arm",)), "named twice"),
        (SharePart(of=HistogramPart(attribute="score"), within=("arms",)), "did you mean arm"),
        (MeanPart(attribute="score", by=("score",)), "named twice"),
    ]:
        refused(words, over_attributes, [part], axes)
    assert (
        "shares"
        not in DifferencePart(of=TotalPart(attribute="score"), attribute="arm", first="b", second="a").model_dump()
    )
    assert "by" not in HistogramPart(attribute="score").model_dump()
    assert "known" not in SEX.model_dump()

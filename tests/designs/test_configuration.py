import json

import numpy as np
import pytest

from ldp_core import library
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, Merge, NumericRecipe, ReadOptions, build_domain
from ldp_core.designs import (
    Configuration,
    ConfigurationError,
    DifferenceToDetect,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    UploadedData,
    WorkloadRecipe,
    former,
    load_configuration,
    parse_epsilon,
)
from ldp_core.designs.configuration import PlanningRates
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    TypesPart,
)
from tests.refused import refused

TRANSPORT = CategoricalAttribute(name="transport", values=("bus", "car", "foot"), origin="declared")
AGE = NumericAttribute(name="age", edges=(0.0, 20.0, 40.0), binning="equal_width", origin="data")
RECIPES = (
    CategoricalRecipe(column="transport", merges=[Merge(name="rail", texts=["tram", "train"])]),
    NumericRecipe(column="age"),
    DateRecipe(column="day"),
)

FULL = Configuration(
    data=UploadedData(recipes=RECIPES, counts="people", reading=ReadOptions(header=False), query="SELECT 1"),
    domain=Domain(attributes=(TRANSPORT,)),
    population=Population(users=3000, origin="declared", shape="uniform"),
    workload=WorkloadRecipe(
        parts=(
            HistogramPart(attribute="transport"),
            PredicatesPart(predicates=[Predicate(expression="transport = bus")]),
            MatrixPart.of(np.eye(3)),
            TypesPart(family="width_range", parameters={"width": 2}),
            MarginalsPart(groups=[["transport"]]),
        )
    ),
    mechanism=MechanismRecipe(name="hierarchical", parameters={"oracle": "hadamard", "reconstruction": "optimal"}),
)

# A value different from FULL's for every field an analyst can change.
CHANGES = {
    "data": SampleData(file="commute.csv", recipes=RECIPES),
    "domain": Domain(attributes=(AGE,)),
    "population": Population(users=3001, origin="declared", shape="uniform"),
    "workload": WorkloadRecipe(parts=(HistogramPart(attribute="transport"),)),
    "epsilon": "1.5",
    "reports_per_user": 2,
    "mechanism": MechanismRecipe(name="hierarchical", parameters={"branching": 8, "oracle": "hadamard"}),
    "compared": ("hadamard",),
    "targets": {"points": 2.0, "difference of points": DifferenceToDetect(difference=5.0, power=0.9)},
    "planning": "even",
    "rates": (*[None] * 4, PlanningRates(ratios=[[0.25, None]], sizes=[[0.1, 0.0]])),
    "simulation": Simulation(seed=1),
    "optimizer": Optimizer(seed=1),
    "types": "all",
}


def document(configuration: Configuration = FULL) -> dict:
    return json.loads(configuration.to_json())


def edited(path: str, value) -> str:
    """FULL's JSON with the value at "key/key/index" replaced (or added)."""
    result = target = document()
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        target = target[step]
    target[last] = value
    return json.dumps(result)


def complaint(content) -> str:
    said = refused(r".", load_configuration, content, kind=ConfigurationError)
    assert len(said) < 600
    return said


# --- identity -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", CHANGES)
def test_the_digest_sees_the_field_and_a_digest_of_others_does_not(field):
    changed = FULL.with_(**{field: CHANGES[field]})
    others = set(CHANGES) - {field}
    assert changed.digest() != FULL.digest()
    assert changed.digest(of=[field]) != FULL.digest(of=[field])
    assert changed.digest(of=others) == FULL.digest(of=others)


def test_spellings_of_one_epsilon_share_a_digest_but_stay_as_entered():
    other = FULL.with_(epsilon=" 1.0 ")
    assert other.digest() == FULL.digest()
    assert load_configuration(other.to_json()).epsilon == "1.0"


def test_what_was_taken_of_planning_data_goes_with_its_questions():
    """A design that was opened without its data has nothing else that it could be taken of."""
    kept = FULL.with_(rates=CHANGES["rates"])
    assert kept.with_(epsilon="2", workload=kept.workload).rates == CHANGES["rates"]
    for field in ("workload", "domain"):
        assert kept.with_(**{field: CHANGES[field]}).rates is None
    assert load_configuration(kept.to_json()) == kept


def test_files_of_this_version_keep_the_digests_that_they_record():
    asked = (HistogramPart(attribute="transport"), PrefixPart(attribute="age"), RangesPart(attribute="age"))
    design = Configuration(domain=Domain(attributes=(TRANSPORT, AGE)), workload=WorkloadRecipe(parts=asked))
    assert design.digest().startswith("000397904be82b6b")


def test_a_file_of_version_9_means_what_it_meant():
    kinds = DifferencePart(of=HistogramPart(attribute="transport"), attribute="region", first="north", second="south")
    region = CategoricalAttribute(name="region", values=("north", "south"), origin="declared", known=True)
    asked = FULL.with_(domain=Domain(attributes=(region, TRANSPORT)), workload=WorkloadRecipe(parts=(kinds,)))
    written = document(asked.with_(optimizer=Optimizer(aim="worst_case")))
    for key in ("targets", "planning", "rates"):
        del written[key]
    written |= {"version": 9, "own": [], "target_alpha": 0.0025, "difference": None, "detection": {"difference": 0.05}}
    written["simulation"]["prior_people"] = None
    found = load_configuration(json.dumps(written))
    (part,) = found.parts
    assert not part.shares  # then the default
    assert found.targets == {"points": 5.0}
    assert found.with_(targets=None, workload=asked.workload, optimizer=Optimizer()) == asked
    written["difference"] = "smallest"
    assert load_configuration(json.dumps(written)).targets is None
    written["own"] = [{"name": "Ours", "look": 1, "reports": 2, "types": 2, "data": "AAAA"}]
    assert "brings strategy matrices along as version 9" in complaint(json.dumps(written))


@pytest.mark.parametrize(("bins", "day"), [(64, ("hadamard", "optimal")), (4096, ("oue", "consistent"))])
def test_trees_of_version_9_have_the_defaults_of_their_day(bins, day):
    recipe = NumericRecipe(column="age", method="range", low=0, high=bins - 1, bins=bins, integer=True)
    (age,) = build_domain([recipe]).attributes
    names = ("hierarchical", "hierarchical(branching=8)", "hierarchical(reconstruction=raw)", "haar")
    asked = Configuration(
        domain=Domain(attributes=(age, TRANSPORT)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="age"),)),
        mechanism=MechanismRecipe(name="hierarchical", parameters={"branching": 2}),
        compared=names,
    )
    of_day = f"oracle={day[0]}, reconstruction={day[1]}"
    variants = (f"hierarchical(branching=8, {of_day})", f"hierarchical(oracle={day[0]}, reconstruction=raw)", "haar")
    found = load_configuration(json.dumps(document(asked) | {"version": 9, "target_alpha": 0.01, "difference": None}))
    assert found.mechanism.parameters == {"branching": 2, "oracle": day[0], "reconstruction": day[1]}
    assert tuple(library.spec(name).name for name in found.compared) == ("hierarchical", *variants)
    other = document(asked.with_(mechanism=MechanismRecipe(name="haar"))) | {"version": 9}
    found = load_configuration(json.dumps(other | {"target_alpha": 0.01, "difference": None}))
    assert [library.spec(name).name for name in found.compared] == [f"hierarchical({of_day})", *variants]


def test_changing_validates_and_leaves_the_original_alone():
    refused(
        r"^reports_per_user: 0 should be greater than or equal to 1\.$",
        FULL.with_,
        reports_per_user=0,
        kind=ConfigurationError,
    )
    refused("colour is not a known setting", FULL.with_, colour="red", kind=ConfigurationError)
    assert FULL.with_(compared=["a", "b"]).compared == ("a", "b")
    assert FULL.with_(reports_per_user=np.int64(3)).total_epsilon == 3.0
    assert FULL.reports_per_user == 1
    refused("frozen", setattr, FULL, "epsilon", "2")


# --- epsilon ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [(" 1 ", 1.0), ("1e-1", 0.1), (".5", 0.5), ("20", 20.0)])
def test_epsilon_as_people_type_it(text, value):
    assert parse_epsilon(text) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("1_0", "not a number"),
        ("inf", "must be finite"),
        ("1e-400", "too small"),
        ("-1", "negative"),
        ("1000", "Epsilon 1000 is too large"),
        ("1,5", "write 1.5 with a point"),
        ("٣", "digits other than 0 to 9"),
        ("1" * 10**6, "1,000,000 characters"),
        (1.0, "kept as the text"),
    ],
)
def test_bad_epsilon_is_one_sentence_with_the_way_out(text, reason):
    said = refused(r".", parse_epsilon, text)
    assert reason in said
    assert said.endswith("Enter a number from 0.001 to 20; 0.5 to 4 is common.")
    assert len(said) < 250


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("workload/parts/0/kind", "prefx", "workload > parts > item 1: kind 'prefx' should be one of histogram, j"),
        ("workload/parts/0", {}, "workload > parts > item 1: kind is missing."),
        ("workload/parts/0", 3, "workload > parts > item 1: 3 should be an object in braces"),
        ("workload/parts/0/attribute", "", "parts > item 1 > attribute: '' should have at least 1 character."),
        ("workload/parts/1/weight", 0, "workload > parts > item 2 > weight: 0 should be"),
        ("workload/parts/2/names", ["a"], "item 3: the matrix has 3 queries and 1 names: name each one."),
        ("workload/parts/3/parameters/width", True, "item 4 > parameters > width: true should be a valid integer"),
        ("workload/parts", [{"kind": "all_marginals"}] * 101, "a list should have at most 100 items"),
        ("mechanism/parameters/brnching", 4, "Hierarchical has no parameter 'brnching'; did you mean 'branching'?"),
        ("mechanism/parameters/branching", None, "mechanism > parameters > branching: a parameter must be"),
        ("data/source", "web", "data: source 'web' should be one of sample, upload, declared"),
        ("data", {"source": "sample", "file": "../secret.csv", "recipes": []}, "data > file: the sample must be a ba"),
        ("data/recipes/0/merges/0/texts", "tram", "item 1 > merges > item 1 > texts: 'tram' should be a valid"),
        ("data/reading/delimiter", "ab", "data > reading > delimiter: a delimiter is one character such as"),
        ("domain/attributes/0/origin", "guess", "item 1 > origin: 'guess' should be declared or data."),
        ("population/users", 10**10, "should be less than or equal to 1000000000."),
        ("population", {"users": 1, "origin": "declared", "shape": "bell", "draw": 1}, "bell has no draw: remove it"),
        ("population/shape", "dirichlet", "population: the shape dirichlet needs a concentration and a draw"),
        ("epsilon", 1, "epsilon: 1 should be a valid string"),
        ("epsilon", "1000", "Epsilon 1000 is too large"),
        ("targets", {"points": 0}, "targets > points: 0 should be greater than 0;"),
        ("targets", {"points": {"difference": 5, "power": 1}}, "power: 1 should be less than or equal to 0.9999"),
        (
            "rates",
            [{"ratios": [[0.5]], "sizes": [[2]]}],
            "sizes > item 1 > item 1: 2 should be less than or equal to 1.",
        ),
        ("rates", [{"ratios": [[0.5]], "sizes": [[1e-300]]}], "a group is smaller than one person"),
        ("rates", [{"ratios": [[0.5]], "sizes": [[None]]}], "sizes > item 1 > item 1: null should be"),
        ("rates", [{"ratios": [[0.5], [1]], "sizes": [[0.5], [0.1, 0.2]]}], "each ratio needs the size of its group"),
        ("simulation/trials", 10**9, "less than or equal to 10000."),
        ("mechanism", None, "mechanism: null should be an object in braces"),
        ("optimizer/histogram", [0.0, 0.0], "a histogram needs at least one number above 0"),
        ("colour", "red", "colour is not a known setting"),
        ("version", 7, "has format version 7, and this program reads version 10: make the design anew"),
        ("format", "other", 'it must be an object with "format": "ldp-design"'),
    ],
)
def test_an_edited_file_is_refused_naming_the_place(path, value, reason):
    assert reason in complaint(edited(path, value))


@pytest.mark.parametrize("key", Configuration.model_fields)
def test_a_missing_key_is_never_replaced_by_a_default(key):
    content = document(FULL)
    del content[key]
    assert key in complaint(json.dumps(content))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"format": "ldp-design",\n "version": }', "not valid JSON (line 2, column 13)"),
        ("[]", "must be an object"),
        ('{"epsilon": NaN}', "contains NaN"),
        ('{"epsilon": 1e999}', "'1e999', which is too large"),
        ('{"epsilon": "1", "epsilon": "20"}', "has the key 'epsilon' twice"),
        ('{"name": "\\ud800"}', "half of a character"),
        ("[" * 10**5, "nested too deeply"),
        ('{"format": "ldp-design"}'.encode("utf-16"), "not UTF-8"),
        (" " * 5_000_001, "too large: at most 5 MB"),
    ],
)
def test_what_is_no_configuration_is_told_in_one_sentence(content, reason):
    assert reason in complaint(content)


# --- workloads ----------------------------------------------------------------------------------------------------

SEX = CategoricalAttribute(name="sex", values=("f", "m"))


@pytest.mark.parametrize(("mechanism", "parameter", "value"), former.GONE)
def test_a_file_that_names_what_has_gone_is_refused_by_its_name(mechanism, parameter, value):
    one = {parameter: value} if parameter else {}
    variant = f"{mechanism}({parameter}={value})" if parameter else mechanism
    for change in ({"mechanism": {"name": mechanism, "parameters": one}}, {"compared": ["oue", variant]}):
        with pytest.raises(ConfigurationError) as caught:
            load_configuration(json.dumps({**document(), **change}))
        assert mechanism in str(caught.value)
        assert value in str(caught.value)
        assert "does not have any more" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_workload_of_parts_is_built_on_the_domain():
    domain = Domain(attributes=(AGE, SEX))
    parts = (PrefixPart(attribute="age"), HistogramPart(attribute="sex", weight=2.0))
    built = WorkloadRecipe(parts=parts).build(domain)
    np.testing.assert_array_equal(built.matrix, [[1, 1, 0, 0], [1, 1, 1, 1], [2, 0, 2, 0], [0, 2, 0, 2]])
    refused(
        r"^Group 2 of the queries: the domain has no attribute sxe",
        lambda: WorkloadRecipe(parts=(parts[0], HistogramPart(attribute="sxe"))).build(domain),
    )


def test_default_workloads_give_way_and_others_stay():
    one, other, both = Domain(attributes=(AGE,)), Domain(attributes=(SEX,)), Domain(attributes=(AGE, SEX))
    default = WorkloadRecipe.default(one)
    assert default.parts == (PrefixPart(attribute="age"),)
    assert default.following(one, other) == WorkloadRecipe(parts=(HistogramPart(attribute="sex"),))
    assert default.following(one, both) == WorkloadRecipe(parts=(KWayMarginalsPart(k=2),))
    chosen = WorkloadRecipe(parts=(HistogramPart(attribute="age", weight=3.0), TypesPart(family="prefix")))
    renamed = WorkloadRecipe(parts=(HistogramPart(attribute="sex", weight=3.0), TypesPart(family="prefix")))
    assert chosen.following(one, other) == renamed
    assert chosen.following(one, both) == chosen.following(both, one) == chosen.following(None, other) == chosen


# --- size ---------------------------------------------------------------------------------------------------------


def test_a_design_too_large_to_load_is_told_before_it_is_written():
    FULL.check_size()
    random = np.random.default_rng(3)
    fits, too_large = (
        Configuration(workload=WorkloadRecipe(parts=(MatrixPart.of(random.random((rows, 1000))),)))
        for rows in (480, 520)  # random float64 do not pack: 8 bytes an entry, 4/3 of them in base64
    )
    fits.check_size()
    assert load_configuration(fits.to_json()) == fits
    refused(
        r"would have 5\.\d MB, and at most 5 MB .*matrix of fewer queries",
        too_large.check_size,
        kind=ConfigurationError,
    )
    refused("too large: at most 5 MB", lambda: load_configuration(too_large.to_json()), kind=ConfigurationError)
    texts = Configuration(data=UploadedData(recipes=RECIPES, query="x" * 5_000_000))
    refused("use fewer or shorter texts", texts.check_size, kind=ConfigurationError)

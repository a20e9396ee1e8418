import json

import numpy as np
import pytest
from design_strategies import PARTS, configurations, recipes, scalars
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import designs, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, Merge, NumericRecipe, ReadOptions
from ldp_core.designs import (
    Configuration,
    ConfigurationError,
    DifferenceToDetect,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    SuppliedTable,
    UploadedData,
    WorkloadRecipe,
    load_configuration,
    parse_epsilon,
)
from ldp_core.workloads import (
    HistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    TypesPart,
)

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
    mechanism=MechanismRecipe(name="hierarchical", parameters={"branching": 4, "oracle": "hadamard"}),
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
    "target_alpha": 0.02,
    "difference": "smallest",
    "detection": DifferenceToDetect(power=0.9),
    "simulation": Simulation(seed=1),
    "optimizer": Optimizer(seed=1),
    "own": (SuppliedTable.from_file(b"0.4,0.6\n0.6,0.4", "Ours", [], 2),),
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


def reverse_keys(value):
    if isinstance(value, dict):
        return {key: reverse_keys(value[key]) for key in reversed(value)}
    return [reverse_keys(item) for item in value] if isinstance(value, list) else value


def complaint(content) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(content)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 600
    return sentence


def refusal(read, content) -> str:
    """The sentence of the ValueError that refuses the content, empty if it is accepted; other errors pass through."""
    try:
        read(content)
    except ValueError as error:
        return str(error)
    return ""


# --- identity -----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(configurations)
def test_a_configuration_survives_its_file(configuration):
    loaded = load_configuration(configuration.to_json())
    assert loaded == configuration
    assert loaded.digest() == configuration.digest()
    assert loaded.to_json() == configuration.to_json()


@settings(max_examples=25)
@given(configurations)
def test_the_digest_ignores_the_order_of_keys(configuration):
    shuffled = json.dumps(reverse_keys(document(configuration)))
    assert load_configuration(shuffled).digest() == configuration.digest()


@given(configurations, configurations)
def test_only_equal_files_share_a_digest(first, second):
    assert (first.digest() == second.digest()) == (first.to_json() == second.to_json())


def test_every_field_can_be_changed():
    assert set(CHANGES) == set(Configuration.model_fields) - {"format", "version"}


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


def test_changing_validates_and_leaves_the_original_alone():
    with pytest.raises(ConfigurationError, match=r"^reports_per_user: 0 should be greater than or equal to 1\.$"):
        FULL.with_(reports_per_user=0)
    with pytest.raises(ConfigurationError, match="colour is not a known setting"):
        FULL.with_(colour="red")
    assert FULL.with_(compared=["a", "b"]).compared == ("a", "b")
    assert FULL.with_(reports_per_user=np.int64(3)).total_epsilon == 3.0
    assert FULL.reports_per_user == 1
    with pytest.raises(ValueError, match="frozen"):
        FULL.epsilon = "2"


def test_total_epsilon_adds_up_reports():
    assert FULL.with_(epsilon="0.5", reports_per_user=4).total_epsilon == 2.0


# --- epsilon ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [(" 1 ", 1.0), ("1e-1", 0.1), (".5", 0.5), ("20", 20.0)],
)
def test_epsilon_as_people_type_it(text, value):
    assert parse_epsilon(text) == value


@given(st.floats(0.001, 20))
def test_epsilon_is_read_exactly(value):
    assert parse_epsilon(repr(value)) == value


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
    with pytest.raises(ValueError) as caught:
        parse_epsilon(text)
    assert reason in str(caught.value)
    assert str(caught.value).endswith("Enter a number from 0.001 to 20; 0.5 to 4 is common.")
    assert len(str(caught.value)) < 250


@given(st.text())
def test_no_text_crashes_the_parser(text):
    sentence = refusal(parse_epsilon, text)
    assert sentence.startswith("Epsilon") or 0.001 <= parse_epsilon(text) <= 20


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (
            "workload/parts/0/kind",
            "prefx",
            "workload > parts > item 1: kind 'prefx' should be one of histogram, joint_",
        ),
        ("workload/parts/0", {}, "workload > parts > item 1: kind is missing."),
        ("workload/parts/0", 3, "workload > parts > item 1: 3 should be an object in braces"),
        ("workload/parts/0/attribute", "", "parts > item 1 > attribute: '' should have at least 1 character."),
        ("workload/parts/1/weight", 0, "workload > parts > item 2 > weight: 0 should be"),
        ("workload/parts/1/colour", 1, "workload > parts > item 2 > colour is not a known setting"),
        ("workload/parts/1/predicates", [], "item 2 > predicates: a list should have at least 1 item"),
        ("workload/parts/1/predicates/0", {}, "parts > item 2 > predicates > item 1 > expression is missing."),
        ("workload/parts/2/names", ["a"], "item 3: the matrix has 3 queries and 1 names: name each one."),
        ("workload/parts/3/family", "x", "workload > parts > item 4 > family: 'x' should be histogram, prefix"),
        ("workload/parts/3/parameters/width", True, "item 4 > parameters > width: true should be a valid integer"),
        ("workload/parts/4/groups", [["a"], ["a"]], "item 5 > groups: a group of attributes is there more than once"),
        ("workload/parts", [], "workload > parts: a list should have at least 1 item"),
        ("workload/parts", [{"kind": "all_marginals"}] * 101, "a list should have at most 100 items"),
        ("mechanism/parameters/branching", None, "mechanism > parameters > branching: a parameter must be"),
        ("data/source", "web", "data: source 'web' should be one of sample, upload, declared"),
        (
            "data",
            {"source": "sample", "file": "../secret.csv", "recipes": []},
            "data > file: the sample must be a bare",
        ),
        (
            "data/recipes/0/kind",
            "text",
            "data > recipes > item 1: kind 'text' should be one of categorical, numeric, date.",
        ),
        ("data/recipes/0/merges/0/texts", "tram", "item 1 > merges > item 1 > texts: 'tram' should be a valid"),
        ("data/recipes/1/bins", 0, "data > recipes > item 2 > bins: 0 should be greater than or equal to 1."),
        ("data/recipes/1/edges", ["x"], "data > recipes > item 2 > edges > item 1: 'x' should be a valid number"),
        ("data/recipes/1/colour", 1, "data > recipes > item 2 > colour is not a known setting"),
        ("data/recipes/2/unit", "hour", "data > recipes > item 3 > unit: 'hour' should be day, week, month"),
        ("data/recipes", [], "data > recipes: a list should have at least 1 item"),
        ("data/reading/header", "yes", "data > reading > header: 'yes' should be a valid boolean"),
        ("data/reading/delimiter", "ab", "data > reading > delimiter: a delimiter is one character such as"),
        ("data/query", 3, "data > query: 3 should be a valid string"),
        ("domain/attributes/0/kind", "colour", "domain > attributes > item 1: kind 'colour' should be one of"),
        (
            "domain/attributes/0/values/1",
            3,
            "domain > attributes > item 1 > values > item 2: 3 should be a valid string",
        ),
        ("domain/attributes/0/origin", "guess", "item 1 > origin: 'guess' should be declared or data."),
        ("population/users", 10**10, "should be less than or equal to 1000000000."),
        ("population/users", "3000", "population > users: '3000' should be a valid integer"),
        ("population", {"users": 1, "shape": "bell"}, "population > origin is missing"),
        (
            "population",
            {"users": 1, "origin": "declared", "shape": "bell", "centre": 0.5},
            "shape bell has no centre: remove it",
        ),
        (
            "population",
            {"users": 1, "origin": "declared", "shape": "bell", "draw": 1},
            "shape bell has no draw: remove it",
        ),
        ("epsilon", 1, "epsilon: 1 should be a valid string"),
        ("epsilon", "1000", "Epsilon 1000 is too large"),
        ("epsilon", "nan", "Epsilon 'nan' is not a number"),
        ("reports_per_user", True, "reports_per_user: true should be a valid integer"),
        ("reports_per_user", 1001, "less than or equal to 1000."),
        ("target_alpha", 0, "target_alpha: 0 should be greater than 0."),
        ("target_alpha", 1.5, "target_alpha: 1.5 should be less than or equal to 1."),
        ("simulation/seed", -1, "simulation > seed: -1 should be greater"),
        ("simulation/trials", 10**9, "less than or equal to 10000."),
        ("compared", "hadamard", "compared: 'hadamard' should be a valid"),
        ("mechanism", None, "mechanism: null should be an object in braces"),
        ("colour", "red", "colour is not a known setting"),
        ("version", 7, "has format version 7, and this program reads version 9: make the design anew"),
        ("population/shape", "dirichlet", "population: the shape dirichlet needs a concentration and a draw"),
        ("difference", "median", "difference: 'median' should be"),
        ("format", "other", 'it must be an object with "format": "ldp-design"'),
    ],
)
def test_an_edited_file_is_refused_naming_the_place(path, value, reason):
    assert reason in complaint(edited(path, value))


@pytest.mark.parametrize("key", Configuration.model_fields)
def test_a_missing_key_is_never_replaced_by_a_default(key):
    content = document(FULL.with_(difference="typical", own=CHANGES["own"]))
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


def test_a_byte_order_mark_is_accepted():
    assert load_configuration(b"\xef\xbb\xbf" + FULL.to_json()) == FULL


@given(st.recursive(st.one_of(st.none(), scalars), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_no_value_anywhere_crashes_the_reader(value):
    for key in Configuration.model_fields:
        assert "\n" not in refusal(load_configuration, edited(key, value))


def places(value, path=()) -> list[str]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inner for found in ["/".join(map(str, (*path, key))), *places(item, (*path, key))]]


@settings(max_examples=150)
@given(st.sampled_from(places(document())), st.one_of(st.none(), scalars, st.just([]), st.just({}), st.just([{}])))
def test_no_value_in_any_place_crashes_the_reader(path, value):
    sentence = refusal(load_configuration, edited(path, value))
    assert "\n" not in sentence
    assert len(sentence) < 1000


@pytest.mark.parametrize("histogram", [(0.0, 0.0), (float("nan"), 1.0), (1.0,) * 5000])
def test_histograms_without_weight_are_refused(histogram):
    with pytest.raises(ConfigurationError):
        FULL.with_(optimizer={**FULL.optimizer.model_dump(), "histogram": histogram})


@given(recipes)
def test_attributes_keep_every_setting(recipe):
    configuration = Configuration(data=designs.DeclaredData(recipes=(recipe,)))
    assert load_configuration(configuration.to_json()).data.recipes == (recipe,)


@pytest.mark.parametrize("kind", PARTS)
def test_queries_of_every_kind_keep_every_setting(kind):
    @settings(max_examples=30)
    @given(PARTS[kind])
    def round_trip(part):
        assert part.kind == kind
        configuration = Configuration(workload=WorkloadRecipe(parts=(part,)))
        (loaded,) = load_configuration(configuration.to_json()).workload.parts
        assert (type(loaded), loaded) == (type(part), part)

    round_trip()


# --- workloads ----------------------------------------------------------------------------------------------------

SEX = CategoricalAttribute(name="sex", values=("f", "m"))


def test_a_workload_of_parts_is_built_on_the_domain():
    domain = Domain(attributes=(AGE, SEX))
    parts = (PrefixPart(attribute="age"), HistogramPart(attribute="sex", weight=2.0))
    built = WorkloadRecipe(parts=parts).build(domain)
    np.testing.assert_array_equal(built.matrix, [[1, 1, 0, 0], [1, 1, 1, 1], [2, 0, 2, 0], [0, 2, 0, 2]])
    with pytest.raises(ValueError, match=r"^Group 2 of the queries: the domain has no attribute sxe"):
        WorkloadRecipe(parts=(parts[0], HistogramPart(attribute="sxe"))).build(domain)


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
    with pytest.raises(ConfigurationError, match=r"would have 5\.\d MB, and at most 5 MB .*matrix of fewer queries"):
        too_large.check_size()
    with pytest.raises(ConfigurationError, match="too large: at most 5 MB"):
        load_configuration(too_large.to_json())
    texts = Configuration(data=UploadedData(recipes=RECIPES, query="x" * 5_000_000))
    with pytest.raises(ConfigurationError, match="use fewer or shorter texts"):
        texts.check_size()


def test_structured_workloads_stay_small_in_files():
    domain = Domain(attributes=tuple(CategoricalAttribute(name=f"q{i}", values=("no", "yes")) for i in range(10)))
    configuration = Configuration(domain=domain, workload=WorkloadRecipe(parts=(workloads.AllMarginalsPart(),)))
    assert configuration.workload.build(domain).n == 1024
    assert len(configuration.to_json()) < 10_000

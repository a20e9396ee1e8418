import hashlib
import json
import math
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.deploy import (
    Configuration,
    ConfigurationError,
    DeclaredData,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    Treatment,
    UploadedData,
    WorkloadRecipe,
    guarantee,
    load_configuration,
    observed_parts,
    parse_epsilon,
    risk_in_words,
)
from ldp_core.deploy.configuration import MIGRATIONS
from ldp_core.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.mechanisms.base import Audit

TRANSPORT = CategoricalAttribute(name="transport", values=("bus", "car", "foot"), origin="declared")
AGE = NumericAttribute(name="age", edges=(0.0, 20.0, 40.0), binning="equal_width", origin="data")

FULL = Configuration(
    data=SampleData(file="commute.csv", column="transport", treatment=Treatment(kind="categorical")),
    domain=Domain(attributes=(TRANSPORT,)),
    population=Population(users=3000, origin="declared", shape="uniform"),
    workload=WorkloadRecipe(kind="prefix"),
    mechanism=MechanismRecipe(name="hierarchical", parameters={"branching": 4, "oracle": "hadamard"}),
)

# A value different from FULL's for every field an analyst can change.
CHANGES = {
    "data": UploadedData(column="transport", treatment=Treatment(kind="categorical")),
    "domain": Domain(attributes=(AGE,)),
    "population": Population(users=3001, origin="declared", shape="uniform"),
    "workload": WorkloadRecipe(kind="histogram"),
    "epsilon": "1.5",
    "reports_per_user": 2,
    "mechanism": MechanismRecipe(name="hierarchical", parameters={"branching": 8, "oracle": "hadamard"}),
    "compared": ("hadamard",),
    "target_alpha": 0.02,
    "simulation": Simulation(seed=1),
    "optimizer": Optimizer(seed=1),
}

scalars = st.one_of(
    st.booleans(), st.integers(-(10**15), 10**15), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
parameters = st.dictionaries(st.text(), scalars, max_size=3)
origins = st.sampled_from(["declared", "data"])
names = st.text(min_size=1, max_size=20)
seeds = st.integers(0, 2**63 - 1)
treatments = st.builds(
    Treatment,
    kind=st.sampled_from(["categorical", "numeric"]),
    header=st.booleans(),
    method=st.sampled_from(["equal_width", "equal_count", "own_edges"]),
    bins=st.integers(1, 4096),
    edges_text=st.text(),
    missing=st.sampled_from(["drop", "category", "refuse"]),
    outside=st.sampled_from(["other", "clamp", "refuse"]),
    rare_below=st.integers(0, 1000),
)
data_choices = st.one_of(
    st.none(),
    st.builds(
        SampleData,
        file=st.text(string.ascii_letters, min_size=1).map("{}.csv".format),
        column=names,
        treatment=treatments,
    ),
    st.builds(UploadedData, column=names, treatment=treatments),
    st.builds(
        DeclaredData,
        kind=st.sampled_from(["categorical", "numeric"]),
        name=st.text(),
        categories_text=st.text(),
        low_text=st.text(),
        bins=st.integers(1, 4096),
    ),
)
categorical = st.builds(
    CategoricalAttribute,
    name=names,
    values=st.lists(st.text().map(str.strip).filter(bool), min_size=2, max_size=5, unique=True).map(tuple),
    origin=origins,
)
numeric = st.builds(
    NumericAttribute,
    name=names,
    edges=st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=5, unique=True).map(sorted).map(tuple),
    origin=origins,
)
domains = st.lists(st.one_of(categorical, numeric), min_size=1, max_size=2, unique_by=lambda attribute: attribute.name)
configurations = st.builds(
    Configuration,
    data=data_choices,
    domain=st.one_of(st.none(), domains.map(lambda attributes: Domain(attributes=tuple(attributes)))),
    population=st.builds(
        Population,
        users=st.one_of(st.none(), st.integers(1, 10**9)),
        origin=origins,
        shape=st.sampled_from(["data", "uniform", "zipf", "bell"]),
    ),
    workload=st.one_of(
        st.none(), st.builds(WorkloadRecipe, kind=st.sampled_from(["histogram", "prefix"]), parameters=parameters)
    ),
    epsilon=st.floats(0.001, 20).map(repr),
    reports_per_user=st.integers(1, 1000),
    mechanism=st.builds(MechanismRecipe, name=names, parameters=parameters),
    compared=st.lists(st.text(), max_size=4),
    target_alpha=st.floats(0, 1, exclude_min=True),
    simulation=st.builds(
        Simulation, seed=seeds, trials=st.integers(1, 10_000), estimators=st.lists(st.text(), max_size=2)
    ),
    optimizer=st.builds(
        Optimizer,
        seed=seeds,
        max_rounds=st.one_of(st.none(), st.integers(1, 10**6)),
        aim=st.sampled_from(["worst_case", "average", "people", "histogram"]),
        histogram=st.one_of(st.none(), st.lists(st.floats(1, 1e6), min_size=2, max_size=5).map(tuple)),
        time_limit=st.one_of(st.none(), st.floats(1, 3600)),
    ),
)


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


@given(configurations)
def test_a_configuration_survives_its_file(configuration):
    loaded = load_configuration(configuration.to_json())
    assert loaded == configuration
    assert loaded.digest() == configuration.digest()
    assert loaded.to_json() == configuration.to_json()


@given(configurations)
def test_the_digest_ignores_the_order_of_keys(configuration):
    shuffled = json.dumps(reverse_keys(document(configuration)))
    assert load_configuration(shuffled).digest() == configuration.digest()


@given(configurations, configurations)
def test_only_equal_files_share_a_digest(first, second):
    assert (first.digest() == second.digest()) == (first.to_json() == second.to_json())


def test_the_digest_is_that_of_the_canonical_json():
    canonical = json.dumps({**document(), "epsilon": 1.0}, sort_keys=True, separators=(",", ":"))
    assert FULL.digest() == hashlib.sha256(canonical.encode()).hexdigest()


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


@pytest.mark.parametrize("fields", [(), ("epsilom",)])
def test_a_digest_of_nothing_is_refused(fields):
    with pytest.raises(ValueError, match="digest is of one or more of"):
        FULL.digest(of=fields)


def test_changing_validates_and_leaves_the_original_alone():
    with pytest.raises(ConfigurationError, match=r"^reports_per_user: 0 is too small, it must be at least 1\.$"):
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
    [("1", 1.0), (" 1 ", 1.0), ("1e-1", 0.1), (".5", 0.5), ("2.", 2.0), ("+2", 2.0), ("0.001", 0.001), ("20", 20.0)],
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
        ("   ", "is empty"),
        ("one", "not a number"),
        ("nan", "not a number"),
        ("1_0", "not a number"),
        ("0x1", "not a number"),
        ("1 000", "not a number"),
        ("1e", "not a number"),
        ("inf", "must be finite"),
        ("-Infinity", "must be finite"),
        ("0", "too small"),
        ("-0", "too small"),
        ("0.0009", "too small"),
        ("1e-400", "too small"),
        ("-1", "negative"),
        ("20.1", "too large"),
        ("1000", "Epsilon 1000 is too large"),
        ("1e9999", "too large"),
        ("1,5", "write 1.5 with a point"),
        ("٣", "other digits"),
        ("1" * 10**6, "1,000,000 characters"),
        (1.0, "kept as the text"),
        (None, "kept as the text"),
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
            "workload/kind",
            "prefx",
            "workload > kind: 'prefx' is not one of histogram, prefix, all_range, width_range, ",
        ),
        ("workload/parameters/width", [1], "workload > parameters > width: a parameter must be a finite number"),
        ("mechanism/parameters/branching", None, "mechanism > parameters > branching: a parameter must be"),
        ("data/source", "web", "data: source 'web' is not one of sample, upload, declared"),
        ("data/file", "../secret.csv", "data > file: the sample must be a bare file name"),
        ("data/treatment/bins", 0, "data > treatment > bins: 0 is too small, it must be at least 1."),
        ("data/treatment/header", "yes", "data > treatment > header: 'yes' is not true or false"),
        ("data/treatment/colour", 1, "data > treatment > colour is not a known setting"),
        ("domain/attributes/0/kind", "colour", "domain > attributes > item 1: kind 'colour' is not one of"),
        ("domain/attributes/0/values/1", 3, "domain > attributes > item 1 > values > item 2: 3 is not text"),
        ("domain/attributes/0/origin", "guess", "item 1 > origin: 'guess' is not one of declared, data."),
        ("population/users", 10**10, "it must be at most 1,000,000,000."),
        ("population/users", "3000", "population > users: '3000' is not a whole number"),
        ("population", {"users": 1, "shape": "bell"}, "population > origin is missing"),
        ("epsilon", 1, "epsilon: 1 is not text in quotes"),
        ("epsilon", "1000", "Epsilon 1000 is too large"),
        ("epsilon", "nan", "Epsilon 'nan' is not a number"),
        ("reports_per_user", True, "reports_per_user: true is not a whole number"),
        ("reports_per_user", 1001, "at most 1,000."),
        ("target_alpha", 0, "target_alpha: 0 is too small, it must be more than 0."),
        ("target_alpha", 1.5, "target_alpha: 1.5 is too large, it must be at most 1."),
        ("simulation/seed", -1, "simulation > seed: -1 is too small"),
        ("simulation/trials", 10**9, "at most 10,000."),
        ("compared", "hadamard", "compared: 'hadamard' is not a list"),
        ("mechanism", None, "mechanism: null is not an object in braces"),
        ("colour", "red", "colour is not a known setting"),
        ("version", 3, "made by a newer version of this program (format 3, here 2)"),
        ("version", 0, "format version 0, which is unknown"),
        ("version", "1", "must say its version as a number"),
        ("format", "other", 'it must be an object with "format": "ldp-design"'),
    ],
)
def test_an_edited_file_is_refused_naming_the_place(path, value, reason):
    assert reason in complaint(edited(path, value))


@pytest.mark.parametrize("key", Configuration.model_fields)
def test_a_missing_key_is_never_replaced_by_a_default(key):
    content = document()
    del content[key]
    assert key in complaint(json.dumps(content))


def test_at_most_three_problems_are_told():
    treatment = {"kind": "x", "bins": 0, "header": 3, "missing": "?", "outside": "?"}
    sentence = complaint(edited("data/treatment", treatment))
    assert sentence.count(">") == 6
    assert sentence.endswith("; and 2 more.")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON (line 1, column 1)"),
        ('{"format": "ldp-design",\n "version": }', "not valid JSON (line 2, column 13)"),
        ("[]", "must be an object"),
        ("3", "must be an object"),
        ("{}", "must be an object with"),
        ('{"epsilon": NaN}', "contains NaN"),
        ('{"epsilon": -Infinity}', "contains -Infinity"),
        ('{"epsilon": 1e999}', "'1e999', which is too large"),
        ('{"users": ' + "9" * 5000 + "}", "too large a number"),
        ('{"epsilon": "1", "epsilon": "20"}', "has the key 'epsilon' twice"),
        ('{"name": "\\ud800"}', "half of a character"),
        ("[" * 10**5, "nested too deeply"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
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


def test_old_versions_are_migrated_step_by_step(monkeypatch):
    def from_version_0(old: dict) -> dict:
        return {**{key: value for key, value in old.items() if key != "eps"}, "epsilon": str(old["eps"])}

    def from_version_minus_1(old: dict) -> dict:
        return {**old, "eps": old["eps"] / 10}

    monkeypatch.setitem(MIGRATIONS, 0, from_version_0)
    monkeypatch.setitem(MIGRATIONS, -1, from_version_minus_1)
    old = {**document(), "version": -1, "eps": 25}
    del old["epsilon"]
    average = FULL.optimizer.model_copy(update={"aim": "average", "histogram": None, "time_limit": None})
    assert load_configuration(json.dumps(old)) == FULL.with_(epsilon="2.5", optimizer=average)
    del old["eps"]
    assert "does not look like it" in complaint(json.dumps({**old, "version": 0}))


def test_version_1_optimised_for_the_average():
    old = {**document(), "version": 1}
    old["optimizer"] = {key: old["optimizer"][key] for key in ("seed", "max_rounds", "rows")}
    loaded = load_configuration(json.dumps(old))
    assert loaded.optimizer.aim == "average"
    assert loaded.optimizer.seed == FULL.optimizer.seed
    assert loaded == FULL.with_(optimizer=loaded.optimizer)
    del old["optimizer"]
    assert "does not look like it" in complaint(json.dumps(old))


@pytest.mark.parametrize("histogram", [(0.0, 0.0), (-1.0, 2.0), (float("nan"), 1.0), (), (1.0,) * 5000])
def test_histograms_without_weight_are_refused(histogram):
    with pytest.raises(ConfigurationError):
        FULL.with_(optimizer={**FULL.optimizer.model_dump(), "histogram": histogram})


# --- the privacy note -----------------------------------------------------------------------------------------------

PURE = Audit(epsilon=0.99999, delta=0.0, method="exact: all outputs\nand types", worst_pair=(0, 1))


def test_guarantee_of_a_pure_mechanism():
    line = guarantee(FULL, PURE)
    assert "\n" not in line
    for part in [
        "Pure local differential privacy with epsilon = 1 per report (hierarchical)",
        'privacy unit: one person\'s one value of "transport" per report; one report per person',
        "audited epsilon 0.99999, computed from the mechanism's actual probabilities (exact: all outputs and types)",
        "secure random source (never the simulation seed)",
        "domain is fixed before collecting",
        "IP addresses and other metadata are outside",
    ]:
        assert part in line


def test_guarantee_adds_up_reports_and_delta():
    assert "3 reports per person, in total epsilon = 0.3 by" in guarantee(
        FULL.with_(epsilon="0.1", reports_per_user=3), Audit(0.1, 0.0, "exact", (0, 1))
    )
    line = guarantee(FULL.with_(reports_per_user=3), Audit(1.0, 1e-6, "exact", (0, 1)))
    assert line.startswith("Approximate local differential privacy with (epsilon, delta) = (1, 1e-06) per report")
    assert "in total (3, 3e-06) by basic composition" in line


@pytest.mark.parametrize("epsilon", [1.001, math.inf, math.nan])
def test_no_guarantee_is_given_for_more_than_was_asked(epsilon):
    with pytest.raises(ValueError, match="do not deploy it"):
        guarantee(FULL, Audit(epsilon, 0.0, "exact", (0, 1)))


def test_no_guarantee_without_a_domain():
    with pytest.raises(ValueError, match="choose or declare the data first"):
        guarantee(FULL.with_(domain=None), PURE)


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [(0.001, "1.01"), (1.0, "2.72"), (1.1, "3.01"), (math.log(3), "3.00"), (5.0, "149"), (20.0, "486,000,000")],
)
def test_risk_is_rounded_up_to_three_digits(epsilon, factor):
    assert risk_in_words(epsilon) == f"a report can change anyone's odds by at most a factor {factor}"


@given(st.floats(0.001, 20))
def test_risk_never_understates(epsilon):
    factor = float(risk_in_words(epsilon).split()[-1].replace(",", ""))
    assert math.exp(epsilon) * (1 - 1e-11) <= factor <= math.exp(epsilon) * 1.01


def test_what_was_declared_reveals_nothing():
    assert observed_parts(FULL) == []
    assert observed_parts(Configuration()) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"domain": Domain(attributes=(TRANSPORT.model_copy(update={"origin": "data"}),))}, "3 categories of"),
        ({"domain": Domain(attributes=(TRANSPORT, AGE))}, 'range of "age", 0 to 40, was set by the smallest'),
        ({"domain": Domain(attributes=(AGE.model_copy(update={"binning": "equal_count"}),))}, "quantiles of the data"),
        ({"population": Population(users=3000, origin="data", shape="uniform")}, "number of users, 3,000, was counted"),
        ({"population": Population(users=3000, origin="declared", shape="data")}, "Errors expected on this data"),
    ],
)
def test_what_was_read_off_the_data_is_said_with_the_way_out(changes, reason):
    parts = observed_parts(FULL.with_(**changes))
    assert len(parts) == 2
    assert reason in parts[0]
    assert "declared beforehand instead reveal nothing" in parts[1]

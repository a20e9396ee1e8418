"""Designs that versions 1 and 2 of the program wrote, on the samples, with what they made of them."""

import base64
import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldp_core import workloads
from ldp_core.data import tables
from ldp_core.data.population import SHAPES
from ldp_core.designs import (
    Configuration,
    ConfigurationError,
    MechanismRecipe,
    Population,
    Simulation,
    WorkloadRecipe,
    export,
    from_link,
    load,
    load_configuration,
    to_link,
)
from ldp_core.workloads import RectanglesPart, StatedFact
from sample_data import make

SAMPLES = Path(make.__file__).parent
OLD = {
    f"version {version}, {design['name']}": design
    for version in (1, 2)
    for design in json.loads((Path(__file__).parent / f"designs_of_version_{version}.json").read_text("utf-8"))
}
UNCHANGED = {
    "domain",
    "population",
    "epsilon",
    "reports_per_user",
    "mechanism",
    "compared",
    "target_alpha",
    "simulation",
}


def records(design: dict, configuration: Configuration) -> pd.DataFrame:
    """The table a design is about, read as it says now; for a declared domain, its own labels."""
    data = configuration.data
    if data.source == "sample":
        return tables.read((SAMPLES / data.file).read_bytes(), data.file)
    if data.source == "upload":
        return tables.load((SAMPLES / design["upload"]).read_bytes(), design["upload"], data.reading).table
    return configuration.domain.decode(np.arange(configuration.domain.size))


def of_all_types(**changes) -> Configuration:
    """A design whose reports are about all types, as those of all versions before 7 are."""
    return Configuration(types="all", **changes)


def v2(name: str = "equal counts, missing as a category", **changes) -> dict:
    """A document of version 2 with the values at "key/key" replaced."""
    document = json.loads(json.dumps(OLD[f"version 2, {name}"]["document"]))
    for path, value in changes.items():
        *steps, last = path.split("/")
        target = document
        for step in steps:
            target = target[step]
        target[last] = value
    return document


@pytest.mark.parametrize("name", OLD)
def test_nothing_that_was_chosen_is_lost(name):
    document = OLD[name]["document"]
    configuration = load_configuration(json.dumps(document))
    now = json.loads(configuration.to_json())
    assert (now["version"], document["version"]) == (3, int(name[8]))  # nothing in them needs version 4
    assert {key: now[key] for key in UNCHANGED} == {key: document[key] for key in UNCHANGED}
    assert now["optimizer"] == {**now["optimizer"], **document["optimizer"]}
    assert configuration.optimizer.aim == ("average" if document["version"] == 1 else "worst_case")
    assert load_configuration(configuration.to_json()) == configuration


@pytest.mark.parametrize("name", [name for name in OLD if OLD[name]["queries"] is not None])
def test_the_workload_asks_what_it_asked(name):
    design = OLD[name]
    configuration = load_configuration(json.dumps(design["document"]))
    built = configuration.workload.build(configuration.domain)
    old = design["document"]["workload"]
    assert built == workloads.on_types(old["kind"], configuration.domain.size, **old["parameters"])
    assert built.num_queries == design["queries"]
    assert built.trace == pytest.approx(design["trace"])


@pytest.mark.parametrize("name", [name for name in OLD if OLD[name]["queries"] is not None])
def test_the_recipes_build_the_domain_that_was_stored(name):
    design = OLD[name]
    configuration = load_configuration(json.dumps(design["document"]))
    rows = records(design, configuration)
    declared = configuration.data.source == "declared"
    built = tables.build_domain(configuration.data.recipes, None if declared else rows)
    assert built.labels() == configuration.domain.labels()
    assert [part.origin for part in built.attributes] == [part.origin for part in configuration.domain.attributes]
    expected, found = configuration.domain.encode(rows), built.encode(rows)
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert (found.missing, found.outside, found.unread) == (expected.missing, expected.outside, expected.unread)
    if not declared:
        assert built == configuration.domain


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("changed", [False, True])
def test_an_outcome_belongs_to_the_design_it_was_computed_for(name, changed):
    design = OLD[name]
    document = design["document"] | ({"target_alpha": 0.02} if changed else {})
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("configuration.json", json.dumps(document, indent=2, ensure_ascii=False))
        archive.writestr("outcome.json", json.dumps({"configuration_digest": design["digest"]}))
    foreign = [warning for warning in load(content.getvalue()).warnings if "belongs to other inputs" in warning]
    assert len(foreign) == changed


@pytest.mark.parametrize("name", OLD)
def test_links_of_old_versions_open(name):
    text = json.dumps(OLD[name]["document"])
    link = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    assert from_link(link) == load_configuration(text)


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize(("low", "high", "bins"), [(0, 9, 4), (18, 99, 9), (1050, 99_999, 32), (-7, 12_345, 13)])
def test_declared_ranges_keep_every_edge(low, high, bins, integer):
    attribute = tables.declare_range("x", low, high, bins, integer)
    name = "declared whole numbers"
    ends = {"data/low_text": str(low), "data/high_text": str(high), "data/bins": bins, "data/integer": integer}
    configuration = load_configuration(json.dumps(v2(name, **ends)))
    (built,) = tables.build_domain(configuration.data.recipes).attributes
    np.testing.assert_array_equal(built.edges, attribute.edges)


@pytest.mark.parametrize("header", [True, False])
def test_uploads_keep_what_was_said_about_the_header(header):
    configuration = load_configuration(json.dumps(v2("categories", **{"data/treatment/header": header})))
    assert configuration.data.reading.header is header
    table = tables.load(b"age\n1\n2\n", "a.csv", configuration.data.reading).table
    assert len(table) == 3 - header
    assert pd.read_csv(io.BytesIO(b"age\n1\n2\n"), header=0 if header else None).shape == table.shape


def test_settings_left_out_by_hand_are_the_defaults_of_their_version():
    document = v2(**{"data/treatment": {"kind": "numeric"}, "workload": {"kind": "prefix"}})
    configuration = load_configuration(json.dumps(document))
    full = {"kind": "numeric", "method": "equal_width", "bins": 32, "missing": "drop", "outside": "refuse"}
    assert configuration == load_configuration(
        json.dumps(v2(**{"data/treatment": full, "workload": {"kind": "prefix", "parameters": {}}}))
    )


BROKEN = {
    "no data": ({"data": 3}, "does not look like it"),
    "no source": ({"data": {}}, "does not look like it"),
    "no column": ({"data": {"source": "upload", "treatment": {"kind": "numeric"}}}, "does not look like it"),
    "no treatment": ({"data/treatment": None}, "does not look like it"),
    "unknown setting": ({"data/treatment/colour": 1}, "does not look like it"),
    "unknown kind": ({"data/treatment/kind": "x"}, "data > recipes > item 1: kind 'x' is not one of categorical"),
    "bad number of bins": ({"data/treatment/bins": 0}, "data > recipes > item 1 > bins: 0 is too small"),
    "bad missing": ({"data/treatment/missing": "?"}, "item 1 > missing: '?' is not one of drop, category, refuse"),
    "blank column": ({"data/column": ""}, "data > recipes > item 1 > column: '' has 0 characters"),
    "edges of words": ({"data/treatment/method": "own_edges"}, "does not look like it"),
    "infinite edges": (
        {"data/treatment/method": "own_edges", "data/treatment/edges_text": "1, 1e999"},
        "does not look like it",
    ),
    "edges of no text": (
        {"data/treatment/method": "own_edges", "data/treatment/edges_text": 3},
        "does not look like it",
    ),
    "workload of no kind": ({"workload": {}}, "workload > parts > item 1 > family: null is not one of"),
    "unknown workload": ({"workload": {"kind": "prefx"}}, "item 1 > family: 'prefx' is not one of histogram, prefix"),
    "parameters of text": (
        {"workload": {"kind": "width_range", "parameters": {"width": "x"}}},
        "workload > parts > item 1 > parameters > width: 'x' is not a whole number",
    ),
    "workload of text": ({"workload": "prefix"}, "does not look like it"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_documents_are_refused_in_a_sentence(name):
    changes, reason = BROKEN[name]
    with pytest.raises(ConfigurationError, match=r"^The configuration ") as caught:
        load_configuration(json.dumps(v2(**changes)))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"data/categories_text": "yes\nyes"},
        {"data/categories_text": ""},
        {"data/name": " "},
        {"data/kind": "numeric"},
        {"data/kind": "numeric", "data/low_text": "0", "data/high_text": "nan"},
        {"data/kind": "numeric", "data/low_text": "9", "data/high_text": "0"},
        {"data/kind": "numeric", "data/low_text": "0", "data/high_text": "9", "data/bins": 1},
        {"data/header": True},
    ],
)
def test_declarations_that_never_worked_are_refused_in_a_sentence(changes):
    with pytest.raises(ConfigurationError, match="format version 2 but does not look like it: export it again"):
        load_configuration(json.dumps(v2("declared categories", **changes)))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "key", sorted(set(Configuration.model_fields) - {"format", "version", "difference", "own", "types"})
)
def test_a_missing_key_is_never_replaced_by_a_default(version, key):
    document = dict(OLD[f"version {version}, categories"]["document"])
    del document[key]
    with pytest.raises(ConfigurationError, match=f"{key} is missing|does not look like it"):
        load_configuration(json.dumps(document))


CAUCHY = Population(users=5, origin="declared", shape="cauchy", centre=0.25)
DIRICHLET = Population(users=5, origin="declared", shape="dirichlet", concentration=0.5, draw=7)


@pytest.mark.parametrize("population", [CAUCHY, DIRICHLET])
def test_a_population_with_parameters_needs_version_4(population):
    configuration = of_all_types(population=population)
    document = json.loads(configuration.to_json())
    assert document["version"] == 4
    assert load_configuration(json.dumps(document)) == configuration


STATED = of_all_types(
    simulation=Simulation(facts=[StatedFact(text="sex = male : 480"), StatedFact(text="age >= 30 : 7", origin="data")])
)


def test_public_facts_need_version_4():
    document = json.loads(STATED.to_json())
    assert document["version"] == 4
    assert load_configuration(json.dumps(document)) == STATED
    with pytest.raises(ConfigurationError, match="format version 3 but does not look like it: export it again"):
        load_configuration(json.dumps({**document, "version": 3}))


def test_other_designs_are_written_as_before():
    """The digest is that of the program before there were such populations."""
    configuration = of_all_types(simulation=Simulation(trials=20))  # as many as were usual then
    document = json.loads(configuration.to_json())
    assert document["version"] == 3
    assert document["population"] == {"users": None, "origin": "declared", "shape": "uniform"}
    assert configuration.digest() == "2066620cb3533e152d065ef45ec4520cf69d84d6e2f93a109f0e946ee29c5f81"
    assert configuration.with_(population=CAUCHY).with_(population=configuration.population) == configuration
    assert load_configuration(json.dumps({**document, "version": 4})) == configuration


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"centre": None}, "population: the shape cauchy needs a centre"),
        ({"centre": 1.5}, "population > centre: 1.5 is too large and must be less than 1"),
        ({"draw": 1}, "population: the shape cauchy has no draw: remove it"),
        ({"shape": "dirichlet"}, "population: the shape dirichlet needs a concentration and a draw"),
        ({"shape": "laplace"}, "population > shape: 'laplace' is not one of"),
    ],
)
def test_a_population_is_told_what_its_shape_needs_and_nothing_else(changes, reason):
    document = json.loads(of_all_types(population=CAUCHY).to_json())
    with pytest.raises(ConfigurationError, match=reason):
        load_configuration(json.dumps({**document, "population": {**document["population"], **changes}}))


def test_a_shape_starts_from_its_usual_parameters():
    shaped = {shape: DIRICHLET.shaped(shape) for shape in SHAPES}
    assert {shape: population.parameters for shape, population in shaped.items()} == SHAPES
    assert {population.users for population in shaped.values()} == {5}


def test_designs_without_facts_are_written_as_before():
    """The digest is that of the program before there were facts."""
    none = STATED.with_(simulation=Simulation(trials=20))
    document = json.loads(none.to_json())
    assert (document["version"], document["simulation"]) == (
        3,
        {"seed": 0, "trials": 20, "estimators": ["unbiased", "wnnls"]},
    )
    assert none.digest() == "2066620cb3533e152d065ef45ec4520cf69d84d6e2f93a109f0e946ee29c5f81"
    assert load_configuration(json.dumps({**document, "version": 4})) == none


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({"text": ""}, "simulation > facts > item 1 > text: \\W+ has 0 characters and must have at least 1"),
        ({"text": "a : 1\nb : 2"}, "text: a public fact is one line, without spaces before or after it"),
        ({"text": "a : 1", "origin": "guessed"}, "origin: 'guessed' is not one of declared, data"),
        ({"text": "a : 1", "total": 1}, "total is not a known setting"),
        ("a : 1", "is not an object in braces"),
    ],
)
def test_facts_of_a_file_are_checked(fact, reason):
    document = json.loads(STATED.to_json())
    document["simulation"]["facts"] = [fact]
    with pytest.raises(ConfigurationError, match=reason):
        load_configuration(json.dumps(document))


def test_there_are_at_most_a_hundred_facts():
    document = json.loads(STATED.to_json())
    document["simulation"]["facts"] *= 51
    with pytest.raises(ConfigurationError, match="the list has 102 items and must have at most 100"):
        load_configuration(json.dumps(document))


VARIANTS = (
    {"compared": ("haar", "hierarchical(branching=16, oracle=oue)")},
    {"compared": ("hierarchical()",)},
    {"workload": WorkloadRecipe(parts=[RectanglesPart(attributes=("a", "b"))])},
    {"mechanism": MechanismRecipe(name="gaussian", parameters={"delta": 1e-9})},
    {"mechanism": MechanismRecipe(name="optimized_gradient", parameters={"rows": 64})},
)


@pytest.mark.parametrize("changes", VARIANTS)
def test_variants_and_new_parameters_need_version_4(changes):
    configuration = of_all_types(**changes)
    document = json.loads(configuration.to_json())
    assert document["version"] == 4
    assert load_configuration(json.dumps(document)) == configuration
    assert from_link(to_link(configuration)) == configuration
    assert load(export(configuration, {})).configuration == configuration
    if "mechanism" not in changes:
        with pytest.raises(ConfigurationError, match="format version 3 but does not look like it: export it again"):
            load_configuration(json.dumps({**document, "version": 3}))


@pytest.mark.parametrize("taken", ["typical", "smallest"])
def test_a_difference_taken_from_the_answers_needs_version_5(taken):
    configuration = of_all_types(difference=taken)
    document = json.loads(configuration.to_json())
    assert (document["version"], document["difference"]) == (5, taken)
    assert load_configuration(json.dumps(document)) == configuration
    assert from_link(to_link(configuration)) == configuration
    for version in (3, 4):
        with pytest.raises(ConfigurationError, match="format version 4 but does not look like it: export it again"):
            load_configuration(json.dumps({**document, "version": version}))
    with pytest.raises(ConfigurationError, match="difference is missing"):
        load_configuration(json.dumps({key: value for key, value in document.items() if key != "difference"}))
    with pytest.raises(ConfigurationError, match="difference: 'median' is not one of"):
        load_configuration(json.dumps({**document, "difference": "median"}))


@pytest.mark.parametrize("name", OLD)
def test_the_target_of_an_old_design_is_kept(name):
    document = {**OLD[name]["document"], "target_alpha": 0.0004}
    configuration = load_configuration(json.dumps(document))
    assert (configuration.target_alpha, configuration.difference) == (0.0004, None)
    assert json.loads(configuration.to_json())["target_alpha"] == 0.0004
    assert "difference" not in json.loads(configuration.to_json())


def test_parameters_that_were_there_before_need_no_new_version():
    for name, parameters in {
        "hierarchical": {"branching": 16, "oracle": "oue", "reconstruction": "raw"},
        "gaussian": {"calibration": "paper"},
        "rejection_gaussian": {"variant": "paper"},
    }.items():
        configuration = of_all_types(mechanism=MechanismRecipe(name=name, parameters=parameters))
        assert json.loads(configuration.to_json())["version"] == 3


def test_reports_about_distinguished_types_need_version_7():
    new, old = Configuration(), of_all_types()
    document = json.loads(new.to_json())
    assert (document["version"], document["types"]) == (7, "distinguished")
    assert load_configuration(json.dumps(document)) == from_link(to_link(new)) == new
    with pytest.raises(ConfigurationError, match="types is missing"):
        load_configuration(json.dumps({key: value for key, value in document.items() if key != "types"}))
    with pytest.raises(ConfigurationError, match="format version 6 but does not look like it: export it again"):
        load_configuration(json.dumps({**document, "version": 6}))
    assert "types" not in json.loads(old.to_json())
    assert load_configuration(old.to_json()) == old


@pytest.mark.parametrize("name", OLD)
def test_old_designs_keep_all_types(name):
    assert load_configuration(json.dumps(OLD[name]["document"])).types == "all"


@pytest.mark.parametrize(
    "news", [{"new_people": True}, {"prior": "even"}, {"prior": "histogram", "prior_people": 50.0}]
)
def test_new_people_and_priors_need_a_later_version(news):
    configuration = of_all_types(simulation=Simulation(**news))
    document = json.loads(configuration.to_json())
    assert document["version"] == 7
    assert {key: document["simulation"][key] for key in news} == news
    assert load_configuration(json.dumps(document)) == from_link(to_link(configuration)) == configuration
    old = {key: value for key, value in document.items() if key not in ("own", "difference", "types")}
    for version, older in ((3, old), (5, {**old, "difference": None}), (6, {**old, "difference": None, "own": []})):
        with pytest.raises(ConfigurationError, match="but does not look like it: export it again"):
            load_configuration(json.dumps({**older, "version": version}))
    assert not set(news) & set(json.loads(of_all_types().to_json())["simulation"])

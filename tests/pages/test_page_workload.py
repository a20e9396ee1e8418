"""The Workload page: groups of questions of every kind, what is refused, and what happens when the data changes."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import DeclaredData, MechanismRecipe, WorkloadRecipe
from ldp_core.workloads import Axis, Predicate
from pages.ui.workload.kinds import KINDS, read_conditions, write_conditions

HEALTH = "health_survey.csv"
NAMES = ["smokes", "high_blood_pressure", "diabetes", "asthma", "sleeps_badly", "exercises"]


@pytest.fixture
def health(app):
    """Six yes-or-no questions: 64 types, every pair asked by default."""
    return app.sample(HEALTH, "workload")


@pytest.fixture
def on_ages(app):
    """Ages in 25 types, running totals by default."""
    return app.sample(page="workload")


def parts(app):
    return app.configuration.workload.parts


def workload(app):
    return app.session.design().workload


def add(app, kind):
    """Choose a kind below the groups and press Add."""
    return app.enter("selectbox", "adding", kind).press("add")


def change_kind(app, kind, group=0):
    return app.enter("selectbox", f"group-{group}-questions", kind)


def upload(app, content, name="matrix.csv"):
    app.enter("selectbox", "adding", "matrix")
    (box,) = [u for u in app.at.file_uploader if u.key.startswith("matrix-")]
    box.set_value((name, content, "application/octet-stream")).run()
    return app.check()


def chart(app, axis_title):
    return next(figure for figure in app.charts if figure["layout"]["xaxis"]["title"]["text"] == axis_title)


# --- every kind -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "queries"),
    [
        ("histogram", 2),
        ("marginals", 4),
        ("k_way_marginals", 20 * 8),  # pairs are asked already, so triples
        ("all_marginals", 3**6),
        ("joint_histogram", 64),
        ("parity", 64),
        ("predicates", 1),
        ("types", 64),
    ],
)
def test_every_kind_is_added_to_six_yes_or_no_questions(health, kind, queries):
    add(health, kind)
    assert [part.kind for part in parts(health)] == ["k_way_marginals", kind]
    assert workload(health).num_queries == 60 + queries
    assert f"Queries (p) {60 + queries}" in health.words
    assert f"{queries:,} quer" in health.words
    assert not health.errors
    # The picture names the groups beside the rows.
    named = chart(health, "type of person")["layout"]["yaxis"]["ticktext"]
    assert [name.rpartition(" (")[2] for name in named] == ["60)", f"{queries:,})"]


@pytest.mark.parametrize(
    ("kind", "queries"), [("histogram", 25), ("prefix", 25), ("ranges", 25 * 26 // 2), ("predicates", 1), ("types", 25)]
)
def test_one_attribute_changes_its_questions_in_place(on_ages, kind, queries):
    change_kind(on_ages, kind)
    assert [part.kind for part in parts(on_ages)] == [kind]
    assert workload(on_ages).num_queries == queries
    assert f"Queries (p) {queries}" in on_ages.words
    first, last = (workload(on_ages).query_name(q, None) for q in (0, queries - 1))
    assert first in on_ages.words
    assert last in on_ages.words


def test_kinds_that_cannot_work_are_left_out_and_say_why(app):
    app.sample("favourites.csv", "workload")
    assert app.at.selectbox(key="adding").options == [
        KINDS[kind].title for kind in ("histogram", "predicates", "matrix", "types")
    ]
    assert "no order" in app.words
    app.sample(HEALTH)
    options = app.at.selectbox(key="adding").options
    assert KINDS["prefix"].title not in options
    assert KINDS["parity"].title in options


def test_adding_the_same_kind_asks_something_new(health):
    for _ in range(2):
        add(health, "histogram")
        add(health, "marginals")
    assert [part.attribute for part in parts(health) if part.kind == "histogram"] == NAMES[:2]
    assert [part.groups for part in parts(health) if part.kind == "marginals"] == [
        (("smokes", "high_blood_pressure"),),
        (("smokes", "diabetes"),),
    ]


def test_settings_of_histogram_marginals_k_way_and_parity(health):
    change_kind(health, "histogram").enter("selectbox", "group-0-attribute", "asthma")
    assert parts(health)[0].attribute == "asthma"
    change_kind(health, "marginals").enter("multiselect", "group-0-set-0", ["asthma", "diabetes", "exercises"])
    health.press("group-0-add-set")
    assert parts(health)[0].groups == (
        ("asthma", "diabetes", "exercises"),
        ("smokes", "high_blood_pressure", "diabetes"),
    )
    assert workload(health).num_queries == 16
    health.enter("multiselect", "group-0-set-0", [])
    assert parts(health)[0].groups == (("smokes", "high_blood_pressure", "diabetes"),)
    health.enter("multiselect", "group-0-set-0", [])
    assert "at least one attribute" in health.errors[0]
    assert len(parts(health)[0].groups) == 1
    change_kind(health, "k_way_marginals").enter("number_input", "group-0-k", 3)
    assert workload(health).num_queries == 160
    change_kind(health, "parity").enter("number_input", "group-0-max-weight", 1)
    assert workload(health).num_queries == 7
    health.enter("multiselect", "group-0-attributes", NAMES[:2])
    assert workload(health).num_queries == 3
    health.enter("number_input", "group-0-max-weight", 2)
    assert parts(health)[0].max_weight is None


def test_the_same_attributes_twice_are_refused_in_a_sentence(health):
    change_kind(health, "marginals").press("group-0-add-set")
    health.enter("multiselect", "group-0-set-1", ["high_blood_pressure", "smokes"])
    assert "A group of attributes is there more than once" in health.errors[0]
    assert health.at.multiselect(key="group-0-set-1").value == ["high_blood_pressure", "smokes"]
    assert len(parts(health)[0].groups) == 2


def test_ranges_up_to_a_width(on_ages):
    change_kind(on_ages, "ranges").enter("checkbox", "group-0-limited", True)
    assert parts(on_ages)[0].width == 3
    on_ages.enter("number_input", "group-0-width", 2)
    assert workload(on_ages).num_queries == 25 + 24
    on_ages.enter("checkbox", "group-0-limited", False)
    assert workload(on_ages).num_queries == 325


def test_along_an_order_within_groups(app):
    csv = "age,sex\n" + "".join(f"{age},{sex}\n" for age in range(20, 60) for sex in ("f", "m"))
    app.upload("people.csv", csv.encode())
    app.session.set_data(
        app.configuration.data.model_copy(
            update={"recipes": (*app.configuration.data.recipes, CategoricalRecipe(column="sex"))},
        ),
        app.session.source,
    )
    app.go("workload")
    change_kind(app, "prefix").enter("multiselect", "group-0-by", ["sex"])
    assert parts(app)[0].attribute == "age"
    assert workload(app).num_queries == 2 * app.configuration.domain.shape[0]
    assert "sex f" in app.words
    change_kind(app, "ranges")
    assert parts(app)[0].by == ("sex",)


def test_special_types_have_no_place_in_the_order(app):
    app.sample("commutes.csv")
    data = app.configuration.data
    (recipe,) = data.recipes
    missing = data.model_copy(update={"recipes": (recipe.model_copy(update={"missing": "category"}),)})
    app.session.set_data(missing, app.session.source)
    app.go("workload")
    n = app.configuration.domain.size
    assert "(missing) has no place in the order" in app.words
    assert workload(app).num_queries == n - 1
    change_kind(app, "types").enter("selectbox", "group-0-family", "prefix")
    assert "The type (missing) stands at the end of the order" in app.words
    assert workload(app).num_queries == n


def test_the_papers_workloads(on_ages):
    change_kind(on_ages, "types").enter("selectbox", "group-0-family", "width_range")
    assert parts(on_ages)[0].parameters == {"width": 3}
    on_ages.enter("number_input", "group-0-width", 1)
    assert workload(on_ages).num_queries == 25
    assert on_ages.at.selectbox(key="group-0-family").options == [
        workloads.ON_TYPES[family].title for family in workloads.kinds_for(25)
    ]


def test_sums_along_a_list_without_order_are_warned_about(app):
    app.sample("favourites.csv", "workload")
    change_kind(app, "types").enter("selectbox", "group-0-family", "prefix")
    assert "no natural order" in app.at.warning[0].value
    app.sample(HEALTH)
    change_kind(app, "types").enter("selectbox", "group-0-family", "all_range")
    assert "no common order" in app.at.warning[0].value


# --- several groups -------------------------------------------------------------------------------------------------


def test_weights_count_with_their_square(health):
    assert not health.has("text_input", "group-0-weight")
    add(health, "predicates").enter("text_input", "group-1-weight", "3")
    assert parts(health)[1].weight == 3
    alone = workloads.over_attributes(parts(health)[1:], health.configuration.domain)
    pairs = workloads.over_attributes(parts(health)[:1], health.configuration.domain)
    assert workload(health).trace == pytest.approx(pairs.trace + alone.trace)
    assert alone.trace == pytest.approx(9 * alone.parts[0].trace)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "0", "-1", "1e9", "", "two", "1,5"])
def test_a_weight_that_is_no_weight_is_refused_in_a_sentence(health, text):
    add(health, "histogram")
    before = health.configuration
    health.enter("text_input", "group-0-weight", text)
    assert len(health.errors) == 1
    assert "number from 1e-06 to 1,000,000" in health.errors[0]
    assert health.configuration == before
    assert health.at.text_input(key="group-0-weight").value == text
    health.enter("text_input", "group-0-weight", "0.5")
    assert not health.errors
    assert parts(health)[0].weight == 0.5


def test_removing_a_group_can_be_undone_and_the_last_one_stays(health):
    assert not health.has("button", "group-0-remove")
    add(health, "histogram")
    both = parts(health)
    health.press("group-0-remove")
    assert parts(health) == both[1:]
    assert not health.has("button", "group-0-remove")
    health.press("undo")
    assert parts(health) == both
    health.press("undo")
    assert [part.kind for part in parts(health)] == ["k_way_marginals"]


def test_group_shares_of_the_error_are_shown(health):
    add(health, "joint_histogram")
    (table,) = (frame for frame in health.dataframes if "share" in frame)
    assert list(table["queries"]) == [60, 64]
    assert table["share"].sum() == pytest.approx(1)


# --- conditions -----------------------------------------------------------------------------------------------------


def test_conditions_with_and_without_names(health):
    change_kind(health, "predicates")
    text = 'smokes = yes and not asthma = yes\n\nAt risk: diabetes = yes or smokes = yes\n"a = b": exercises != no'
    health.enter("text_area", "group-0-conditions", text)
    assert [p.title for p in parts(health)[0].predicates] == ["smokes = yes and not asthma = yes", "At risk", "a = b"]
    assert workload(health).num_queries == 3
    assert "At risk" in health.words
    assert health.at.text_area(key="group-0-conditions").value == text.replace("\n\n", "\n")
    truth = [sum(c for c, t in counted(health) if holds(t)) for holds in (first, second, third)]
    assert workload(health).answers(health.session.design().counts).tolist() == pytest.approx(truth)


def counted(app):
    domain, counts = app.configuration.domain, app.session.design().counts
    return list(zip(counts, domain.decode(np.arange(domain.size)).to_dict("records"), strict=True))


def first(person):
    return person["smokes"] == "yes" and person["asthma"] != "yes"


def second(person):
    return person["diabetes"] == "yes" or person["smokes"] == "yes"


def third(person):
    return person["exercises"] != "no"


def test_a_typo_in_a_condition_is_kept_with_a_sentence(health):
    add(health, "predicates")
    before = health.configuration
    typo = "smokes = yes\nsmoks = yes and asthma = no"
    health.enter("text_area", "group-1-conditions", typo)
    assert len(health.errors) == 1
    assert "Condition 2" in health.errors[0]
    assert "at character 1" in health.errors[0]
    assert "did you mean smokes?" in health.errors[0]
    assert health.configuration == before
    # Work elsewhere does not lose what was typed, even where the group moves up.
    health.enter("number_input", "group-0-k", 1)
    assert health.at.text_area(key="group-1-conditions").value == typo
    health.press("group-0-remove")
    assert health.at.text_area(key="group-0-conditions").value == typo
    health.enter("text_area", "group-0-conditions", typo.replace("smoks", "smokes"))
    assert not health.errors
    assert workload(health).num_queries == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no condition"),
        ("smokes = yes and", "at character 17"),
        ("smokes = perhaps", "no value perhaps"),
        ("smokes = yes and smokes = no", "it holds for nobody"),
        ("__import__('os') = 1", "Condition 1"),
        ("(" * 60 + "smokes = yes" + ")" * 60, "more than 50 parentheses"),
        ("smokes = yes\n" + "asthma = no and " * 1000, "Condition 2 has 15,999 characters"),
    ],
)
def test_conditions_that_say_nothing_are_refused(health, text, said):
    change_kind(health, "predicates")
    before = health.configuration
    health.enter("text_area", "group-0-conditions", text)
    assert len(health.errors) == 1
    assert said in health.errors[0]
    assert health.configuration == before


def test_examples_are_conditions_on_the_data_at_hand(health, another):
    for app in (health, another().sample(page="workload"), another().sample("favourites.csv", "workload")):
        change_kind(app, "predicates")
        text = app.at.code[0].value
        app.enter("text_area", "group-0-conditions", text)
        assert not app.errors
        assert workload(app).num_queries == len(text.split("\n"))


@given(names=st.lists(st.none() | st.text(min_size=1), min_size=1, max_size=3))
def test_conditions_written_out_are_read_the_same(names):
    axes = [Axis("a: b", ("no", "yes: or no"), 2), Axis("c", ("no", "yes"), 2)]
    conditions = ['"a: b" = "yes: or no"', "c = yes and not (`a: b` = no)", "c in {yes, no}"]
    asked = [Predicate(expression=text, name=name) for text, name in zip(conditions, names, strict=False)]
    read = read_conditions(write_conditions(asked, axes), axes)
    assert [p.expression for p in read] == [p.expression for p in asked]
    assert [p.title for p in read] == [" ".join((p.name or "").split()) or p.expression for p in asked]


# --- uploaded matrices ----------------------------------------------------------------------------------------------


def test_a_matrix_with_names(on_ages):
    rows = [
        "name," + ",".join(f"t{i}" for i in range(25)),
        "young," + "1," * 10 + ",".join("0" * 15),
        "all" + ",1" * 25,
    ]
    upload(on_ages, "\n".join(rows).encode())
    assert not on_ages.errors
    assert [part.kind for part in parts(on_ages)] == ["prefix", "matrix"]
    assert workload(on_ages).query_name(25) == "young"
    assert "25 numbers" in on_ages.words
    on_ages.press("group-0-remove")
    assert workload(on_ages).num_queries == 2
    assert "young" in on_ages.words


def npz(matrix):
    content = io.BytesIO()
    np.savez_compressed(content, matrix=matrix)
    return content.getvalue()


def bomb():
    """A .npz of a few kilobytes that says it holds eight gigabytes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (40_000_000, 25)})
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("matrix.npy", header.getvalue() + bytes(40_000_000))
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("wide.csv", b"1,0,1\n0,1,1\n", "3 columns and there are 25 types"),
        ("nan.csv", ("1," * 24 + "nan\n").encode(), "not a finite number"),
        ("inf.npz", npz(np.full((2, 25), np.inf)), "finite number"),
        ("wide.npz", npz(np.ones((2, 24))), "24 columns"),
        ("zero.npz", npz(np.zeros((1, 25))), "asks nothing"),
        ("text.csv", b"what is this\n", "columns"),
        ("empty.csv", b"", "is empty"),
        ("bomb.npz", bomb(), "take more than 32 MB"),
        ("broken.npz", b"PK\x03\x04 nothing", "cannot be unpacked"),
        ("pickle.npy", b"\x93NUMPY\x01\x00", "no array that can be read"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(on_ages, name, content, said):
    before = on_ages.configuration
    upload(on_ages, content, name)
    assert len(on_ages.errors) == 1
    assert said in on_ages.errors[0]
    assert on_ages.errors[0].endswith("What you had set up is unchanged.")
    assert on_ages.configuration == before


def test_a_matrix_that_no_configuration_could_hold_is_refused(on_ages):
    before = on_ages.configuration
    upload(on_ages, npz(np.random.default_rng(0).random((30_000, 25))), "large.npz")
    assert "files of at most 5 MB" in on_ages.errors[0]
    assert on_ages.configuration == before


# --- data that changes under the questions ---------------------------------------------------------------------------


def test_questions_that_no_longer_fit_are_kept_and_can_be_mended(health):
    add(health, "histogram")
    asked = parts(health)
    health.sample()
    assert parts(health) == asked
    assert workload(health) is None
    assert "no longer fit the data" in health.words
    assert len(health.errors) == 2  # each group says why
    assert any("no attribute smokes" in sentence for sentence in health.errors)
    health.enter("selectbox", "group-1-attribute", "age").press("group-0-remove")
    assert not health.errors
    assert workload(health).num_queries == 25
    assert "no longer fit" not in health.words


def test_questions_that_no_longer_fit_give_way_to_the_default_ones(health):
    change_kind(health, "predicates")
    health.sample()
    assert workload(health) is None
    health.press("ask-default")
    assert parts(health) == WorkloadRecipe.default(health.configuration.domain).parts
    assert workload(health) is not None
    health.press("undo")
    assert parts(health)[0].kind == "predicates"


def test_every_kind_can_be_mended_in_place_after_the_data_has_changed(health):
    for kind in ("marginals", "parity", "types", "all_marginals", "joint_histogram"):
        add(health, kind)
    health.sample()
    for group in range(len(parts(health))):
        change_kind(health, "histogram", group)
    assert {part.attribute for part in parts(health)} == {"age"}
    assert workload(health) is not None


# --- what the questions cost ------------------------------------------------------------------------------------------


def test_rank_hardness_and_errors_are_shown(health):
    health.finish()
    w = workload(health)
    assert f"Independent (rank) {w.rank}" in health.words
    limits = health.session.bounds("worst_case")
    assert "certificate" in limits
    assert "By the certificate" in health.words
    assert "fewer than" in health.words
    assert chart(health, "rank of the singular value")["data"][0]["y"] == pytest.approx(w.singular_values().tolist())
    assert "err alike" in health.words or chart(health, "share of the total squared error (%)")


def test_the_query_that_errs_most_is_named(on_ages):
    on_ages.enter("selectbox", "group-0-questions", "ranges")
    shares = chart(on_ages, "share of the total squared error (%)")["data"][0]["x"]
    assert sorted(shares, reverse=True) == shares
    assert "errs most on this data" in on_ages.words


def test_the_errors_are_those_of_the_chosen_mechanism_once_it_is_there(on_ages):
    assert "the compared mechanism that needs the fewest users without being fitted" in on_ages.words
    on_ages.session.change(mechanism=MechanismRecipe(name="randomized_response"))
    on_ages.at.run()
    assert "With Randomized response, the chosen mechanism" in on_ages.words
    variances = on_ages.session.mechanism("randomized_response").query_variances(
        workload(on_ages), on_ages.session.design().counts
    )
    shares = chart(on_ages, "share of the total squared error (%)")["data"][0]["x"]
    assert shares == pytest.approx(np.sort(100 * variances / variances.sum())[::-1][:12].tolist())


def test_a_bound_that_takes_long_is_proved_when_asked(app):
    app.declare(bins=200).go("workload")
    change_kind(app, "ranges")
    assert "certificate" not in app.session.bounds("worst_case")
    app.press("prove")
    assert app.has("button", "stop-proof")
    app.press("stop-proof").finish()
    assert not app.has("button", "stop-proof")


def test_many_types_do_not_stop_the_page(app):
    recipes = tuple(CategoricalRecipe(column=f"q{i}", categories=["no", "yes"]) for i in range(13))
    app.session.set_data(DeclaredData(recipes=recipes), None)
    app.go("workload")
    add(app, "predicates")
    assert workload(app).n == 2**13
    app.finish()
    assert f"Queries (p) {13 * 12 // 2 * 4 + 1}" in app.words
    assert "is worked out for up to 2,048 types" in app.words
    assert not app.errors

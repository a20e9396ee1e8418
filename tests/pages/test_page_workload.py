"""The Workload page: groups of questions of every kind, what is refused, and what happens when the data changes."""

import pytest

from ldp_core.designs import DeclaredData, UploadedData
from pages.ui.workload.kinds import KINDS

HEALTH = "health_survey.csv"
NAMES = ["smokes", "high_blood_pressure", "diabetes", "asthma", "sleeps_badly", "exercises"]


def chart(app, axis_title):
    return next(
        figure for figure in app.charts if figure["layout"]["xaxis"]["title"]["text"].replace("<br>", " ") == axis_title
    )


# --- every kind -----------------------------------------------------------------------------------------------------


@pytest.mark.promise
@pytest.mark.parametrize(
    ("kind", "queries"),
    [
        ("marginals", 4),
        ("parity", 64),
        ("difference", 1),
        ("types", 64),
    ],
)
def test_every_kind_is_added_to_six_yes_or_no_questions(health, kind, queries):
    health.add(kind)
    assert [part.kind for part in health.parts] == ["k_way_marginals", kind]
    assert health.metric("Answers") == f"{60 + queries}"
    assert f"{queries:,} answer" in health.words
    assert not health.errors
    # The picture names the groups beside the rows.
    named = chart(health, "type of person")["layout"]["yaxis"]["ticktext"]
    assert [name.rpartition(" (")[2] for name in named] == ["60)", f"{queries:,})"]


@pytest.mark.parametrize(("kind", "queries"), [("ranges", 25 * 26 // 2), ("predicates", 1)])
def test_one_attribute_changes_its_questions_in_place(on_ages, kind, queries):
    on_ages.change_kind(kind)
    assert [part.kind for part in on_ages.parts] == [kind]
    assert on_ages.workload.num_queries == queries
    assert f"Answers {queries}" in on_ages.words
    first, last = (on_ages.workload.query_name(q, None) for q in (0, queries - 1))
    assert first in on_ages.words
    assert last in on_ages.words


def test_kinds_that_cannot_work_are_left_out_and_say_why(app):
    app.sample("favourites.csv", "workload")
    assert app.control("selectbox", "adding").options == [
        KINDS[kind].title for kind in ("histogram", "predicates", "matrix", "types")
    ]
    assert "no order" in app.words
    app.sample(HEALTH)
    options = app.control("selectbox", "adding").options
    assert KINDS["prefix"].title not in options
    assert KINDS["parity"].title in options


def test_settings_of_histogram_marginals_k_way_and_parity(health):
    health.change_kind("histogram").enter("selectbox", "group-0-attribute", "asthma")
    assert health.parts[0].attribute == "asthma"
    health.change_kind("marginals").enter("multiselect", "group-0-set-0", ["asthma", "diabetes", "exercises"])
    health.press("group-0-add-set")
    assert health.parts[0].groups == (
        ("asthma", "diabetes", "exercises"),
        ("smokes", "high_blood_pressure", "diabetes"),
    )
    assert health.workload.num_queries == 16
    health.enter("multiselect", "group-0-set-0", [])
    assert health.parts[0].groups == (("smokes", "high_blood_pressure", "diabetes"),)
    health.enter("multiselect", "group-0-set-0", [])
    assert "at least one attribute" in health.errors[0]
    assert len(health.parts[0].groups) == 1
    health.change_kind("k_way_marginals").enter("number_input", "group-0-k", 3)
    assert health.workload.num_queries == 160
    health.change_kind("parity").enter("number_input", "group-0-max-weight", 1)
    assert health.workload.num_queries == 7
    health.enter("multiselect", "group-0-attributes", NAMES[:2])
    assert health.workload.num_queries == 3
    health.enter("number_input", "group-0-max-weight", 2)
    assert health.parts[0].max_weight is None


def test_two_groups_are_compared_by_any_question(health):
    health.change_kind("difference")
    assert health.parts[0].summary == "high_blood_pressure yes, smokes yes minus no, shares"
    health.enter("selectbox", "group-0-compared", "asthma").enter("selectbox", "group-0-of", "k_way_marginals")
    assert health.parts[0].summary == "Joint counts of every 2 attributes, asthma yes minus no, shares"
    health.enter("selectbox", "group-0-first", "no").enter("number_input", "group-0-k", 1)
    assert health.parts[0].summary == "Histograms of every attribute, asthma no minus yes, shares"
    assert "Answers 10\n" in health.words
    assert "no minus yes" in health.words.split("Examples: ")[1]
    assert not health.errors


WITHIN = [
    "histogram",
    "marginals",
    "k_way_marginals",
    "all_marginals",
    "joint_histogram",
    "parity",
    "predicates",
    "types",
    "difference",
]


def test_every_kind_of_question_is_asked_within_groups(health):
    """As the core asks it, and the other controls speak of the columns that are left."""
    for kind in WITHIN:
        health.change_kind(kind).enter("multiselect", "group-0-by", ["exercises", "sleeps_badly"])
        (part,) = health.parts
        assert (part.kind, part.by) == (kind, ("exercises", "sleeps_badly"))
        assert part.summary.endswith(", within each exercises x sleeps_badly")
        asked = part.build(health.configuration.domain)
        assert health.metric("Answers") == f"{asked.num_queries:,}"
        assert kind == "difference" or health.workload == asked
        if kind == "k_way_marginals":
            assert health.control("number_input", "group-0-k").max == 4
        health.enter("multiselect", "group-0-by", [])
        assert health.parts[0].by == ()


# --- several groups -------------------------------------------------------------------------------------------------


def test_removing_a_group_can_be_undone_and_the_last_one_stays(health):
    assert not health.has("button", "group-0-remove")
    health.add("histogram")
    both = health.parts
    health.press("group-0-remove")
    assert health.parts == both[1:]
    assert not health.has("button", "group-0-remove")
    health.press("undo")
    assert health.parts == both
    health.press("undo")
    assert [part.kind for part in health.parts] == ["k_way_marginals"]


# --- data that changes under the questions ---------------------------------------------------------------------------


def test_questions_that_no_longer_fit_are_kept_and_can_be_mended(health):
    health.add("histogram")
    asked = health.parts
    health.sample()
    assert health.parts == asked
    assert not health.session.setting.has_questions
    assert "no longer fit the data" in health.words
    assert len(health.errors) == 2  # each group says why
    assert any("no attribute smokes" in sentence for sentence in health.errors)
    health.enter("selectbox", "group-1-attribute", "age").press("group-0-remove")
    assert not health.errors
    assert health.workload.num_queries == 25
    assert "no longer fit" not in health.words


# --- what the questions cost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "page"), [("declared", "design"), ("absent", "workload")])
def test_columns_that_no_question_uses_are_dropped_by_one_button(health, rows, page, another):
    health.change_kind("histogram").enter("selectbox", "group-0-attribute", "asthma")
    c = health.configuration
    declared = [r.model_copy(update={"categories": ("no", "yes"), "origin": "declared"}) for r in c.data.recipes]
    data = DeclaredData(recipes=declared) if rows == "declared" else UploadedData(recipes=c.data.recipes)
    health = another().load(c.with_(data=data).to_json())
    before = health.go(page).configuration
    assert "No question uses smokes, high_blood_pressure and 3 more" in health.words
    assert "2 types instead of 64" in health.words
    health.press("drop-unused")
    assert health.configuration.domain.shape == (2,)
    assert health.configuration.workload == before.workload
    assert health.workload.num_queries == 2
    assert not health.errors
    assert not health.has("button", "drop-unused")
    assert health.press("undo").configuration == before

"""Questions people bring themselves on the Workload page: conditions they write, matrices they upload."""

from hypothesis import given
from hypothesis import strategies as st

from ldp_core.workloads import Axis, Predicate
from pages.ui.workload.kinds import read_conditions, write_conditions


def test_conditions_with_and_without_names(health):
    health.change_kind("predicates")
    text = 'smokes = yes and not asthma = yes\n\nAt risk: diabetes = yes or smokes = yes\n"a = b": exercises != no'
    health.enter("text_area", "group-0-conditions", text)
    assert [p.title for p in health.parts[0].predicates] == ["smokes = yes and not asthma = yes", "At risk", "a = b"]
    assert health.workload.num_queries == 3
    assert "At risk" in health.words
    assert health.control("text_area", "group-0-conditions").value == text.replace("\n\n", "\n")


def test_a_typo_in_a_condition_is_kept_with_a_sentence(health):
    health.add("predicates")
    typo = "smokes = yes\nsmoks = yes and asthma = no"
    said = health.refuses("text_area", "group-1-conditions", typo, "Condition 2")
    assert "at character 1" in said
    assert "did you mean smokes?" in said
    # Work elsewhere does not lose what was typed, even where the group moves up.
    health.enter("number_input", "group-0-k", 1)
    assert health.control("text_area", "group-1-conditions").value == typo
    health.press("group-0-remove")
    assert health.control("text_area", "group-0-conditions").value == typo
    health.enter("text_area", "group-0-conditions", typo.replace("smoks", "smokes"))
    assert not health.errors
    assert health.workload.num_queries == 2


@given(names=st.lists(st.none() | st.text(min_size=1), min_size=1, max_size=3))
def test_conditions_written_out_are_read_the_same(names):
    axes = [Axis("a: b", ("no", "yes: or no"), 2), Axis("c", ("no", "yes"), 2)]
    conditions = ['"a: b" = "yes: or no"', "c = yes and not (`a: b` = no)", "c in {yes, no}"]
    asked = [Predicate(expression=text, name=name) for text, name in zip(conditions, names, strict=False)]
    read = read_conditions(write_conditions(asked, axes), axes)
    assert [p.expression for p in read] == [p.expression for p in asked]
    assert [p.title for p in read] == [" ".join((p.name or "").split()) or p.expression for p in asked]


# --- uploaded matrices ----------------------------------------------------------------------------------------------


def upload(app, content, name="matrix.csv"):
    app.enter("selectbox", "adding", "matrix")
    return app.hand("matrix", (name, content, "application/octet-stream"))


def test_a_matrix_with_names(on_ages):
    rows = [
        "name," + ",".join(f"t{i}" for i in range(25)),
        "young," + "1," * 10 + ",".join("0" * 15),
        "all" + ",1" * 25,
    ]
    upload(on_ages, "\n".join(rows).encode())
    assert not on_ages.errors
    assert [part.kind for part in on_ages.parts] == ["prefix", "matrix"]
    assert on_ages.workload.query_name(25) == "young"
    assert "25 numbers" in on_ages.words
    on_ages.press("group-0-remove")
    assert on_ages.workload.num_queries == 2
    assert "young" in on_ages.words

"""Pictures of people by attribute and of queries: what they show, under which names, and how large they get."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import charts, workloads
from ldp_core.charts.inputs import SIDE
from ldp_core.charts.theme import bins_of, cell_names
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.limits import MOST_BARS
from tests.refused import refused

LIMIT = 2_000_000
NASTY = ("<b>bold</b>", "%{z} {x}", '=HYPERLINK("x")', "R&amp;D", "\N{GRINNING FACE}" * 30, "17")

AGE = RangeAttribute(name="age", low=17, high=90, bins=74, integer=True)
SEX = CategoricalAttribute(name="sex", values=("Male", "Female"))
INCOME = CategoricalAttribute(name="income", values=("<=50K", ">50K"), missing="category")


def size(fig):
    text = fig.to_json()
    json.loads(text)
    return len(text.encode())


def domain(*attributes):
    return Domain(attributes=attributes)


def heat(fig):
    (trace,) = (trace for trace in fig.data if trace.type == "heatmap")
    return trace


def seen(fig):
    """Texts of hovers, ticks and axis values of a figure."""
    trace = fig.data[0]
    for texts in (trace.hovertext, trace.x, trace.y, fig.layout.xaxis.ticktext, fig.layout.yaxis.ticktext):
        yield from (text for text in (() if texts is None else texts) if isinstance(text, str))


# --- bins of adjacent types ---------------------------------------------------------------------------------------


@given(bins=st.integers(2, 400), most=st.integers(3, 60), other=st.booleans(), missing=st.booleans(), data=st.data())
def test_bins_keep_everybody_and_say_where_they_are(bins, most, other, missing, data):
    attribute = RangeAttribute(
        name="x",
        low=0,
        high=bins - 1,
        bins=bins,
        integer=True,
        outside="other" if other else "refuse",
        missing="category" if missing else "drop",
    )
    counts = np.array(data.draw(st.lists(st.integers(0, 99), min_size=attribute.size, max_size=attribute.size)))
    found = bins_of(attribute, most)
    sums = found.sums(counts)
    assert len(sums) == len(found.labels) <= most
    special = other + missing
    for total, label in list(zip(sums, found.labels, strict=True))[: len(sums) - special]:
        first, _, last = label.partition("-")
        assert total == counts[int(first) : int(last or first) + 1].sum()
    assert list(sums[len(sums) - special :]) == list(counts[bins:])
    assert found.labels[len(sums) - special :] == list(attribute.labels[bins:])


def test_names_of_cells_differ_and_fit():
    long = "x" * 300
    names = cell_names([long, long, "a", "a", "a (2)", " ", *NASTY])
    assert len(set(names)) == len(names) == 6 + len(NASTY)
    assert all(name for name in names)
    many = cell_names(["\N{GRINNING FACE}" * 300] * 512)
    assert len(set(many)) == 512
    assert len(json.dumps(many)) < 110_000


# --- one attribute ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 2**22])
def test_a_marginal_of_any_size_is_a_small_picture(bins):
    attribute = RangeAttribute(name="income", low=0, high=bins - 1, bins=bins, integer=True, missing="category")
    counts = np.random.default_rng(0).integers(0, 5, bins + 1)
    fig = charts.marginal(attribute, counts)
    assert size(fig) < LIMIT
    bars = np.asarray(fig.data[0].y)
    assert len(bars) <= MOST_BARS
    assert bars.sum() == counts.sum()
    assert bars[-1] == counts[-1]
    assert fig.data[0].hovertext[-1].startswith("income (missing): ")
    assert ("types)" in fig.layout.xaxis.title.text) == (bins >= MOST_BARS)


# --- two attributes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [("sex", "income"), ("income", "sex")])
def test_a_joint_table_sums_the_other_attributes_out(first, second):
    attributes = domain(AGE, SEX, INCOME)
    counts = np.random.default_rng(0).integers(0, 3, attributes.size)
    trace = heat(charts.joint(attributes, counts, first, second))
    people = {}
    for label, count in zip(attributes.decode(np.arange(attributes.size)).itertuples(index=False), counts, strict=True):
        cell = getattr(label, first), getattr(label, second)
        people[cell] = people.get(cell, 0) + count
    assert np.asarray(trace.z).dtype == np.float32
    for i, row in enumerate(trace.y):
        for j, column in enumerate(trace.x):
            plain = [name.replace("&lt;", "<").replace("&gt;", ">") for name in (column, row)]
            count = people[tuple(plain)]
            assert trace.text[i][j].startswith(f"{count:,} pe")
            drawn = trace.z[i][j]
            assert np.isnan(drawn) if count == 0 else drawn == count


def test_large_joint_tables_are_binned():
    x = RangeAttribute(name="x", low=0, high=2999, bins=3000, integer=True)
    y = NumericAttribute(name="y", edges=tuple(np.linspace(0, 1, 1501)), missing="category")
    counts = np.random.default_rng(0).integers(0, 1000, 3000 * 1501)
    fig = charts.joint(domain(x, y), counts, "x", "y")
    assert size(fig) < LIMIT
    trace = heat(fig)
    assert max(np.asarray(trace.z).shape) <= SIDE
    assert np.nansum(np.asarray(trace.z, dtype=float)) == counts.sum()
    last = counts.reshape(3000, 1501)[:15, -1].sum()
    assert trace.text[-1][0].startswith(f"{last:,} people")
    assert (trace.x[0], trace.y[-1]) == ("0-14", "(missing)")


@pytest.mark.parametrize(("first", "second"), [("sex", "sex"), ("height", "income")])
def test_a_joint_table_needs_two_attributes_of_the_domain(first, second):
    refused(
        "Choose two different attributes of sex, income",
        lambda: charts.joint(domain(SEX, INCOME), np.ones(6), first, second),
    )
    refused("6 types", lambda: charts.joint(domain(SEX, INCOME), np.ones(5), "sex", "income"))


# --- names from people --------------------------------------------------------------------------------------------


def test_names_of_the_data_are_text_in_every_picture():
    odd = CategoricalAttribute(name="<i>%{z}</i>", values=NASTY)
    pair = domain(odd, SEX)
    figures = [
        charts.marginal(odd, np.arange(6)),
        charts.joint(pair, np.arange(12), odd.name, "sex"),
        charts.joint(pair, np.arange(12), "sex", odd.name),
        charts.workload_matrix(workloads.histogram(12), pair.labels(), groups=[("<b>", 5), ("%{y}", 7)]),
    ]
    for fig in figures:
        texts = list(seen(fig))
        assert any("&lt;" in text for text in texts)
        assert not any(re.search(r"<(?!br>)", text) for text in texts)
        titles = fig.layout.xaxis.title.text + fig.layout.yaxis.title.text
        assert "<" not in titles.replace("<br>", "")
        template = fig.data[0].hovertemplate or ""
        assert set(re.findall(r"%{([^}]*)}", template)) <= {"x", "y", "z:.4~g", "text"}


def test_ticks_stand_beside_whole_positions():
    # An axis of names takes tick 17 for the type called "17".
    labels = [str(age) for age in range(17, 91)]
    for fig in (
        charts.workload_matrix(workloads.prefix(74), labels),
        charts.patterns(np.full((2, 74), 0.5), labels),
        charts.joint(domain(AGE, SEX), np.ones(148), "age", "sex"),
    ):
        places = np.asarray(fig.layout.xaxis.tickvals)
        assert (places != np.round(places)).all()
        assert [labels[round(place)] for place in places] == list(fig.layout.xaxis.ticktext)


# --- the query matrix ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "rows", "columns"),
    [
        (workloads.all_marginals(10), 512, 512),
        (workloads.prefix(2**20), 32, 512),
        (workloads.custom(np.array([[1e100, -1e100], [0, 1]])), 2, 2),
    ],
    ids=str,
)
def test_large_workloads_are_small_pictures(workload, rows, columns):
    fig = charts.workload_matrix(workload, None)
    assert size(fig) < LIMIT
    z = np.asarray(heat(fig).z)
    assert z.shape == (rows, columns)
    assert np.isfinite(z).all()
    assert z[0].max() > 0

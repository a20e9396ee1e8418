"""Only what is open is drawn, what was open stays open, and nothing is worked out twice for a page that was seen before."""

import pytest

from ldp_core import analysis, charts, frames, library
from pages.ui.session.state import choose_mechanism

TABS = {
    "Users needed": "users-needed",
    "Error of each query": "query-errors",
    "Over epsilon": "",
    "Over domain size": "",
}


def drawn(app):
    return {element.proto.id.split("-chart-")[-1] for element in app.at.get("plotly_chart")}


@pytest.fixture
def counted(monkeypatch):
    """How often each of the costly functions was called."""
    calls = dict[str, int]()

    def count(owner, name):
        original = getattr(owner, name)

        def counting(*args, **kwargs):
            calls[name] = calls.get(name, 0) + 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    for owner, names in (
        (frames, ("reports", "users_bounds", "catalogue")),
        (charts, ("report_table",)),
        (analysis, ("answers",)),
        (library, ("create",)),
    ):
        for name in names:
            count(owner, name)
    return calls


def test_a_tab_is_drawn_once_it_is_opened_and_stays_open(ages):
    ages.go("compare")
    for tab, chart in TABS.items():
        ages.open("compare-tabs", tab)
        assert drawn(ages) & {*TABS.values()} == {chart} - {""}
    ages.open("compare-tabs", "Error of each query").go("data").go("compare")
    assert "query-errors" in drawn(ages)
    ages.at.run()
    assert "query-errors" in drawn(ages)


def test_nothing_is_worked_out_twice_on_return(ages, counted):
    ages.session.change(mechanism=choose_mechanism("hierarchical"))
    pages = ("workload", "design", "compare", "bounds", "simulate", "export")
    for page in pages:
        ages.go(page).finish()
    for tab in TABS:
        ages.go("compare").open("compare-tabs", tab).finish()
    ages.go("design").open("design-tabs", "Patterns").unfold("groups").finish()
    first = dict(counted)
    assert {"users_bounds", "report_table", "answers", "create"} <= set(first)
    for page in pages:
        ages.go(page)
    for tab in TABS:
        ages.go("compare").open("compare-tabs", tab)
    ages.go("design").unfold("groups").finish()
    assert counted == first

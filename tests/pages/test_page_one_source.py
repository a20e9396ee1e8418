"""Users needed, the proved minimum and the gap of one design are the same numbers on every page, also after loading it."""

import re

import pytest

from ldp_core import frames, library, wording
from ldp_core.designs.configuration import Optimizer
from pages.ui.session import exchange

PAGES = ("workload", "design", "compare", "bounds", "simulate", "export")
TITLE = library.spec("optimized").title


@pytest.fixture(scope="module")
def designed(another):
    app = another()
    app.go("guide").declare(bins=8, users="50,000").ask("prefix")
    app.session.change(optimizer=Optimizer(max_rounds=2), difference=None, target_alpha=0.0001)
    app.go("compare").enter("multiselect", "compared", ["subset_selection", "optimized"])
    return app.go("design").finish()


def numbers(app):
    """All whole numbers on the page, in words, metrics, tables and charts."""
    texts = [
        app.words,
        *(str(text) for chart in app.charts for trace in chart["data"] for text in trace.get("text", ())),
    ]
    found = {int(number.replace(",", "")) for text in texts for number in re.findall(r"\d[\d,]*\d", text)}
    for table in app.dataframes:
        for name in {"users", "users_needed"} & set(table):
            for row, value in zip(table["name"], table[name], strict=True):
                written = wording.minimum if row.startswith("Proved minimum") else wording.needed
                found |= {int(written(value).replace(",", ""))} if value < 1e12 else set()
    return found


def expected(app):
    """Users needed and the bounds as they are written: the first rounded up, the second down."""
    session = app.session
    mechanism, limits = session.mechanism("optimized"), session.setting.bounds("worst_case")
    needed, bound = session.setting.users_needed(mechanism, "worst_case"), max(limits.values())
    read = lambda text: int(re.sub(r"\D", "", text))  # noqa: E731
    allowed = {read(wording.needed(needed)), *(read(wording.minimum(limit)) for limit in limits.values())}
    return needed, bound, allowed


def walk(app):
    """The pages with whatever number near users needed is not one of those allowed, and those that tell the gap."""
    needed, bound, allowed = expected(app)
    gap, strange, told = wording.gap(frames.gap(needed, bound)).replace("\N{NO-BREAK SPACE}", " "), {}, set()
    assert needed > 10_000
    assert bound < needed
    for page in PAGES:
        app.go(page).finish()
        near = {number for number in numbers(app) if 0.98 * bound <= number <= 1.02 * needed}
        # Averaged over even people, the Bounds page says so, are other numbers.
        if page != "bounds" and near - allowed:
            strange[page] = near - allowed
        if gap in app.words.split("**Current design**")[0].replace("\N{NO-BREAK SPACE}", " "):
            told.add(page)
        side = [link.proto.label for link in app.at.get("page_link") if "Gap to minimum" in link.proto.label]
        assert [label.replace("\\", "").replace("\N{NO-BREAK SPACE}", " ") for label in side] == [
            f"Gap to minimum: at most {gap}"
        ]
        assert "More users than the certificate allows, worst case" in app.words
    return strange, told


def test_every_page_says_the_same(designed):
    strange, told = walk(designed)
    assert not strange
    assert told == {"design", "compare"}


def test_so_does_every_page_after_loading(designed, another):
    before = expected(designed)
    app = another()
    app.load(exchange.export(designed.session)).finish()
    strange, told = walk(app)
    assert not strange
    assert told == {"design", "compare"}
    needed, bound, _ = expected(app)
    assert (needed, bound) == pytest.approx(before[:2], rel=1e-6)


def test_the_plan_takes_the_fit_and_the_bound_of_the_design(designed):
    designed.solve_for("users")
    table = next(table for table in designed.dataframes if "users" in table).set_index("name")["users"]
    needed, bound, _ = expected(designed)
    assert table[TITLE] == pytest.approx(needed)
    assert table["Proved minimum (certificate)"] == pytest.approx(bound)

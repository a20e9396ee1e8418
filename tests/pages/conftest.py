"""A person at the app, without a browser: turns pages, uses widgets, reads what is on screen."""

import base64
import importlib
import json
import uuid
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.testing.v1.element_tree import Widget

from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.data.tables import NumericRecipe
from ldp_core.designs import Configuration, Population, WorkloadRecipe, choices
from ldp_core.workloads import RangesPart, TypesPart
from pages.ui import later
from pages.ui.controls import whole_number
from pages.ui.data import actions
from pages.ui.design import trade_off
from pages.ui.session import browser
from pages.ui.session.state import Session

APP = Path(__file__).parents[2] / "app.py"
PROVED = []
"""Whether pages begin proofs unasked: see `App.finish`."""
PATIENCE = 3600  # seconds for a run of a page; only one that hangs takes this long
COMPILED = ScriptCache()  # pages, as one server compiles them once for all its sessions
# All modules of the pages are there before a test changes a constant: one imported meanwhile would keep what it found.
for module in (APP.parent / "pages" / "ui").rglob("*.py"):
    importlib.import_module(".".join(module.relative_to(APP.parent).with_suffix("").parts))


class NavigationAsServed(PagesManager):
    """AppTest forgets before every run that app.py called st.navigation, and then runs a file of pages/ alone, without the
    sidebar. It sets that on this class instead, so that the server's own class remembers, as it does in a server."""


class App:
    """One browser session. It is opened at the page that the test goes to first, by default at the one that takes least to draw, with what
    was chosen before as if it had been chosen on pages (`test_page_states.py` compares)."""

    def __init__(self):
        self._at, self._first = AppTest.from_file(APP, default_timeout=PATIENCE), "guide"

    @property
    def at(self):
        if self._first:
            self.go(self._first)
        return self._at

    def _come_to(self, page):
        """The session with which they will open that page."""
        self._first = page
        if "session" not in self._at.session_state:
            self._at.session_state["session"] = Session(uuid.uuid4().hex)
        return self.session

    @property
    def session(self):
        return (self._at if "session" in self._at.session_state else self.at).session_state["session"]

    @property
    def configuration(self):
        return self.session.configuration

    def go(self, page):
        self._first = None
        self._at.switch_page(f"pages/{page}.py").run()
        return self.check()

    def check(self):
        assert not self.at.exception, [e.message for e in self.at.exception]
        errors = {work.title: work.error for work in self.session.works.values()}
        assert not [error for error in errors.values() if "unexpectedly" in error], errors
        return self

    def press(self, key):
        self.at.button(key=key).click().run()
        return self.check()

    def enter(self, kind, key, value):
        """Set the widget ``key`` of a kind ("text_input", "selectbox", ...)."""
        self.control(kind, key).set_value(value).run()
        return self.check()

    def hand(self, key, file):
        """Give the uploader ``key`` a file, or several: (name, content, type)."""
        (box,) = [box for box in self.at.file_uploader if box.key.startswith(f"{key}-")]
        box.set_value(file).run()
        return self.check()

    def control(self, kind, key):
        """The widget ``key`` of a kind, also one that came anew."""
        (found,) = [one for one in getattr(self.at, kind) if one.key and one.key.partition("~")[0] == key]
        return found

    def open(self, tabs, title):
        """Turn to a tab: only what is in the open one is drawn."""
        assert title in [tab.label for tab in self.at.tabs]
        self.at.session_state[tabs] = title
        self.at.run()
        return self.check()

    def unfold(self, key):
        """Open what is folded away, and drawn only while it is open."""
        self.at.session_state[key] = True
        self.at.run()
        return self.check()

    def widget(self, label):
        """The widget with this visible label or key, on the page before the sidebar."""
        drawn = [one for one in [*self.at.main, *self.at.sidebar] if isinstance(one, Widget)]
        fitting = [one for one in drawn if label in (plain(one.label), one.key, one.key and one.key.partition("~")[0])]
        assert fitting, f"no {label!r} among {sorted(plain(one.label) for one in drawn)}"
        return fitting[0]

    def set(self, label, value):
        """Give the widget with a visible label a value, and let the page follow."""
        self.widget(label).set_value(value).run()
        return self.check()

    def click(self, label):
        """Press the button with a visible label, and wait for the work that it begins."""
        self.widget(label).click().run()
        return self.check().finish()

    def has(self, kind, key):
        return any(element.key and element.key.partition("~")[0] == key for element in getattr(self.at, kind))

    def target(self, points):
        """The target of answers about everybody in percentage points, as the Workload page sets it."""
        self.session.change(targets={"points": float(points)})
        self.at.run()
        return self.check()

    def solve_for(self, solved):
        """What two of people, epsilon and the target come to, on the Design page."""
        self.go("design").unfold("solve-for")
        return self.enter("segmented_control", "solved", solved).finish()

    def to_ask(self):
        """Questions one by one, on the Simulate page."""
        return self.go("simulate").enter("segmented_control", "simulate", "ask")

    def sample(self, file="survey_ages.csv", page=None):
        """Press a sample in the sidebar, and turn to a page."""
        if self._first:
            actions.load_sample(self._come_to("guide"), file)
        else:
            self.press(f"sample-{file}")
        return self.go(page) if page else self

    def refuses(self, kind, key, entry, said):
        """An entry is refused in one sentence, which is returned; it stays where it was typed, and the design as it was."""
        before = self.configuration
        self.enter(kind, key, entry)
        (error,) = self.errors
        assert said in error
        assert (self.control(kind, key).value, self.configuration) == (entry, before)
        return error

    def upload(self, name, content):
        """Upload a file of rows on the Data page."""
        self.go("data")
        self.enter("segmented_control", "data-source", "upload")
        return self.hand("upload", (name, content, "application/octet-stream"))

    def cells(self, rows):
        """Type into the table of columns: {column: {cell: value}}."""
        editor = next(one for one in self.at.get("data_editor") if "bins" in one.value)
        names = editor.value["column"].tolist()
        edited = {names.index(name): cells for name, cells in rows.items()}
        states = self.at._tree.get_widget_states()
        states.widgets.add(id=editor.proto.id, string_value=json.dumps({"edited_rows": edited}))
        self.at._run(states)
        return self.check()

    def cell(self, column, name):
        """What stands in a cell of the table of columns."""
        rows = next(one.value for one in self.at.get("data_editor") if "bins" in one.value)
        return rows.set_index("column").loc[column, name]

    def bins(self, column, text):
        """The bins, dates or categories of a column."""
        return self.cells({column: {"bins": text}})

    def kind(self, column, title):
        """Read a column as "categories", "numbers" or "dates"."""
        return self.cells({column: {"kind": title}})

    def columns(self, *names):
        """Ask about these columns of the table alone."""
        rows = next(one.value for one in self.at.get("data_editor") if "bins" in one.value)
        asked = dict(zip(rows["column"], rows["asked"], strict=True))
        added = {name: {"asked": True} for name in names if not asked[name]}
        return self.cells(added | {name: {"asked": False} for name, now in asked.items() if now and name not in names})

    def ask(self, family, **parameters):
        """Ask one of the papers' workloads on the list of types, or the only attribute."""
        part = TypesPart(family=family, parameters=parameters)
        self.session.change(workload=WorkloadRecipe(parts=(part,)))
        if self._first:
            return self
        self.at.run()
        return self.check()

    @property
    def parts(self):
        """The groups of questions."""
        return self.configuration.workload.parts

    @property
    def workload(self):
        return self.session.setting.workload

    def add(self, kind):
        """Choose a kind of questions below the groups and press Add."""
        return self.enter("selectbox", "adding", kind).press("add")

    def change_kind(self, kind, group=0):
        return self.enter("selectbox", f"group-{group}-questions", kind)

    def load(self, content, name="design.zip"):
        """Load a design in the sidebar; ``content`` is bytes or the document of a configuration."""
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.hand("load", (name, content, "application/octet-stream"))

    def declare(self, low="0", high="16", bins=16, users=None):
        """Declare a range in bins on the Data page."""
        if self._first:
            state = self._come_to("data")
            state.view["source"] = "declared"
            edges = {"low": float(low), "high": float(high), "bins": bins, "integer": False}
            actions.declare(state, (NumericRecipe(column="x", method="range", origin="declared", **edges),), 0)
            if users:
                state.expect(users=whole_number(str(users), "users", 1, 10**9))
            return self
        self.go("data")
        self.enter("segmented_control", "data-source", "declared")
        (name,) = [recipe.column for recipe in actions.declared(self.session)]
        self.kind(name, "numbers").cells({name: {"column": "x", "bins": f"{low} to {high} in {bins}"}})
        return self.enter("text_input", "declare-users", str(users)) if users else self

    def declare_table(self, *bins):
        """Declare two or three ordered attributes, of so many ``bins``, and ask for ranges along the first within the second."""
        sides = zip("xyz", bins or (4, 4), strict=False)
        attributes = [NumericAttribute(name=n, edges=tuple(range(size + 1)), origin="declared") for n, size in sides]
        people = Population(users=10_000, origin="declared", shape="uniform")
        recipe = WorkloadRecipe(parts=(RangesPart(attribute="x", by=("y",)),))
        made = Configuration(domain=Domain(attributes=attributes), workload=recipe, population=people)
        return self.load(made.model_dump(mode="json"))

    @property
    def working(self):
        """What runs for this session."""
        return [work for work in self.session.works.values() if work.active]

    def finish(self):
        """Let the page begin its proofs as well, and wait for them."""
        PROVED.append(True)
        self.at.run()
        return self.check()

    @property
    def errors(self):
        return [plain(element.value) for element in self.at.error]

    @property
    def charts(self):
        """Figures as the browser gets them, with their numbers as lists."""
        return [json.loads(chart.proto.spec, object_hook=numbers) for chart in self.at.get("plotly_chart")]

    @property
    def links(self):
        return {link.proto.page for link in self.at.get("page_link")}

    @property
    def words(self):
        """Everything written on screen, without Markdown's escapes."""
        kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "success", "code")
        parts = [str(element.value) for kind in kinds for element in getattr(self.at, kind)]
        parts += [f"{metric.label} {metric.value}" for metric in self.at.metric]
        parts += [f"{link.proto.label}\n{link.proto.help}" for link in self.at.get("page_link")]
        return plain("\n".join(parts))

    def metric(self, label):
        """The figure with this label."""
        return next(plain(metric.value) for metric in self.at.metric if metric.label == label)

    @property
    def costs(self):
        """The table of mechanisms side by side."""
        return next(table for table in self.dataframes if "users_needed" in table).set_index("name")

    @property
    def dataframes(self):
        return [element.value for element in self.at.dataframe] + [
            element.value.map(plain) for element in self.at.table
        ]


def numbers(value):
    if "bdata" not in value:
        return value
    flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return flat.reshape([int(side) for side in value["shape"].split(",")] if "shape" in value else -1).tolist()


def plain(text):
    return text.replace("\\", "").replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


@pytest.fixture
def offered(monkeypatch):
    """What the buttons on the pages visited would download, by the name of the file."""
    files, offer = {}, st.download_button

    def button(label, data, file_name, **options):
        files[file_name] = data
        return offer(label, data, file_name, **options)

    monkeypatch.setattr(st, "download_button", button)
    return files


@pytest.fixture(autouse=True)
def _served(monkeypatch):
    monkeypatch.setattr(app_test, "PagesManager", NavigationAsServed)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", False)
    # Designs wait for the button, for tests of what is on a page until then; see the fixture `unasked`.
    monkeypatch.setattr(choices, "OPTIMIZED_UNASKED", 0)
    monkeypatch.setattr(choices, "SIMULATED_UNASKED", 0)
    # AppTest has no browser that could come back.
    monkeypatch.setattr(browser, "visitor", lambda: None)
    # Each point of the curve over epsilon is another mechanism, and every look at Design draws it.
    monkeypatch.setattr(trade_off, "CURVE_POINTS", 5)
    # Searches end because they are done, however slow the machine is.
    monkeypatch.setattr("ldp_core.designs.rivals.SEARCH_SECONDS", {})
    monkeypatch.setattr("ldp_core.designs.rivals.MOST_SEARCH_SECONDS", float(PATIENCE))
    # Every run of an AppTest compiles its page, a twentieth of a second.
    for module in (app_test, local_script_runner):  # for pages, and for app.py
        monkeypatch.setattr(module, "ScriptCache", lambda: COMPILED)
    # AppTest looks a thousand times a second whether the page has been drawn, which takes from the page what it computes with.
    monkeypatch.setattr(local_script_runner, "require_widgets_deltas", lambda runner, timeout: runner.join())
    # Every AppTest searches all installed packages for components, a quarter of a second; the app uses none.
    monkeypatch.setattr("streamlit.components.v2.manifest_scanner.scan_component_manifests", list, raising=False)


@pytest.fixture(autouse=True)
def _proofs_when_wanted(monkeypatch):
    """Pages begin proofs unasked, which most tests are not about: here they begin once a test has called `App.finish`."""
    PROVED.clear()
    quick = choices.proved_unasked
    monkeypatch.setattr(choices, "proved_unasked", lambda *about: bool(PROVED) and quick(*about))


@pytest.fixture
def app():
    return App()


@pytest.fixture
def ages(app):
    """The app with the first sample: 3,000 ages in 25 types, prefix, epsilon 1."""
    return app.sample()


@pytest.fixture
def on_ages(app):
    """The same on the Workload page."""
    return app.sample(page="workload")


@pytest.fixture
def health(app):
    """The Workload page for six yes-or-no questions: 64 types, every pair asked by default."""
    return app.sample("health_survey.csv", "workload")


@pytest.fixture(scope="session")
def another():
    """Makes further sessions: `App`. Who imports it has another one, for which nobody waits, or none where other folders come first."""
    return App


@pytest.fixture
def unasked(monkeypatch):
    """Designs whose fit takes seconds optimise themselves, as on a server."""
    monkeypatch.setattr(choices, "OPTIMIZED_UNASKED", 128)
    monkeypatch.setattr(choices, "SIMULATED_UNASKED", 64)


class Held:
    """A queue that nobody serves until it is ``set``."""

    def __init__(self, served):
        self.served, self.waiting = served, list[later.Work]()
        self.put = self.waiting.append

    def set(self):
        self.put = self.served.put
        for work in self.waiting:
            self.put(work)


@pytest.fixture
def busy(monkeypatch):
    """All workers of the server are busy until what is yielded is set, and pages are as they are drawn first."""
    held, wait = Held(later.queue()), later.wait
    monkeypatch.setattr(later, "queue", lambda: held)
    monkeypatch.setattr(later, "wait", lambda *about: held.put == held.served.put and wait(*about))
    return held

"""The common look of all pages: title and purpose, controls above a picture, words under it,
downloads."""

from __future__ import annotations

import itertools
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import charts, designs, frames, mechanisms, wording
from ldp_core.designs import Setting, disclosure
from pages.ui import later, say
from pages.ui.controls import button
from pages.ui.session.state import WENT, Session, session
from pages.ui.tasks import work

T = TypeVar("T")

APP = "came-through-app"
"""Set by app.py: pages of this browser session run inside its navigation."""
_NUMBER = itertools.count()
PAGES = {
    "": {
        **{"Start": "home", "Data": "table_rows", "Workload": "quiz", "Design": "tune", "Simulate": "casino"},
        **{"Export": "download", "Collect": "inbox", "Compare": "bar_chart", "Bounds": "vertical_align_bottom"},
    },
    "More": {"Papers": "article", "Guide": "menu_book"},
}
"""The title and the icon of each page, in their order: the way of a collection, then what is known about it."""
_NEXT = dict(pairwise(title for titles in PAGES.values() for title in titles))
"""The page that follows each page; the last leads back to the data."""
CHART_TITLES = {
    "demonstration": "Share of people up to each age",
    "sides-beliefs": "What somebody can believe after a report",
    "closing-gap": "The search: best mechanism and proved minimum",
    "patterns": "Which types share a report",
    "users-needed": "People needed by mechanism",
    "query-errors": "Error of each answer",
    "over-epsilon": "People needed over epsilon",
    "guesses": "Error against right guesses at a person's value",
    "over-size": "People needed over the number of types",
    "bounds": "Bounds and predictions on one axis",
    "designs": "People needed by saved design",
    "promised": "How wide the answers will be",
    "difference-over-users": "Smallest difference found, by the number of people",
    "asked": "Answers so far, with the truth",
    "workload": "What the questions count",
    "simulated-errors": "Error of each estimate",
    "simulated-distribution": "Estimated distribution, with the truth",
    "simulated-quantiles": "Error of quantiles",
    "simulated-release": "What you might get",
    "simulated-intervals": "Intervals, with the truth",
    "scrambled": "Patterns of the reports",
    "singular-values": "Singular values of the questions",
    "column-sets": "Who is asked about which columns",
    "attribute-sets": "What makes the questions hard",
    "collected": "What you got",
}
"""The titles of charts by name, for those that always show the same."""
_CHART_OPTIONS = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
}


def open_page(title: str, purpose: str) -> Session:
    """Title, a sentence or two of purpose, and what the last action has to say."""
    if APP not in st.session_state:
        # Until app.py has run once, Streamlit takes pages/ for its own navigation and runs a page alone, without the
        # sidebar: the first visitor after a restart would get that under any address but the root.
        st.switch_page("app.py")
    state = session()
    _head(title, purpose)
    if title != state.page:
        if state.page:  # what was said before the first page is for that; what went without being asked, for all until something is begun
            state.notices = [notice for notice in state.notices if notice[1] in WENT]
        state.page = title
        later.forgive(state)
    # Shown again on every run: one ends whenever background work does, before anybody has read.
    # In one place, empty or not: entries below that moved up or down would lose what is being typed into them.
    with st.container(key="notices"):
        for kind, text in state.notices:
            getattr(st, kind)(say.plain(text))
    return state


def _head(title: str, purpose: str) -> None:
    """The title and what the page is for, and at their right the one button that leads on."""
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.title(say.plain(title), anchor=False)
        st.markdown(say.plain(purpose))
        following = _NEXT.get(title, "Data")
        if st.button(
            say.text("Next: {following}", following=following),
            key="next",
            icon=":material/arrow_forward:",
            icon_position="right",
        ):
            st.switch_page(f"pages/{following.lower()}.py")


def frame() -> tuple[DeltaGenerator, DeltaGenerator]:
    """The place of a page's controls, and below them its results at full width."""
    return controls("page"), st.container(key="results")


def controls(name: str, border: bool = False) -> DeltaGenerator:
    """A place for controls: entries and choices of one value flow into rows of two to four; anything longer, and every container, has
    a row of its own. Sentences about them follow below, and then the line of `actions`."""
    return st.container(key=f"controls-{name}", border=border)


def actions(name: str = "page") -> DeltaGenerator:
    """A line of buttons, the primary one first."""
    return st.container(horizontal=True, vertical_alignment="center", key=f"actions-{name}")


def more(label: str = "More settings") -> DeltaGenerator:
    """Settings that are rarely needed, behind a button."""
    return st.popover(say.plain(label), icon=":material/tune:")


def metrics(name: str) -> DeltaGenerator:
    """Numbers side by side, in as many lines as they need; none is cut."""
    return st.container(key=f"metrics-{name}")


def look() -> charts.Theme:
    """The chart theme of the page as the reader sees it."""
    return charts.DARK if st.context.theme.type == "dark" else charts.LIGHT


class PageEnd(BaseException):
    """A page ends early: for app.py, which draws what follows every page. No error, so nothing that catches errors catches it."""


def end() -> NoReturn:
    """End the page here. After Streamlit's own stop nothing more could be drawn. The sidebar still
    has to show the work that the page has begun and what it lacks."""
    raise PageEnd


def need(value: T | None, sentence: str, page: str, label: str) -> T:
    """Returns ``value``. If that is None, the page says what is missing, with a link to the
    place to set it, and ends."""
    if value is None:
        st.info(say.plain(sentence))
        st.page_link(page, label=say.plain(label), icon=":material/arrow_forward:")
        end()
    return value


def need_domain(state: Session, sentence: str) -> Setting:
    """The current design with its domain; otherwise the page says that it needs one."""
    return need(
        state.setting if state.setting.has_domain else None, sentence, "pages/data.py", "Choose or declare data"
    )


def need_design(state: Session) -> Setting:
    """The current design with data and workload; otherwise the page says what it needs."""
    design = need_domain(state, "This page needs a domain: the values people can have.")
    need_questions(state, design)
    state.settle()
    design = state.setting
    return need(
        design if design.has_questions else None,
        say.text(
            "The questions {fault}. {misfit} They are kept as they were; mend them, or undo.",
            fault="are too many for this server" if design.expensive else "no longer fit the data",
            misfit=design.misfit,
        )
        if design.misfit
        else "This page needs a workload: the questions to be answered.",
        "pages/workload.py",
        "Choose a workload",
    )


def need_costs(state: Session, mechanism: mechanisms.Mechanism) -> None:
    """Exact errors that take seconds are computed in the background; until then the page ends here."""
    try:
        there = work.priced(state, mechanism)
    except ValueError as error:
        later.instead(error)
        end()
    if not there:
        st.info("What this mechanism costs is being worked out.")
        end()


def need_questions(state: Session, design: Setting) -> None:
    """Questions that take long are computed in the background, once somebody asks for that; until then the page ends here."""
    if not design.waiting:
        return
    task = work.questions(state)
    if (running := task.running) is not None:
        st.info("The questions of this design are being worked out.")
        button("Cancel", "cancel-questions", "stop", running.stop)
        end()
    say.error("{error}", error=task.error)
    say.info(
        "The questions of this design take about {time} and {size} MB to work out, so this is not done unasked.",
        time=wording.duration(design.price.seconds),
        size=wording.significant(design.price.bytes / 1000000.0, 2),
    )
    button("Work them out", "questions", "play_arrow", task.start)
    end()


def chart(
    draw: Callable[[charts.Theme], go.Figure],
    sentence: str,
    name: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    of_design: bool = True,
    title: str = "",
) -> None:
    """A figure below its title and a small menu of downloads, and one sentence of what it says. Downloads say so where the design has
    counted people. ``draw`` takes a theme and returns the figure. ``data`` may be a function where making the table takes long."""
    mark, file = disclosure.MARK if of_design and session().setting.on_data else "", file_name(name, of_design)
    with st.container(horizontal=True, vertical_alignment="center", key=f"chart-head-{name}"):
        heading = title or CHART_TITLES.get(name, "")
        st.markdown(say.text("**{heading}**", heading=heading) if heading else "")
        with st.popover("Download", icon=":material/download:", type="tertiary", key=f"downloads-{name}"):
            if data is not None:
                download_table(data, name, of_design)
            made = lambda: standalone(draw, mark).encode()  # noqa: E731
            download("Chart (HTML)", made, f"{file}.html", "text/html", f"html-{name}", type="tertiary")
    picture(draw(look()), f"chart-{name}", say.spoken(say.plain(sentence)), file)
    st.markdown(say.plain(sentence))


def picture(figure: go.Figure, key: str, name: str, file: str = "") -> None:
    """A figure alone, with the ``name`` that screen readers say; its picture is downloaded as ``file``. Without a ``key`` it may be drawn
    again and again in one run of the page."""
    key = key or f"picture-{next(_NUMBER)}"
    config = {**_CHART_OPTIONS, "toImageButtonOptions": {"filename": file or file_name("chart")}}
    st.plotly_chart(figure, theme=None, config=config, key=key, alt=name)


def file_name(name: str, of_design: bool = True) -> str:
    """The name of a file without its ending: files ``of_design`` are marked if the design has
    counted people."""
    return f"{name}-with-data" if of_design and session().setting.on_data else name


def heading(title: str) -> None:
    """The heading of a part of a page: the title is the only one above it."""
    st.header(say.plain(title), anchor=False)


def standalone(draw: Callable[[charts.Theme], go.Figure], mark: str = "") -> str:
    """The figure as one HTML file that needs no network, below a ``mark`` in plain words."""
    figure = go.Figure(draw(charts.LIGHT))  # a copy: the one on screen may be kept
    figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
    page = figure.to_html(config=_CHART_OPTIONS, include_plotlyjs=True, full_html=True)
    return page.replace("<body>", f"<body><p>{mark}</p>", 1) if mark else page


def download_table(
    data: pd.DataFrame | Callable[[], pd.DataFrame],
    name: str,
    of_design: bool = True,
    label: str = "Data (CSV)",
    key: str = "",
    **style: Any,
) -> None:
    """A button that downloads ``data`` as CSV in full precision, without formulas; every row says so where it is ``of_design`` and that has
    counted people."""
    counted = of_design and session().setting.on_data

    def made() -> bytes:
        table = data() if callable(data) else data
        return frames.as_csv(disclosure.marked(table) if counted else table).encode()

    style = {"type": "tertiary", **style}
    download(label, made, f"{file_name(name, of_design)}.csv", "text/csv", key or f"csv-{name}", **style)


def download(label: str, data: bytes | Callable[[], bytes], file: str, mime: str, key: str, **style: Any) -> None:
    """A button that downloads a file and leaves the page as it is."""
    style = {"icon": ":material/download:", **style}
    # A CSV file begins with a byte order mark: without it, spreadsheets take its UTF-8 for another encoding.
    marked = (lambda: BOM_UTF8 + data()) if callable(data) and mime == "text/csv" else data
    st.download_button(say.plain(label), data=marked, file_name=file, mime=mime, key=key, on_click="ignore", **style)


def guarantee(configuration: designs.Configuration, audit: mechanisms.Audit) -> None:
    """The line for a privacy review, or why this mechanism must not be deployed."""
    try:
        st.code(designs.guarantee(configuration, audit), language=None, wrap_lines=True)
    except ValueError as error:
        st.error(say.plain(str(error)))


def details(text: str) -> None:
    """An explanation behind a small button."""
    with st.popover("Details", type="tertiary", icon=":material/info:"):
        st.markdown(say.plain(text))


def how_computed(text: str) -> None:
    """Formula and source, folded away."""
    with st.expander("How this is computed"):
        st.markdown(say.plain(text))


def panes(state: Session, key: str, titles: Sequence[str], draws: Sequence[Callable[[], None]]) -> None:
    """A tab for each of ``titles``; its function of ``draws`` draws the open one. The open tab is
    remembered when the page is left, and when others come beside it."""
    opened, before = state.view.get(key), f"{key}-titles"
    if opened in titles and (key not in st.session_state or state.view.get(before) != titles):
        st.session_state[key] = opened
    state.view[before] = titles
    for place, tab in enumerate(st.tabs([say.plain(title) for title in titles], key=key, on_change="rerun")):
        if tab.open:
            state.view[key] = titles[place]
            with tab:
                draws[place]()


def fold(title: str, key: str, expanded: bool = False) -> DeltaGenerator | None:
    """A section to draw into, with this title, folded at first unless ``expanded``; None while it is folded."""
    folded = st.expander(say.plain(title), expanded, key=key, on_change="rerun")
    return folded if folded.open else None

"""What every run draws: page configuration, navigation and the sidebar, and then the page."""

from collections.abc import Callable

import streamlit as st
from threadpoolctl import threadpool_limits

from pages.ui import layout, sidebar, streamlit_fixes
from pages.ui.data import background_read
from pages.ui.session import browser, cleanup, exchange
from pages.ui.session.state import session


@st.cache_resource
def one_thread_per_job() -> threadpool_limits:
    """Two jobs on two cores: more BLAS threads would only make them, and other sessions, wait for each other."""
    return threadpool_limits(limits=1, user_api="blas")


def draw() -> None:
    """One run for one visitor: the frame, and the page that they are on."""
    st.set_page_config(page_title="Private collection designer", page_icon="🛡️", layout="wide")
    one_thread_per_job()
    cleanup.watch()

    def moved(page: str, **view: str) -> Callable[[], None]:
        """What stands at the address of a page that is part of another now."""

        def lead_on() -> None:
            session().view.update(view)
            st.switch_page(page)

        return lead_on

    page = st.navigation(
        {
            "": [
                st.Page("pages/start.py", title="Start", icon=":material/home:", default=True),
                st.Page("pages/data.py", title="Data", icon=":material/table_rows:"),
                st.Page("pages/workload.py", title="Workload", icon=":material/quiz:"),
                st.Page("pages/design.py", title="Design", icon=":material/tune:"),
                st.Page("pages/compare.py", title="Compare", icon=":material/bar_chart:"),
                st.Page("pages/bounds.py", title="Bounds", icon=":material/vertical_align_bottom:"),
                st.Page("pages/simulate.py", title="Simulate", icon=":material/casino:"),
                st.Page("pages/export.py", title="Export", icon=":material/download:"),
                st.Page(
                    moved("pages/compare.py", **{"compare-tabs": "Solve for"}),
                    title="Plan",
                    url_path="plan",
                    visibility="hidden",
                ),
                st.Page(moved("pages/simulate.py", simulate="ask"), title="Ask", url_path="ask", visibility="hidden"),
            ],
            "More": [
                st.Page("pages/collect.py", title="Collect", icon=":material/inbox:"),
                st.Page("pages/papers.py", title="Papers", icon=":material/article:"),
                st.Page("pages/guide.py", title="Guide", icon=":material/menu_book:"),
            ],
        },
        position="top",
    )
    layout.came_through_app()
    if exchange.LINK in st.query_params:
        opened = exchange.open_link(
            session(), st.query_params.pop(exchange.LINK), st.query_params.pop(exchange.WITHOUT, "")
        )
        if opened:
            st.switch_page("pages/design.py")
    background_read.settle(session())
    streamlit_fixes.begin_page(browser.remembered(session()))
    follow = sidebar.draw(session())  # before the page: a page that lacks something ends early
    ended_early = False
    try:
        page.run()
    except layout.PageEnd:
        ended_early = True
    follow()
    streamlit_fixes.end_page()
    if ended_early:
        st.stop()  # Streamlit then keeps what the controls hold that the page did not come to

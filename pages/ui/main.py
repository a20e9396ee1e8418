"""What every run draws: page configuration, navigation and the sidebar, and then the page."""

import streamlit as st
from threadpoolctl import threadpool_limits

from pages.ui import controls, later, layout, sidebar, streamlit_fixes
from pages.ui.data import background_read
from pages.ui.session import browser, cleanup
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

    pages = {
        part: [
            st.Page(f"pages/{title.lower()}.py", title=title, icon=f":material/{icon}:", default=title == "Start")
            for title, icon in titles.items()
        ]
        for part, titles in layout.PAGES.items()
    }
    page = st.navigation(pages, position="top")
    st.session_state[layout.APP] = True
    background_read.settle(session())
    controls.begin_page()
    streamlit_fixes.begin_page(browser.remembered())
    session().results.show()
    ended = later.begin(session())
    lines, jobs = sidebar.draw(session())
    ended_early, state = False, session()
    try:
        page.run()
    except layout.PageEnd:
        ended_early = True
    except ValueError:
        if not state.left:
            raise
        st.rerun()  # it was forgotten, in another tab, while its page was drawn
    sidebar.draw_design(session(), lines)
    streamlit_fixes.end_page()
    later.wait(session(), jobs, ended)
    if ended_early:
        st.stop()  # Streamlit then keeps what the controls hold that the page did not come to

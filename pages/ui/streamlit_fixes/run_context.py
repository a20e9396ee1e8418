"""What Streamlit knows of the run of a script: the tab it is for, its address, and whether a clock asked for it."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def tab() -> str:
    """Streamlit's id of the tab that runs this script; empty without a server."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def address() -> str:
    """The address in the browser, that of Start with a slash at its end; empty without a browser. `st.context.url` takes the slash away,
    and the end of `/metadata` for the page Data."""
    context = get_script_run_ctx()
    return "" if context is None or context.context_info is None else str(context.context_info.url)


def polled() -> bool:
    """True if this run follows from the clock of a fragment, not from what anybody did with a
    control of the page. Such a run carries the values of all controls at the time of the request.
    While the page is drawn again, these may be old values. Taking them for choices would undo what
    was just typed or undone. Every choice triggers a run of its own."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)

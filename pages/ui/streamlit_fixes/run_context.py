"""What Streamlit knows of the run of a script: the tab it is for, its address, and whether a clock asked for it."""

from __future__ import annotations

from typing import Any

from pages.ui.streamlit_fixes.guard import Fix

KNOWN_TABS = Fix(
    "a browser that comes back gets its session again", "A refresh begins with an empty design, as the pages then say."
)
KNOWN_POLLS = Fix(
    "what a clock sends is no choice", "While work is running, an entry may show for a moment what it showed before."
)

KNOWN_ADDRESS = Fix(
    "a link leads to the app under any path",
    "A link shared from Start lacks the last part of the path that the app is under.",
)


def install() -> None:
    KNOWN_ADDRESS.attempt(lambda: _address(_context()))
    KNOWN_TABS.attempt(lambda: _session_id(_context()))
    KNOWN_POLLS.attempt(lambda: _fragments(_context()))


@KNOWN_TABS.guarded(otherwise="")
def tab() -> str:
    """Streamlit's id of the tab that runs this script; empty without a server."""
    return _session_id(_context())


@KNOWN_ADDRESS.guarded(otherwise="")
def address() -> str:
    """The address in the browser, that of Start with a slash at its end; empty without a browser. `st.context.url` takes the slash away,
    and the end of `/metadata` for the page Data."""
    return _address(_context())


@KNOWN_POLLS.guarded(otherwise=False)
def polled() -> bool:
    """True if this run follows from the clock of a fragment, not from what anybody did with a
    control of the page. Such a run carries the values of all controls at the time of the request.
    While the page is drawn again, these may be old values. Taking them for choices would undo what
    was just typed or undone. Every choice triggers a run of its own."""
    return bool(_fragments(_context()))


def _context() -> Any:
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return get_script_run_ctx()


def _session_id(context: Any) -> str:
    return "" if context is None else context.session_id


def _address(context: Any) -> str:
    return "" if context is None or context.context_info is None else str(context.context_info.url)


def _fragments(context: Any) -> list[str] | None:
    return None if context is None else context.fragment_ids_this_run

"""The promises about rows stand in one place, because pages and README repeat them.

Other modules make the promises true, some of them inside Streamlit (see `pages.ui.streamlit_fixes`).
"""

from __future__ import annotations

import math
import os

import streamlit as st

from ldp_core.deploy import collector
from ldp_core.limits import MOST_SERVER_BYTES

EVERY = 10.0
"""Seconds between looks for sessions whose tab has gone."""
_FREEING = 30.0
"""Seconds that freeing may take on a busy server."""
_NOTICED = 60.0
"""Seconds until a server misses a browser that went without a word: it pings every half minute, and waits as long."""
FORGOTTEN_AT_ONCE = (
    "This removes your data, designs, results and running work from this server at once, also those of other tabs of this browser. "
    "It cannot be undone. Files you have saved stay with you."
)
ROWS_IN_MEMORY = "Rows stay in the memory of this server, for your session only. They are not written to disk."


def reports_in_memory() -> str:
    """The place of reports, in a sentence or two that is true of this server."""
    here = "Reports are counted in the memory of this server, for your session only, and dropped once they are counted, but for digests of their ids"
    if collector.uploads_stay_in_memory():
        return f"{here}. They are not written to disk."
    return f"{here}; until then they are in a temporary file on the server's disk."


def returns_within() -> float:
    """Seconds within which Streamlit accepts a visitor whose connection has ended."""
    return float(st.get_option("server.disconnectedSessionTTL"))


def held_for() -> float:
    """Seconds for which abandoned sessions are held: an hour, unless the environment sets another
    time."""
    return float(os.environ.get("LDP_HELD_SECONDS", "3600"))


def kept_for() -> float:
    """Seconds after which no one can come back to what was left, neither through us nor through Streamlit."""
    return max(held_for(), returns_within())


def kept_minutes() -> int:
    """Whole minutes after which nothing is left of a session whose page was closed: `pages.ui.session.cleanup` misses it at one
    look, and frees it at the first look after the time for coming back is over."""
    return math.ceil((_NOTICED + kept_for() + 2 * EVERY + _FREEING) / 60)


def forgetting() -> str:
    """When rows are forgotten, in a sentence or two that is true of this server."""
    return (
        f"They are forgotten at most {_minutes(kept_minutes())} after the page is closed or its connection is lost, or at once when "
        "you press Forget everything."
    )


def holding() -> str:
    """What a refresh brings back and for whom, in sentences that are true of this server."""
    minutes = kept_for() / 60
    held = _minutes(round(minutes)) if minutes >= 1 else "less than a minute"
    return (
        "A refresh or a lost connection loses nothing: data, designs, results and running work are held in the memory of this server "
        f"for {held}, and only the same browser gets them back, by a cookie with a random number. A copied address opens "
        "nothing. A second tab beside an open one starts with a design of its own. For everybody together at most "
        f"{MOST_SERVER_BYTES / 2**30:g} GB of results, earlier tables and tables of closed pages are held: results used longest ago are dropped "
        "first and worked out again when they are asked for, and then who closed the page first is forgotten first."
    )


def _minutes(count: int) -> str:
    return f"{count} minute{'s' if count > 1 else ''}"

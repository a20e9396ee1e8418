"""Fixes that are off where a version of Streamlit lacks what they touch."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_LOG = logging.getLogger(__name__)


def off_where_absent(
    meaning: str, otherwise: Any
) -> Callable[[Callable[Arguments, Answer]], Callable[Arguments, Answer]]:
    """A fix that answers ``otherwise`` where what it touches is not there; one line of the log then says so, and its ``meaning``."""

    def fixed(fix: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
        said: list[str] = []

        @wraps(fix)
        def tried(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
            try:
                return fix(*arguments, **named)
            except (AttributeError, ImportError, TypeError) as error:
                if not said:
                    said.append(meaning)
                    line = ("With Streamlit %s %s (%s: %s).", st.__version__, meaning, fix.__name__, error)
                    _LOG.log(logging.WARNING, *line)
                return otherwise

        return tried

    return fixed

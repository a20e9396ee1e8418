"""How a fix of Streamlit is guarded: where it does not work, it is off, which is logged, and the app runs without it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
T = TypeVar("T")
_LOG = logging.getLogger(__name__)


@dataclass
class Fix:
    """A fix that rests on parts of Streamlit that another version may lack.

    Attributes:
        does: what it does, in a few words. without: what happens while it is off, in a sentence.
        off: whether it has failed. A fix that fails once stays off: half a fix promises too much.
    """

    does: str
    without: str
    off: bool = False

    def attempt(self, apply: Callable[[], object]) -> bool:
        """Apply the fix, and return whether it works. ``apply`` tries what it has done, and
        raises whatever it likes where that fails or a part of Streamlit is missing."""
        try:
            apply()
        except Exception as error:
            self._switch_off(error)
            return False
        self.off = False
        return True

    def guarded(self, otherwise: T) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """A decorator for what uses the fix; it returns ``otherwise`` while the fix is off."""

        def decorate(function: Callable[P, T]) -> Callable[P, T]:
            @wraps(function)
            def call(*arguments: P.args, **options: P.kwargs) -> T:
                if self.off:
                    return otherwise
                try:
                    return function(*arguments, **options)
                except Exception as error:
                    self._switch_off(error)
                    return otherwise

            return call

        return decorate

    def _switch_off(self, error: Exception) -> None:
        if not self.off:
            self.off = True
            said = f"Fix off with Streamlit {st.__version__}: {self.does} ({type(error).__name__}: {error}). {self.without}"
            _LOG.log(logging.WARNING, said)

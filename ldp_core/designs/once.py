"""Answers of a frozen object that are worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

Self = TypeVar("Self")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def once(method: Callable[Concatenate[Self, Arguments], Answer]) -> Callable[Concatenate[Self, Arguments], Answer]:
    """A method of a frozen object that is worked out once for each of its arguments, while the object lives, as
    `functools.cached_property` is without any.

    Arguments with a ``digest`` are told apart by that, and not kept.
    """
    name = f"once {method.__name__}"

    @wraps(method)
    def answered(self: Self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        answers: dict[Any, Answer] = vars(self).setdefault(name, {})
        key = tuple([getattr(argument, "digest", argument) for argument in (*arguments, *named.values())])
        if key not in answers:
            answers[key] = method(self, *arguments, **named)
        return answers[key]

    return cast(Callable[Concatenate[Self, Arguments], Answer], answered)

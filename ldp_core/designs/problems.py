"""Validation problems as sentences for people, instead of pydantic's report for programmers."""

import re
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ldp_core.designs.strict_json import shorten

SHOWN = 3
_DISCRIMINATORS = ("kind", "source")

_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "an ordinary number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object in braces",
    "model_type": "an object in braces",
    "model_attributes_type": "an object in braces",
}
# The names by which pydantic gives the bound that was passed.
_BOUNDS = {
    "ge": "at least",
    "gt": "more than",
    "le": "at most",
    "lt": "less than",
    "min_length": "at least",
    "max_length": "at most",
}


class ConfigurationError(ValueError):
    """A configuration that cannot be used; the message is one sentence to show as it is."""


def in_words(error: ValidationError, document: Any) -> str:
    """The first problems of a failed validation of `document`, in one sentence."""
    return join([_problem(item, document) for item in error.errors(include_url=False) if not _follows(item)])


def join(sentences: list[str]) -> str:
    """At most `SHOWN` problems, then "and N more"."""
    more = len(sentences) - SHOWN
    return "; ".join(sentences[:SHOWN]) + (f"; and {more} more" if more > 0 else "") + "."


def _follows(item: ErrorDetails) -> bool:
    """True if a list is only called too short because of items in it that have problems of their own."""
    return item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"]


def _problem(item: ErrorDetails, document: Any) -> str:
    kind, context, value = item["type"], item.get("ctx", {}), item["input"]
    path = _path(item["loc"], document, keep_last=kind in ("missing", "extra_forbidden"))
    if kind == "missing":
        return f"{path} is missing"
    if kind == "extra_forbidden":
        return f"{path} is not a known setting: remove it or correct its spelling"
    complaint = _complaint(kind, context, value, item["msg"])
    named = complaint.casefold().startswith(f"{path.casefold()} ")  # "Epsilon 0 is too small" says what it is about
    return complaint if named else f"{path}: {complaint}"


def _complaint(kind: str, context: dict[str, Any], value: Any, message: str) -> str:
    shown = shorten(value)
    if kind == "value_error":
        return " ".join(str(context["error"]).split()).rstrip(".")
    if kind in _WANTED:
        return f"{shown} is not {_WANTED[kind]}"
    if kind == "literal_error":
        return f"{shown} is not one of {_plain_list(context['expected'])}"
    if kind == "union_tag_invalid":
        name = context["discriminator"].strip("'")
        return f"{name} {shorten(context['tag'])} is not one of {_plain_list(context['expected_tags'])}"
    if kind == "union_tag_not_found":
        return f"{context['discriminator'].strip(chr(39))} is missing"
    bound = " and ".join(f"{words} {context[key]:,.12g}" for key, words in _BOUNDS.items() if key in context)
    if kind in ("greater_than", "greater_than_equal"):
        return f"{shown} is too small and must be {bound}"
    if kind in ("less_than", "less_than_equal"):
        return f"{shown} is too large and must be {bound}"
    if kind in ("too_short", "too_long"):
        return f"the list has {len(value):,} items and must have {bound}"
    if kind in ("string_too_short", "string_too_long"):
        return f"{shown} has {len(value):,} characters and must have {bound}"
    return f"{shown} cannot be used ({message[:1].lower()}{message[1:]})"


def _path(location: tuple[Any, ...], document: Any, keep_last: bool) -> str:
    """Keys joined by " > "; pydantic's tags of unions, which are no keys of the document, are left out."""
    parts: list[str] = []
    at_tag = False  # whether the tag of the union that `document` belongs to may come next
    for position, step in enumerate(location):
        last_key = keep_last and position == len(location) - 1
        if at_tag and not last_key and step in _tags(document):  # which may also be a key, as in "predicates"
            at_tag = False
            continue
        child = _child(document, step)
        if isinstance(step, int):
            parts.append(f"item {step + 1}")
        elif child is not None or last_key:
            parts.append(step if re.fullmatch(r"\w{1,60}", step) else shorten(step))
        else:
            continue
        document = None if child is None else child[0]
        at_tag = True
    return " > ".join(parts) or "the configuration"


def _tags(document: Any) -> list[Any]:
    return [child[0] for key in _DISCRIMINATORS if (child := _child(document, key)) is not None]


def _child(document: Any, step: Any) -> tuple[Any] | None:
    """The value under a key or index, in a tuple of one element; None if there is no such key."""
    if isinstance(document, dict):
        return (document[step],) if step in document else None
    if isinstance(document, list | tuple) and isinstance(step, int):
        return (document[step],) if step < len(document) else None
    if isinstance(step, str) and hasattr(type(document), "model_fields") and step in type(document).model_fields:
        return (getattr(document, step),)
    return None


def _plain_list(expected: str) -> str:
    """pydantic's "'a', 'b' or 'c'" as "a, b, c"."""
    return expected.replace("'", "").replace(" or ", ", ")

"""What pydantic finds wrong, as sentences for people: the place, and what should be there."""

import json
import re
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ldp_core.wording import shortened

SHOWN = 3


class ConfigurationError(ValueError):
    """A configuration that cannot be used; the message is one sentence to show as it is."""


def in_words(error: ValidationError, document: Any = None) -> str:
    """The first problems of a failed validation of ``document`` (None: of one that is not at hand), in one sentence."""
    return join([_problem(item, document) for item in error.errors(include_url=False) if not _follows(item)])


def sentences(error: ValidationError, fields: Any) -> str:
    """All problems of what was made of ``fields``: sentences of its own as they are."""
    said = [
        str(item["ctx"]["error"]) if item["type"] == "value_error" else f"{_problem(item, fields)}."
        for item in error.errors(include_url=False)
    ]
    return " ".join(said)


def join(problems: list[str]) -> str:
    """At most `SHOWN` problems, then "and N more"; what values may be is listed once."""
    more, shown = len(problems) - SHOWN, list[str]()
    for problem in problems[:SHOWN]:
        start, among, values = problem.partition(" should be one of ")
        shown.append(
            f"{start}{among}these" if among and any(one.endswith(among + values) for one in shown) else problem
        )
    return re.sub(r"\?\.$", "?", "; ".join(shown) + (f"; and {more} more" if more > 0 else "") + ".")


def shorten(value: Any) -> str:
    """`value` as it may be quoted in a sentence: on one line and at most about 40 characters."""
    if isinstance(value, dict | list | tuple):
        return "a list" if not isinstance(value, dict) else "an object"
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return shortened(text, 42)


def _follows(item: ErrorDetails) -> bool:
    """True if a list is only called too short because of items in it that have problems of their own."""
    return item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"]


def _problem(item: ErrorDetails, document: Any) -> str:
    kind, context = item["type"], item.get("ctx", {})
    said = re.sub(r"\d{13,}", lambda digits: f"{float(digits[0]):g}", item["msg"].replace("'", ""))
    path, shown = _path(item["loc"], document, kind == "missing"), shorten(item["input"])
    if kind == "missing":
        return f"{path} is missing"
    if kind == "extra_forbidden":
        return f"{path} is not a known setting: remove it or correct its spelling"
    if kind == "value_error":
        sentence = " ".join(str(context["error"]).split()).rstrip(".")
        return (
            sentence if sentence.casefold().startswith(f"{path.casefold()} ") else f"{path}: {sentence}"
        )  # "Epsilon 0 is too small"
    if kind.startswith("union_tag"):
        tag, expected = context.get("tag"), context.get("expected_tags", "").replace("'", "")
        name = context["discriminator"].strip("'")
        return f"{path}: {name} {f'{shorten(tag)} should be one of {expected}' if tag else 'is missing'}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"{path}: {shown} should be an object in braces"
    return f"{path}: {shown} {said.partition(' ')[2].removesuffix(' after validation')}"  # "Input should be ..."


def _path(location: tuple[Any, ...], document: Any, missing: bool) -> str:
    """Keys joined by " > "; pydantic's tags of unions, which are no keys of the document, are left out."""
    parts, known, tagged = list[str](), document is not None, False
    for place, step in enumerate(location):
        child = _child(document, step)
        if not tagged and (step,) in (_child(document, "kind"), _child(document, "source")):  # may be a key as well
            tagged = True
            continue
        if isinstance(step, int):
            parts.append(f"item {step + 1}")
        elif child is not None or not known or (missing and place == len(location) - 1):
            parts.append(step if re.fullmatch(r"\w{1,60}", step) else shorten(step))
        else:
            continue
        document, tagged = None if child is None else child[0], False
    return " > ".join(parts) or "the configuration"


def _child(document: Any, step: Any) -> tuple[Any] | None:
    """The value under a key or index, in a tuple of one element; None if there is no such key."""
    if isinstance(document, dict):
        return (document[step],) if step in document else None
    if isinstance(document, list | tuple) and isinstance(step, int):
        return (document[step],) if step < len(document) else None
    if isinstance(step, str) and hasattr(type(document), "model_fields") and step in type(document).model_fields:
        return (getattr(document, step),)
    return None

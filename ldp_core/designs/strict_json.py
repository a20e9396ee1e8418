"""JSON as this package reads and writes it: bounded, without NaN or duplicate keys, one sentence per failure."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ldp_core.limits import MOST_JSON_BYTES
from ldp_core.problems import shorten as shorten

_MAX_DIGITS = 20  # no integer of ours is longer than 2^63, and longer ones only cost time


def read(content: str | bytes, name: str) -> Any:
    """Parse untrusted JSON: text, or its bytes in UTF-8 (a byte order mark is accepted), at most `MOST_JSON_BYTES`.

    Raises ValueError: one sentence saying what is wrong and where; it calls the content `name`.
    """
    if len(content) > MOST_JSON_BYTES:
        raise ValueError(f"{name} is too large: at most {MOST_JSON_BYTES // 1_000_000} MB are read.")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text: choose the file as it was exported.") from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_short_integer,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{name} is not valid JSON ({where}): correct it there, or export the file again.") from None
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply to be one of ours: export the file again.") from None
    except UnicodeEncodeError:
        raise ValueError(f"{name} contains half of a character (a lone surrogate): retype that text.") from None
    except ValueError as error:  # from the hooks below
        raise ValueError(f"{name} {error}") from None
    return value


def write(value: Any, *, pretty: bool = False) -> bytes:
    """UTF-8 bytes of a JSON value: canonical (sorted keys, no whitespace, floats by repr), or pretty for people.

    Raises ValueError if it holds NaN, an infinity, or text that is not valid Unicode.
    """
    layout = {"indent": 2} if pretty else {"sort_keys": True, "separators": (",", ":")}
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **layout).encode()
    except UnicodeEncodeError:
        raise ValueError("A text contains half of a character (a lone surrogate): retype that text.") from None


def plain(value: Any, where: str) -> Any:
    """``value`` as JSON has it, from frames (their rows), dataclasses, arrays, objects and lists; NaN and infinities become null.

    ValueError, which says ``where``, for anything else, and for keys that are no texts.
    """
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"{where} has the key {strange[0]!r}: keys of an outcome are texts.")
        return {key: plain(item, f"{where} > {key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, where) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise ValueError(f"{where} is a {type(value).__name__}: an outcome holds numbers, texts, lists and dicts.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:  # parsers disagree on which one wins, so a reviewer could be shown the other
            raise ValueError(f"has the key {shorten(key)} twice in one place: keep one of them.")
        result[key] = value
    return result


def _refuse_constant(text: str) -> None:
    raise ValueError(f"contains {text}, which is not JSON: write an ordinary number, or null.")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"contains {shorten(text)}, which is too large a number: write a smaller one.")
    return value


def _short_integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"contains {shorten(text)}, which is too large a number: write a smaller one.")
    return int(text)

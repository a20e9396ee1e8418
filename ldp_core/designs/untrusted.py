"""Shared rules for reading the files of a mechanism: strict types, and one sentence for any
error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict, ValidationError


class Part(BaseModel):
    """A part of such a file: nothing more in it than is named, and nothing converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


@contextmanager
def usable(name: str) -> Iterator[None]:
    """Whatever is wrong with the content, called ``name``, becomes a ValueError of one sentence."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = " > ".join(map(str, first["loc"]))
        raise ValueError(f"{name} cannot be used: {where}: {first['msg']}. Export the design again.") from None
    except ValueError as error:
        raise ValueError(f"{name} cannot be used: {str(error).rstrip('.')}. Export the design again.") from None

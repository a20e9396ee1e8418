"""Shared rules for reading the files of a mechanism: strict types, and one sentence for any
error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict, ValidationError

from ldp_core.problems import in_words


class Part(BaseModel):
    """A part of such a file: nothing more in it than is named, and nothing converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


@contextmanager
def usable(name: str) -> Iterator[None]:
    """Whatever is wrong with the content, called ``name``, becomes a ValueError of one sentence."""
    try:
        yield
    except ValueError as error:
        said = in_words(error) if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"{name} cannot be used: {said.rstrip('.')}. Export the design again.") from None

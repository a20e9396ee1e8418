"""Refusals: whatever cannot be done is refused in a sentence."""

import pytest
from pydantic import ValidationError


def refused(words, call, *arguments, kind=ValueError, **named):
    """The call is refused in one line, with an error of a kind that matches ``words``, a regular expression: what it says."""
    with pytest.raises(kind, match=words) as caught:
        call(*arguments, **named)
    said = str(caught.value)
    assert "\n" not in said or isinstance(caught.value, ValidationError)  # which files and pages put into one sentence
    return said

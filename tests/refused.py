"""Refusals: whatever cannot be done is refused in a sentence."""

import pytest


def refused(words, call, *arguments, **named):
    """The call is refused, and the sentence matches ``words``, a regular expression."""
    with pytest.raises(ValueError, match=words):
        call(*arguments, **named)

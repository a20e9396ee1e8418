"""Refusals: whatever cannot be done is refused in a sentence."""

import pytest


def refused(words, call, *arguments, kind=ValueError, **named):
    """The call is refused, with an error of a kind whose sentence matches ``words``, a regular expression: what it says."""
    with pytest.raises(kind, match=words) as caught:
        call(*arguments, **named)
    return str(caught.value)

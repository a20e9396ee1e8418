"""Formulas are typeset: what mathematics there is stands between dollar signs, long formulas on lines of their own."""

import re

import pytest

from pages.ui import formulas

TEXTS = {name: text for name, text in vars(formulas).items() if name.isupper() and isinstance(text, str)}


@pytest.mark.parametrize("name", TEXTS)
def test_formulas_are_typeset(name):
    text = TEXTS[name]
    alone = re.findall(r"(?m)^\$\$\n(.+)\n\$\$$", text)
    assert text.count("$$") == 2 * len(alone)  # within a line they would be small, and not scroll on a phone
    inline = re.findall(r"\$([^$]+)\$", re.sub(r"(?ms)^\$\$.*?^\$\$$", "", text))
    assert inline
    for formula in [*alone, *inline]:
        assert formula.count("{") == formula.count("}")
        assert formula.isascii()
    words = re.sub(r"(?s)\$\$.*?\$\$|\$.*?\$", "", text)
    assert "$" not in words
    assert not re.search(r"[\\{}^_²εσμαΣ≤≥⁻]", words)

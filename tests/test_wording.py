"""Numbers as people read them, and names as they meant them."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (18251, "18,300"),
        (999.6, "1,000"),
        (9.996, "10"),
        (0.00012345, "0.000123"),
        (1.234e-9, "1.23\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁹"),
        (-1234567, "-1,230,000"),
        (math.inf, "unlimited"),
        (math.nan, "unknown"),
    ],
)
def test_significant_digits(value, text):
    assert wording.significant(value) == text


def number(text):
    """The value of a number as people write it."""
    digits, _, power = text.replace(",", "").replace("\N{NO-BREAK SPACE}", "").partition("×10")
    return float(f"{digits}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")


@given(st.floats(1e-30, 1e15), st.integers(1, 12))
def test_numbers_rounded_up_are_never_below_and_close(value, digits):
    text = wording.rounded_up(value, digits)
    assert "e" not in text
    assert value * (1 - 1e-15) <= number(text) <= value * (1 + 10.0 ** (1 - digits)) * (1 + 1e-15)
    assert value < wording.LEAST_WRITTEN_OUT or float(text) == number(text)


@given(st.floats(1e-30, 1e15), st.integers(1, 6))
def test_significant_digits_read_back_within_half_a_unit_of_the_last(value, digits):
    read = number(wording.significant(value, digits))
    assert abs(read - value) <= 0.501 * 10.0 ** (1 - digits) * value * 10


@pytest.mark.parametrize(
    ("value", "needed", "floor"),
    [
        (18236.2, "18,240 people", "18,230 people"),
        (18200.5, "18,210 people", "18,200 people"),
        (9999.2, "10,000 people", "10,000 people"),
        (0.3, "1 person", "1 person"),
        (0, "0 people", "0 people"),
        (math.inf, "unlimited people", "unlimited people"),
    ],
)
def test_users(value, needed, floor):
    assert wording.users(value) == needed
    assert wording.at_least(value) == floor


@given(st.floats(0.001, 1e12))
def test_users_are_rounded_up_and_bounds_down(value):
    def number(text):
        return int(text.split()[0].replace(",", ""))

    up, down = number(wording.users(value)), number(wording.at_least(value))
    assert up >= value * (1 - 1e-9)
    assert up <= max(1, value * 1.00101 + 1)
    assert down <= math.ceil(value)
    assert down >= value * 0.998
    assert len(str(up).rstrip("0")) <= 4 or value < 10_000


@pytest.mark.parametrize(
    ("value", "times"),
    [(0.04261, "1.043"), (0.0, "1"), (1e-12, "1.001"), (-1e-12, "1"), (1.0, "2"), (9.04, "10.04")],
)
def test_gaps_are_multiples_rounded_up(value, times):
    assert wording.gap(value) == f"{times}\N{NO-BREAK SPACE}times"
    assert wording.gap(math.inf) == "unknown"


@given(st.floats(1e-4, 1e4))
def test_what_a_gap_says_is_never_below_it(value):
    said = float(wording.gap(value).replace(",", "").split()[0]) - 1
    assert value * (1 - 2e-9) - 1e-9 <= said <= (value + 1) * 1.0101 - 1 + 1e-9


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("har", ["oue", "olh", "haar"], "did you mean 'haar'?"),
        ("pre", ["cumulative", "Prefix"], "did you mean 'Prefix'?"),
        ("", ["oue", "olh"], "choose one of oue, olh."),
        ("laplace", [], "there are none."),
    ],
)
def test_what_was_meant(name, known, text):
    assert wording.meant(name, known) == text


def test_numbers_agree_with_their_nouns_and_lists_end_in_and():
    assert [wording.plural(k, "query", "queries") for k in (0, 1, 1200)] == ["0 queries", "1 query", "1,200 queries"]
    assert wording.plural(2, "column") == "2 columns"
    assert [wording.listed("abcde"[:k]) for k in (1, 2, 3, 5)] == ["a", "a and b", "a, b and c", "a, b and 3 more"]


HIDDEN = ["\0", "\x1b", "\x85", "\xad", "\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
    "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\u206a", "\ufeff", "\ufffb", "\ud800", "\U000e0041", "\u3164"]  # fmt: skip


def test_what_cannot_be_seen_is_shown_as_text():
    for sign in HIDDEN:
        assert wording.visible(f"age{sign}, epsilon 12") == f"age{ascii(sign)[1:-1]}, epsilon 12"


def test_every_sign_of_direction_is_known():
    """Against Unicode: nothing that is left turns the direction of writing, or is a control."""
    for code in range(0x110000):
        sign = chr(code)
        turns = unicodedata.bidirectional(sign) in ("RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI", "BN")
        if (turns or unicodedata.category(sign) == "Cc") and sign not in "\t\n\r\u200c\u200d":
            assert wording.visible(sign) != sign, ascii(sign)
        if unicodedata.bidirectional(sign) in ("R", "AL") and unicodedata.category(sign)[0] == "L":
            assert wording.visible(f"a {sign} 12") == f"a \u2068{sign}\u2069 12", ascii(sign)


def test_names_from_right_to_left_are_isolated_and_others_left_as_they_are():
    assert wording.visible("\u05d2\u05d9\u05dc 12") == "\u2068\u05d2\u05d9\u05dc\u2069 12"
    assert (
        wording.visible("\u05e9\u05dd \u05e4\u05e8\u05d8\u05d9: 21")
        == "\u2068\u05e9\u05dd \u05e4\u05e8\u05d8\u05d9\u2069: 21"
    )
    for text in ("Größe 日本", "e\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "a\tb\nc", "می\u200cخواهم"[:0]):
        assert wording.visible(text) == text

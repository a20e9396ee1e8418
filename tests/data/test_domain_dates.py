"""Dates: every way of writing one, against the calendar of the standard library."""

from datetime import date, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data.domain import DateAttribute
from ldp_core.data.domain.dates import (
    day_comes_first,
    first_day,
    label_of_period,
    period_of,
    read_date,
)
from tests.refused import refused

UNITS = ["day", "week", "month", "quarter", "year"]
days = st.dates(date(1, 1, 1), date(9998, 12, 31))


def label(day, unit):
    year, week, _ = day.isocalendar()
    return {
        "day": day.isoformat(),
        "week": f"{year:04}-W{week:02}",
        "month": day.isoformat()[:7],
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[unit]


@given(st.dates(date(1, 1, 1), date(9998, 12, 20)), st.sampled_from(UNITS))
def test_periods_are_those_of_the_calendar(day, unit):
    period = period_of(day, unit)
    assert label_of_period(period, unit) == label(day, unit)
    assert period_of(first_day(label(day, unit), unit), unit) == period
    assert first_day(label(day, unit), unit) <= day
    tomorrow = period_of(day + timedelta(1), unit)
    assert tomorrow - period == (label(day, unit) != label(day + timedelta(1), unit))


@given(days)
def test_every_way_of_writing_a_date(day):
    y, m, d = f"{day.year:04}", day.month, day.day
    name = day.strftime("%B")
    written = [
        f"{y}-{m:02}-{d:02}", f"{y}/{m}/{d}", f"{y}.{m}.{d}", f"{y}{m:02}{d:02}", f"{d}.{m}.{y}", f"{d:02}.{m:02}.{y}",
        f"{d} {name} {y}", f"{name} {d}, {y}", f"{d}-{name[:3]}-{y}", f"{name[:3]}. {d}, {y}",
        f"{y}-{m:02}-{d:02} 23:59:59", f"{y}-{m:02}-{d:02}T01:00:00.123+02:00", f"{d}.{m}.{y} 8:30",
    ]  # fmt: skip
    assert [read_date(text) for text in written] == [day] * len(written)
    for sign in "/-":
        assert read_date(f"{d}{sign}{m}{sign}{y}", day_first=True) == day
        assert read_date(f"{m}{sign}{d}{sign}{y}", day_first=False) == day
        assert read_date(f"{d}{sign}{m}{sign}{y}") == (day if d > 12 or d == m else None)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30",
        "31.4.2026",
        "1/2/26",
        "2026",
        "12",
        "soon",
        "2026-1",
        "1 Foo 2026",
        "32 May 2026",
        "2026-01/02",
        "0000-01-01",
        "20261301",
        "2026-01-31x",
        "١/١/٢٠٢٦",
    ],
)
def test_what_is_no_date(text):
    assert read_date(text) is None


def test_the_order_of_day_and_month():
    assert day_comes_first(["31/1/2026", "1/2/2026"]) is True
    assert day_comes_first(["1/31/2026", "1/2/2026"]) is False
    assert day_comes_first(["2026-01-31", "1.2.2026", "3/3/2026", "x"]) is None
    refused(
        'two orders: in "31/1/2026" the day comes first and in "1/31/2026" the month',
        day_comes_first,
        ["31/1/2026", "1/31/2026"],
    )
    refused('"1/2/2026" could be two dates: say whether', day_comes_first, ["1/2/2026", "3/4/2026"])


def test_encoding_dates_of_every_kind():
    attribute = DateAttribute(
        name="day", unit="month", first="2026-01", last="2026-03", missing="category", outside="other"
    )
    values = [
        "2026-01-31",
        "1.2.2026",
        pd.Timestamp("2026-03-31 23:59"),
        date(2026, 2, 1),
        "2026-02",
        "2025-12-31",
        "1 Apr 2026",
        None,
        "?",
    ]
    encoding = attribute.encode(pd.Series(values, dtype=object))
    assert encoding.codes.tolist() == [0, 1, 2, 1, 1, 3, 3, 4, 4]
    assert (encoding.missing.sum(), encoding.outside.sum(), encoding.unread.sum()) == (2, 2, 0)
    clamping = attribute.model_copy(update={"outside": "clamp"})
    assert clamping.encode(["1990-01-01", "2990-01-01"]).codes.tolist() == [0, 2]
    stamps = pd.Series(pd.to_datetime(["2026-01-02", None, "2026-03-04"]))
    assert attribute.encode(stamps).codes.tolist() == [0, 4, 2]


def test_refusals_of_dates():
    attribute = DateAttribute(name="day", unit="year", first="2020", last="2026")
    refused(
        r'2 of 3 values of day are not dates.*for example "soon", "1/2/2026"',
        attribute.encode,
        ["soon", "1/2/2026", "2024"],
    )
    refused(r'1 of 2 values of day are outside its domain, such as "2027": send', attribute.encode, ["2027", "2026"])
    lenient = attribute.model_copy(update={"non_dates": "missing"})
    encoding = lenient.encode(["soon", "1/2/2024", "2024"])
    assert (encoding.codes.tolist(), encoding.unread.sum()) == ([-1, -1, 4], 2)
    told = lenient.model_copy(update={"day_first": True})
    assert told.encode(["1/2/2024"]).codes.tolist() == [4]

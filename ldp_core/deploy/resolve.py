"""From what was typed on the Data page to a domain: the step between a `DataChoice` and the rest of the design."""

from __future__ import annotations

import pandas as pd

from ldp_core import tables
from ldp_core.deploy.configuration import DataChoice, DeclaredData, Treatment
from ldp_core.domain import Domain


def resolve_domain(choice: DataChoice, table: pd.DataFrame | None) -> Domain:
    """The domain that ``choice`` describes; ``table`` holds the rows of a sample or an upload, None for declared data.

    Raises ValueError: one sentence saying what in the choice or the column does not work, and how to mend it.
    """
    if isinstance(choice, DeclaredData):
        return Domain(attributes=(_declared(choice),))
    if table is None:
        raise ValueError("The data behind this design is not loaded: upload the file again, or declare the domain.")
    if choice.column not in table.columns:
        raise ValueError(f"The table has no column {choice.column!r}: choose one of its columns.")
    return Domain(attributes=(_from_column(table[choice.column], choice.treatment),))


def _declared(choice: DeclaredData):
    if choice.kind == "categorical":
        return tables.declare_categories(choice.name, choice.categories_text)
    low = number(choice.low_text, "the lowest value")
    high = number(choice.high_text, "the highest value")
    return tables.declare_range(choice.name, low, high, choice.bins, choice.integer)


def _from_column(series: pd.Series, treatment: Treatment):
    if treatment.kind == "categorical":
        outside = "refuse" if treatment.outside == "clamp" else treatment.outside
        merged = "other" if treatment.rare_below else outside
        return tables.categorical_attribute(
            series, missing=treatment.missing, rare_below=treatment.rare_below, outside=merged
        )
    edges = None
    if treatment.method == "own_edges":
        parts = [part for part in treatment.edges_text.replace(";", ",").split(",") if part.strip()]
        edges = [number(part, f"edge {i}") for i, part in enumerate(parts, start=1)]
    return tables.numeric_attribute(
        series,
        method=treatment.method,
        bins=treatment.bins,
        edges=edges,
        missing=treatment.missing,
        outside=treatment.outside,
        non_numbers=treatment.non_numbers,
    )


def number(text: str, what: str) -> float:
    """A finite number typed by a person. ValueError naming ``what`` otherwise."""
    try:
        value = float(text.strip())
    except ValueError:
        shown = f"{text.strip()[:30]!r} is not a number" if text.strip() else "it is empty"
        raise ValueError(f"Please give {what} as a number such as 18 or 2.5; {shown}.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"Please give {what} as a finite number; {text.strip()} is not one.")
    return value

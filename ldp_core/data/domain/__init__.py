"""Domains: from records to type indices and back.

An attribute turns one column into a finite list of types, a `Domain` crosses several attributes into n types in
row-major order. All are frozen pydantic models: the same object encodes the data and travels in an exported
configuration, where it says for every part whether it was declared or read off the data.
"""

from ldp_core.data.domain.attributes import (
    MAX_TYPES,
    CategoricalAttribute,
    EncodedRows,
    Encoding,
    Missing,
    Origin,
    build,
    check_size,
)
from ldp_core.data.domain.dates import DateAttribute, Unit
from ldp_core.data.domain.numbers import (
    MAX_BINS,
    Edge,
    NumericAttribute,
    RangeAttribute,
    attained_bins,
    bin_labels,
    regular_edges,
    whole_ends,
)
from ldp_core.data.domain.product import Attribute, Domain

__all__ = [
    "MAX_BINS",
    "MAX_TYPES",
    "Attribute",
    "CategoricalAttribute",
    "DateAttribute",
    "Domain",
    "Edge",
    "EncodedRows",
    "Encoding",
    "Missing",
    "NumericAttribute",
    "Origin",
    "RangeAttribute",
    "Unit",
    "attained_bins",
    "bin_labels",
    "build",
    "check_size",
    "regular_edges",
    "whole_ends",
]

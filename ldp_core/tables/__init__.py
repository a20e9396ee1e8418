"""Tables to domains and counts: the only place that sees raw rows. Nothing is written to disk or kept.

loaded = load(content, "survey.csv")
domain = build_domain([NumericRecipe(column="age", bins=16), CategoricalRecipe(column="sex")], loaded.table)
counts = tally(loaded.table, domain).counts
joint_facts(domain, tally(loaded.table, domain)).sparsity
"""

from ldp_core.population import declare_categories, declare_range, expected_counts
from ldp_core.reading import (
    Loaded,
    LocalTable,
    ReadOptions,
    UnreadableTable,
    database_tables,
    load,
    query,
    read,
    sheets,
)
from ldp_core.tables.categories import categorical_attribute
from ldp_core.tables.counting import LARGEST_TALLY, SparseTally, Tally, tally, tally_sparse
from ldp_core.tables.dates import date_attribute
from ldp_core.tables.joint import JointFacts, joint_facts, size_warnings, suggestions
from ldp_core.tables.numbers import numeric_attribute, range_attribute
from ldp_core.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    DateRecipe,
    Merge,
    NumericRecipe,
    build_attribute,
    build_domain,
    suggest_recipe,
)
from ldp_core.tables.summary import ColumnSummary, summarise

__all__ = [
    "LARGEST_TALLY",
    "AttributeRecipe",
    "CategoricalRecipe",
    "ColumnSummary",
    "DateRecipe",
    "JointFacts",
    "Loaded",
    "LocalTable",
    "Merge",
    "NumericRecipe",
    "ReadOptions",
    "SparseTally",
    "Tally",
    "UnreadableTable",
    "build_attribute",
    "build_domain",
    "categorical_attribute",
    "database_tables",
    "date_attribute",
    "declare_categories",
    "declare_range",
    "expected_counts",
    "joint_facts",
    "load",
    "numeric_attribute",
    "query",
    "range_attribute",
    "read",
    "sheets",
    "size_warnings",
    "suggest_recipe",
    "suggestions",
    "summarise",
    "tally",
    "tally_sparse",
]

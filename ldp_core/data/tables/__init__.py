"""Tables to domains and counts: the only place that sees raw rows. Nothing is written to disk or kept.

loaded = load(content, "survey.csv")
domain = build_domain([NumericRecipe(column="age", bins=16), CategoricalRecipe(column="sex")], loaded.table)
counts = tally(loaded.table, domain).counts
joint_facts(domain, tally(loaded.table, domain)).sparsity
"""

from ldp_core.data.population import declare_categories, declare_range, expected_counts, listed
from ldp_core.data.reading import (
    ENCODINGS,
    PARQUET_ENDINGS,
    TEXT_ENDINGS,
    Loaded,
    LocalTable,
    ReadOptions,
    TooManyRows,
    UnreadableTable,
    database_tables,
    limits,
    load,
    query,
    read,
    watched,
)
from ldp_core.data.tables.categories import categorical_attribute
from ldp_core.data.tables.counting import LARGEST_TALLY, Tally, checked_weights, tally
from ldp_core.data.tables.dates import date_attribute
from ldp_core.data.tables.editing import (
    apply_edits,
    category_table,
    declared_recipe,
    edge_table,
    recipe_of_categories,
    recipe_of_edges,
)
from ldp_core.data.tables.joint import JointFacts, joint_facts, size_warnings, suggestions
from ldp_core.data.tables.numbers import numeric_attribute, range_attribute
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    DateRecipe,
    Merge,
    NumericRecipe,
    build_attribute,
    build_domain,
    suggest_recipe,
)
from ldp_core.data.tables.summary import ColumnSummary, counts_column, summarise

__all__ = [
    "ENCODINGS",
    "LARGEST_TALLY",
    "PARQUET_ENDINGS",
    "TEXT_ENDINGS",
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
    "Tally",
    "TooManyRows",
    "UnreadableTable",
    "apply_edits",
    "build_attribute",
    "build_domain",
    "categorical_attribute",
    "category_table",
    "checked_weights",
    "counts_column",
    "database_tables",
    "date_attribute",
    "declare_categories",
    "declare_range",
    "declared_recipe",
    "edge_table",
    "expected_counts",
    "joint_facts",
    "limits",
    "listed",
    "load",
    "numeric_attribute",
    "query",
    "range_attribute",
    "read",
    "recipe_of_categories",
    "recipe_of_edges",
    "size_warnings",
    "suggest_recipe",
    "suggestions",
    "summarise",
    "tally",
    "watched",
]

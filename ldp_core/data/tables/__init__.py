"""Tables to domains and counts: the only place that sees raw rows. The rows are neither written to
disk nor kept.

loaded = load(content, "survey.csv")
domain = build_domain([NumericRecipe(column="age", bins=16), CategoricalRecipe(column="sex")], loaded.table)
counts = tally(loaded.table, domain).counts
size_warnings(domain, people_of(counts, domain.shape))
"""

from ldp_core.data.population import expected_counts as expected_counts
from ldp_core.data.population import expected_people as expected_people
from ldp_core.data.population import listed as listed
from ldp_core.data.reading import ENCODINGS as ENCODINGS
from ldp_core.data.reading import EXCEL_ENDINGS as EXCEL_ENDINGS
from ldp_core.data.reading import PARQUET_ENDINGS as PARQUET_ENDINGS
from ldp_core.data.reading import TEXT_ENDINGS as TEXT_ENDINGS
from ldp_core.data.reading import Loaded as Loaded
from ldp_core.data.reading import LocalTable as LocalTable
from ldp_core.data.reading import ReadOptions as ReadOptions
from ldp_core.data.reading import Together as Together
from ldp_core.data.reading import UnreadableTable as UnreadableTable
from ldp_core.data.reading import can_tick as can_tick
from ldp_core.data.reading import database_tables as database_tables
from ldp_core.data.reading import is_database as is_database
from ldp_core.data.reading import limits_in_words as limits_in_words
from ldp_core.data.reading import load as load
from ldp_core.data.reading import query as query
from ldp_core.data.reading import watched as watched
from ldp_core.data.tables.attributes import build_attribute as build_attribute
from ldp_core.data.tables.attributes import build_domain as build_domain
from ldp_core.data.tables.attributes import suggest_recipe as suggest_recipe
from ldp_core.data.tables.cells import KINDS as KINDS
from ldp_core.data.tables.cells import MISSING as MISSING
from ldp_core.data.tables.cells import PRIVACY as PRIVACY
from ldp_core.data.tables.cells import bins_as_text as bins_as_text
from ldp_core.data.tables.cells import column_table as column_table
from ldp_core.data.tables.cells import with_bins as with_bins
from ldp_core.data.tables.cells import with_cells as with_cells
from ldp_core.data.tables.combined import together_recipe as together_recipe
from ldp_core.data.tables.counting import Tally as Tally
from ldp_core.data.tables.counting import checked_weights as checked_weights
from ldp_core.data.tables.counting import tally as tally
from ldp_core.data.tables.dates import other_unit as other_unit
from ldp_core.data.tables.doubts import Doubt as Doubt
from ldp_core.data.tables.doubts import doubts_of as doubts_of
from ldp_core.data.tables.editing import apply_edits as apply_edits
from ldp_core.data.tables.editing import category_table as category_table
from ldp_core.data.tables.editing import declared_recipe as declared_recipe
from ldp_core.data.tables.editing import merge_spellings as merge_spellings
from ldp_core.data.tables.editing import recipe_of_categories as recipe_of_categories
from ldp_core.data.tables.editing import spellings as spellings
from ldp_core.data.tables.joint import size_warnings as size_warnings
from ldp_core.data.tables.joint import suggestions as suggestions
from ldp_core.data.tables.joint import table_warnings as table_warnings
from ldp_core.data.tables.recipes import AttributeRecipe as AttributeRecipe
from ldp_core.data.tables.recipes import CategoricalRecipe as CategoricalRecipe
from ldp_core.data.tables.recipes import ChoiceRecipe as ChoiceRecipe
from ldp_core.data.tables.recipes import CourseRecipe as CourseRecipe
from ldp_core.data.tables.recipes import DateRecipe as DateRecipe
from ldp_core.data.tables.recipes import Merge as Merge
from ldp_core.data.tables.recipes import NumericRecipe as NumericRecipe
from ldp_core.data.tables.recipes import RankingRecipe as RankingRecipe
from ldp_core.data.tables.summary import ColumnSummary as ColumnSummary
from ldp_core.data.tables.summary import called_counts as called_counts
from ldp_core.data.tables.summary import can_count as can_count
from ldp_core.data.tables.summary import counts_column as counts_column
from ldp_core.data.tables.summary import identifies as identifies
from ldp_core.data.tables.summary import records_in as records_in
from ldp_core.data.tables.summary import summarise as summarise
from ldp_core.data.tables.survey_columns import Suggestion as Suggestion
from ldp_core.data.tables.survey_columns import fitting as fitting
from ldp_core.data.tables.survey_columns import suggest_for_survey as suggest_for_survey
from ldp_core.data.tables.survey_columns import told_of as told_of

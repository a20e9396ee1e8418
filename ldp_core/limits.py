"""Every limit that a user can meet, in one place: sizes, seconds and bytes past which something is refused or waits.

A limit is named for what it limits. The comment beside it says why it is not larger. A constant
that only tunes an algorithm, and that no user meets, stands beside that algorithm. Scripts that
must work alone (`ldp_core.bounds.verify` and the clients of `ldp_core.deploy.kit`) repeat a few of
these.

This module imports nothing of the core.
"""

from __future__ import annotations

from dataclasses import dataclass

MB = 2**20
GB = 2**30

# --- Types: how many a method takes ---------------------------------------------------------------

# Work of n^3 operations that ends while a page is drawn: a fraction of a second.
AT_ONCE_TYPES = 512
# The same in the background, without being asked for: about a second for each mechanism.
UNASKED_TYPES = 1024
# The exact optimum goes through all 2^n two-valued rows.
MOST_ENUMERATED_TYPES = 10
# Vectors that are sent with noise: the distances of all pairs take n^3 slow operations.
MOST_VECTOR_TYPES = 1024
# Exact errors, eigenvalues and proofs in files take n^3 operations: seconds here.
MOST_EXACT_TYPES = 2048
# A strategy is written out and fitted: 8 rows for each type fill `MOST_STRATEGY_ENTRIES`.
MOST_FITTED_TYPES = 2048
# Values of one attribute that are listed one by one: categories and bins with edges of their own.
MOST_LISTED_TYPES = 2048
# The shares of a tree's levels are fitted by up to 40 variance profiles: 10 s for a binary tree.
MOST_FITTED_TREE_TYPES = 1024
# An n x n matrix is formed: 128 MiB of float64.
MOST_MATRIX_TYPES = 4096
# Fast transforms over all types: seconds for one, minutes for a search.
MOST_TRANSFORMED_TYPES = 2**16
# Items of a ranking: six have 720 orders, seven 5,040.
MOST_RANKED_ITEMS = 6
# Items in a list whose orbits of rows are all looked through: eight have 16,796 for each size of sets.
MOST_LISTED_TOGETHER = 7
# Reports of a device with a memory, whose losses are enumerated: 30 ms of CPU.
MOST_REMEMBERED_REPORTS = 28
# Days of a course, a year: its combinations are bounded by `MOST_LISTED_TYPES` besides.
MOST_DAYS = 366
# A table of counts, whose cells may be all types.
MOST_TABLE_CELLS = 2**20
# Each question is also designed for on its own, to say what it would cost alone: a second or two.
MOST_ALONE_TYPES = 128
# Bins of a page: each is one type of a table of counts.
MOST_BINS_ON_PAGES = 2**20
# Bins and periods of equal width, which trees and transforms handle without listing them.
MOST_BINS = 2**22
# Combinations of values: numbers grow with them and must stay within those of floating point.
MOST_COMBINATIONS = 1e280

# --- Attributes and questions ----------------------------------------------------------------------

# Attributes of a design, a survey or a set of parities; all pairs of them are 19,900 tables.
MOST_ATTRIBUTES = 200
# Attributes whose types are handled together: vectors over 2^24 types take 128 MiB.
MOST_ATTRIBUTES_TOGETHER = 24
# Categories of a column of a survey: tables of several such columns would be mostly empty.
MOST_KEPT_CATEGORIES = 50
# Groups of people that the collector knows: each may have a mechanism of its own.
MOST_STRATA = 256
# Parts of a workload.
MOST_PARTS = 100
# Columns of a survey that have a question each, with a line of its own, as it opens; of more, one question is about all.
MOST_LINES = 20
# Sets of attributes in one part of a workload.
MOST_SETS_IN_A_PART = 2_000
# Sets of attributes that a survey asks about.
MOST_SETS = 25_000
# Sets of attributes that the questions of a designed mechanism depend on.
MOST_DESIGNED_SETS = 100_000
# Subsets of these sets: a pattern over 13 attributes has weight on 2^13 of them.
MOST_DESIGNED_SUBSETS = 2**22
# Conditions in one part of a workload.
MOST_CONDITIONS = 10_000
# Characters of a condition.
MOST_CONDITION_CHARACTERS = 10_000
# Parentheses and "not" nested in a condition: the parser recurses.
MOST_CONDITION_DEPTH = 50
# Rounds of a session that asks queries one by one.
MOST_SESSION_ROUNDS = 100
# Entries of a workload matrix or an answer vector: 256 MiB of float64.
MOST_WORKLOAD_ENTRIES = 2**25
# Entries of a workload matrix that is uploaded.
MOST_UPLOADED_ENTRIES = 2**22
# Queries past which variances are computed for the requested ones alone.
MOST_VARIANCES = 2**22
# Single answers that are judged one by one.
MOST_JUDGED_QUERIES = 10_000
# Weights of questions, the largest over the smallest: strategies and proofs work with their squares, in 16 digits.
MOST_SPREAD = 1e6
# Questions that take longer, or more memory, are refused.
MOST_QUESTION_SECONDS = 600
MOST_QUESTION_BYTES = GB

# --- People ----------------------------------------------------------------------------------------

# People that a collection is planned for.
MOST_USERS = 10**9
# People in a table or a collection: sums of whole numbers below this are exact.
MOST_COUNTED_USERS = 2**53
# People past whom a theorem is taken never to allow an error.
MOST_THEOREM_USERS = 10**18
# A file with a number for each type.
MOST_PRIOR_BYTES = 2_000_000
# Values (people times attributes) drawn or held, a byte or two each.
MOST_VALUES = 4 * 10**8
# People that are drawn for a file to try things on.
MOST_DRAWN_PEOPLE = 100_000

# --- Strategies, estimates and devices -------------------------------------------------------------

# A strategy, in probabilities: 256 MiB of float64.
MOST_STRATEGY_ENTRIES = 2**25
# A strategy that somebody supplies, as part of a design.
MOST_SUPPLIED_ENTRIES = 2**20
# The same, packed: files of at most `MOST_JSON_BYTES` are read.
MOST_SUPPLIED_CHARACTERS = 3_000_000
# The name of a mechanism with its parameters.
MOST_MECHANISM_NAME = 300
# Digits of a number in such a name: longer ones are no parameters.
MOST_PARAMETER_DIGITS = 18
# A table of P(report | type) that is formed to say what reports reveal.
MOST_CHANNEL_ENTRIES = 2**22
# Outputs of a mechanism whose likelihood is worked out for uneven populations.
MOST_LIKELIHOOD_OUTPUTS = 2**12
# Multiplications for drawn populations: some ten seconds.
MOST_LIKELIHOOD_STEPS = 2e11
# Pairs of an output and a type that the posterior sampler goes through.
MOST_POSTERIOR_ENTRIES = 2**21
# Cells of all tables that are made to agree: a tenth of a second a round.
MOST_FITTED_CELLS = 2**18
# Numbers in all reports that are made at once, 2 to 4 bytes each.
MOST_REPORT_NUMBERS = 2**30
# Probabilities of a table in a device: 70 MB of text.
MOST_DEVICE_ENTRIES = 2**22
# Secret types s of utility-optimised RAPPOR, whose 2^s reports are written out.
MOST_SECRET_BITS = 12
# Values of a column that a page lists, to say which are secret.
MOST_NAMED_VALUES = 200
# Cells of all patterns in a file or a device, a digit each.
MOST_ROW_CELLS = 2**24
# Labels of bins in a device: numbers do without them.
MOST_DEVICE_LABELS = 2**12
# The largest numbers in a device, for every client: types, buckets and coefficients (JavaScript
# combines their binary digits), numbers in a report, reports sent as one, samplers within samplers.
MOST_DEVICE_TYPES = 2**31
MOST_DEVICE_NUMBERS = 2**24
MOST_DEVICE_REPORTS = 2**10
MOST_DEVICE_DEPTH = 20
# Patterns, and strategies on single tables, in a file.
MOST_PATTERNS = 200_000
MOST_TABLE_STRATEGIES = 64

# --- Files -----------------------------------------------------------------------------------------

# A table that is uploaded: it sits in memory several times while it is read.
MOST_UPLOAD_BYTES = 200 * MB
# Columns of a table.
MOST_COLUMNS = 500
# Tables of counts are small: in larger tables no line of totals or remarks is looked for.
MOST_TOTALLED_ROWS = 10_000
MOST_TOTALLED_COLUMNS = 100
# Titles above the names of columns are looked for in so many lines.
MOST_TITLE_LINES = 30
# Characters of a column's name, which sentences and pages show.
MOST_COLUMN_NAME = 300
# Characters of a category that somebody types; a text of the data may be longer.
MOST_CATEGORY_NAME = 200
# Rows of a table of categories: a browser still edits them smoothly.
MOST_EDITED_ROWS = 5000
# Bytes of a cell of a table, and of the texts in a row of a local file: four for each of the 32,767
# characters that Excel's cells hold.
MOST_CELL_BYTES = 2**17
# Bytes of all texts of a table. A text file is no longer, in any encoding; small files of other kinds hold any number.
MOST_TEXT_BYTES = 2 * MOST_UPLOAD_BYTES
# Characters of a category in the data: the page shows thousands of them, and a design holds them all.
MOST_CATEGORY_TEXT = 1000
# Characters of a cell that is shown among the first rows.
MOST_SHOWN_CHARACTERS = 200
# Parts of a workbook, bytes of one that holds no cells (formats above all), and the last row and column of Excel.
MOST_WORKBOOK_PARTS = 10_000
MOST_WORKBOOK_PART_BYTES = 10 * MB
MOST_SHEET_ROWS = 2**20
MOST_SHEET_COLUMNS = 2**14
# Distinct rows of a local file that are counted.
MOST_DISTINCT_ROWS = 5_000_000
# A matrix that is uploaded, and the arrays in it.
MOST_MATRIX_BYTES = 32_000_000
# JSON that is read: a configuration, an outcome, a proof.
MOST_JSON_BYTES = 5_000_000
# Further members of a kit, and the numbers of a proof, unpacked.
MOST_KIT_BYTES = 2**27
MOST_PROOF_BYTES = 2**26
# A design in one file, packed or unpacked: its strategy, four texts, kit and proof.
MOST_DESIGN_BYTES = 8 * MOST_STRATEGY_ENTRIES + 4 * MOST_JSON_BYTES + MOST_KIT_BYTES + MOST_PROOF_BYTES
# A collection, unpacked: twice the tables of the largest survey.
MOST_COLLECTION_BYTES = 2**29
# A cell of a file of reports, and a line of a text file: the database has the same limit.
MOST_CELL_CHARACTERS = 2**24
# A key that signs a kit.
MOST_KEY_BYTES = 10**4


@dataclass(frozen=True)
class Limits:
    """The limits of one reading, past which it ends with a sentence.

    Attributes:
        seconds: wall time. memory: bytes of address space of the process that reads, all libraries included.
        cells: of the table. unpacked: bytes the file, or the table, may unpack to.
    """

    seconds: float
    memory: int
    cells: int
    unpacked: int


READ_TEXT = Limits(seconds=60, memory=4 * GB, cells=100_000_000, unpacked=2 * GB)
READ_PARQUET = Limits(seconds=60, memory=6 * GB, cells=100_000_000, unpacked=2 * GB)
# A million cells take some ten seconds, and as objects several times the memory of their text.
READ_EXCEL = Limits(seconds=120, memory=3 * GB, cells=2_000_000, unpacked=400 * MB)
READ_QUERY = Limits(seconds=60, memory=2 * GB, cells=100_000_000, unpacked=GB)
# A file by its path, which may be looked at several times; the memory is that of counts, and of DuckDB where it counts reports.
READ_LOCAL = Limits(seconds=600, memory=GB, cells=100_000_000, unpacked=GB)
# A proof that somebody uploads is checked in a process of its own.
READ_PROOF = Limits(seconds=60, memory=4 * GB, cells=0, unpacked=2**24)

# --- What pages show and offer ---------------------------------------------------------------------

# Answers with their errors in a download: each takes an exact error.
MOST_DOWNLOADED_ANSWERS = 10_000
# Queries in a download, and queries whose errors are distinguished.
MOST_DOWNLOADED_QUERIES = 200_000
# Types in a download.
MOST_DOWNLOADED_TYPES = 2**17
# Values in a list to choose from.
MOST_OFFERED_VALUES = 2_000
# Single answers of a simulation that are kept and drawn.
MOST_SHOWN_QUERIES = 400
# Characters of a configuration that is shown as text.
MOST_SHOWN_BYTES = 200_000
# Singular values in a chart.
MOST_DRAWN_VALUES = 20_000
# Types of a picture of reports.
MOST_DRAWN_TYPES = 2**16
# Probabilities that are written out for a picture of reports.
MOST_TABLE_ENTRIES = 2**22
# Reports drawn at random where all of them are too many.
SAMPLED_REPORTS = 64
# Bars of an attribute's values.
MOST_BARS = 1000
# Bars of sets of attributes.
MOST_DRAWN_SETS = 20
# Cells of a pattern along one side.
MOST_DRAWN_SIDE = 128
# Columns of a survey along which quantiles are shown.
MOST_QUANTILE_COLUMNS = 12
# Characters of a saved design's name.
MOST_DESIGN_NAME = 60

# --- Time ------------------------------------------------------------------------------------------

# Seconds of a search for the best mechanism, where nothing else is chosen.
MOST_SEARCH_SECONDS = 300.0
# Seconds for all the fits of a plan over epsilon.
MOST_PLAN_SECONDS = 120.0
# Seconds of a sweep.
MOST_SWEEP_SECONDS = 600.0
# Seconds without any result from a pool of workers.
MOST_SILENT_SECONDS = 900.0

# --- Memory of the server ---------------------------------------------------------------------------

# Results of all sessions, with the tables that no screen shows: earlier ones, for undo, and those of closed tabs. There is room for the
# largest strategy that is fitted, with its proof.
MOST_SERVER_BYTES = 3 * 2**29
# The part of it that tables of one session may take: those of earlier steps and of its other designs.
MOST_HISTORY_BYTES = MOST_SERVER_BYTES // 3
# Steps that can be undone.
MOST_UNDO_STEPS = 50
# Values of a column from which the two groups of a comparison are chosen.
MOST_COMPARED_GROUPS = 50
# Designs in the list of a session.
MOST_DESIGNS = 12
# Jobs of all sessions that run at once: a fit and its proof come in pairs.
MOST_JOBS_AT_ONCE = 4
# Finished jobs of a session that are kept.
MOST_FINISHED_JOBS = 16
# MiB that the database may take while it counts reports; the rest goes to a private folder.
MOST_DATABASE_MIB = 900

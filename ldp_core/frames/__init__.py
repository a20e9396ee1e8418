"""Tidy frames of results, the form that charts draw and downloads hold. Columns are documented on each function."""

from ldp_core.frames.csv import as_csv as as_csv
from ldp_core.frames.figures import BOUND_TITLES as BOUND_TITLES
from ldp_core.frames.figures import catalogue as catalogue
from ldp_core.frames.figures import convergence as convergence
from ldp_core.frames.figures import gap as gap
from ldp_core.frames.figures import strongest as strongest
from ldp_core.frames.figures import users_bounds as users_bounds
from ldp_core.frames.figures import users_certified as users_certified
from ldp_core.frames.surveys import attribute_sets as attribute_sets
from ldp_core.frames.surveys import column_sets as column_sets
from ldp_core.frames.surveys import fourier_weights as fourier_weights
from ldp_core.frames.surveys import names_of as names_of
from ldp_core.frames.surveys import people_by_design as people_by_design
from ldp_core.frames.types import per_attribute as per_attribute

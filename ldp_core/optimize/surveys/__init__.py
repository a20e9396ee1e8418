"""The convex design of survey mechanisms: the choice of patterns, attributes and probabilities."""

from ldp_core.optimize.surveys.design import SurveyDesign as SurveyDesign
from ldp_core.optimize.surveys.design import design_survey as design_survey
from ldp_core.optimize.surveys.split_design import SplitDesign as SplitDesign
from ldp_core.optimize.surveys.split_design import design_split as design_split

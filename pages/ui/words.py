"""Phrases that several pages show."""

from ldp_core import wording
from ldp_core.designs import Configuration


def people(number: float) -> str:
    """A number of people in full: "1 person", "3,000 people"."""
    return f"{wording.count(number)} {'person' if number == 1 else 'people'}"


CASES = {
    "worst_case": ("worst case", "whatever people answer"),
    "average": ("average over the types", "with all types equally common"),
    "people": ("your people", "for people spread over the types like yours"),
    "histogram": ("your histogram", "for people spread like your histogram"),
}


def case_title(case: str) -> str:
    """What is optimised for, in two or three words."""
    return CASES[case][0]


def case_meaning(case: str) -> str:
    """What is optimised for, to follow a number of users."""
    return CASES[case][1]


WEIGHTED = (
    "In typical and total errors an answer counts by the square of its weight: one of weight 2 counts like four of weight 1. "
    "Single answers and their errors are shown without weights."
)


def weighting(configuration: Configuration) -> str:
    """A sentence on what weights do to errors, where the questions of the design have any."""
    recipe = configuration.workload
    return WEIGHTED if recipe is not None and any(part.weight != 1 for part in recipe.parts) else ""

"""Facts that a design reveals besides the design itself, and the design without them."""

from collections.abc import Iterable

from ldp_core.designs.configuration import Configuration, UploadedData, WorkloadRecipe
from ldp_core.designs.privacy_note import observed_parts
from ldp_core.library import USUAL

LEFT_OUT = {
    "attributes": "the values that people can have (choose their table, or declare them, on the Data page)",
    "people": "how many people there are (choose the table again on the Data page)",
    "query": "the SQL query (run it again on the Data page)",
    "matrix": "an uploaded matrix of queries (upload it again on the Workload page)",
    "conditions": "conditions and differences (add them again on the Workload page)",
    "histogram": "the histogram to optimise for (give it again on the Design page)",
    "own": "strategy matrices of somebody's own (upload them again on the Compare page)",
}
"""What `shareable` can leave out, in words, and how it is added again."""


def revealing(configuration: Configuration) -> list[str]:
    """Facts that a link to this design would reveal because they were taken from somebody's data or
    given by hand, one sentence each.

    Samples are made up, so they tell nothing about anybody.
    """
    return [*([] if _sample(configuration) else observed_parts(configuration)), *given_by_hand(configuration)]


def _kinds(configuration: Configuration) -> set[str]:
    parts = configuration.workload.parts if configuration.workload is not None else ()
    return {asked.kind for part in parts for asked in (part, part.question)}


def given_by_hand(configuration: Configuration) -> list[str]:
    """Texts typed or uploaded besides the choices of a design, which may hold anything, one
    sentence each.

    Conditions count where they can name what was taken from the data.
    """
    kinds = _kinds(configuration)
    reasons = []
    if configuration.optimizer.histogram is not None:
        reasons.append("The histogram to optimise for was given by hand.")
    if "matrix" in kinds:
        reasons.append("The uploaded matrix of queries was given by hand.")
    if configuration.own:
        reasons.append("Strategy matrices were uploaded, with names for them.")
    if "predicates" in kinds and _names_values_of_the_data(configuration):
        reasons.append("The conditions were typed by hand and may name values taken from the data.")
    if "difference" in kinds and _names_values_of_the_data(configuration):
        reasons.append("Differences of groups may name values taken from the data.")
    if isinstance(configuration.data, UploadedData) and configuration.data.query:
        reasons.append("The SQL query was typed by hand and may name people.")
    return reasons


def shareable(configuration: Configuration) -> Configuration:
    """The design without anything that `revealing` lists.

    Groups of queries that tell something are left out; where attributes were taken from the data, so is the whole domain.
    """
    changes: dict[str, object] = {"optimizer": configuration.optimizer.model_copy(update={"histogram": None})}
    private = _names_values_of_the_data(configuration)
    if configuration.workload is not None:
        left_out = {"matrix", "predicates", "difference"} if private else {"matrix"}
        parts = tuple(part for part in configuration.workload.parts if not {part.kind, part.question.kind} & left_out)
        changes["workload"] = WorkloadRecipe(parts=parts) if parts else None
    if isinstance(configuration.data, UploadedData):
        changes["data"] = configuration.data.model_copy(update={"query": None})
    if private:
        changes |= {"data": None, "domain": None}
    if not _sample(configuration) and observed_parts(configuration):
        changes["population"] = Configuration().population
    if configuration.own:
        changes |= without_own(configuration)
    return configuration.with_(**changes)


def without_own(configuration: Configuration, *gone: str) -> dict[str, object]:
    """The fields of a design without those matrices of its own whose mechanisms are called ``gone``, or without any: what was chosen of
    them gives way to what is usual."""
    left = tuple(supplied for supplied in configuration.own if gone and supplied.mechanism not in gone)
    lost = {supplied.mechanism for supplied in configuration.own} - {supplied.mechanism for supplied in left}
    changes: dict[str, object] = {"own": left}
    if configuration.mechanism.name in lost:
        changes["mechanism"] = Configuration().mechanism
    return changes | {"compared": tuple(name for name in configuration.compared if name not in lost) or USUAL}


def left_out(configuration: Configuration) -> tuple[str, ...]:
    """The parts of a design that `shareable` leaves out: keys of `LEFT_OUT`. They reveal only that
    something was there."""
    shared = shareable(configuration)
    gone_kinds = _kinds(configuration) - _kinds(shared)
    values = configuration.domain != shared.domain or (configuration.data is not None and shared.data is None)
    gone = {
        "attributes": values,
        "people": not values and configuration.population != shared.population,
        "query": isinstance(configuration.data, UploadedData) and configuration.data.query is not None,
        "matrix": "matrix" in gone_kinds,
        "conditions": bool(gone_kinds & {"predicates", "difference"}),
        "histogram": configuration.optimizer.histogram is not None,
        "own": bool(configuration.own),
    }
    return tuple(name for name in LEFT_OUT if gone[name])


def left_out_in_words(names: Iterable[str]) -> str:
    """The parts that a link leaves out, in a sentence; unknown names are ignored, and an empty list
    gives an empty text."""
    words = [LEFT_OUT[name] for name in LEFT_OUT if name in set(names)]
    return f"The link leaves out {'; '.join(words)}." if words else ""


def _sample(configuration: Configuration) -> bool:
    return configuration.data is not None and configuration.data.source == "sample"


def _names_values_of_the_data(configuration: Configuration) -> bool:
    attributes = configuration.domain.attributes if configuration.domain is not None else ()
    recipes = configuration.data.recipes if configuration.data is not None else ()
    origins = [getattr(part, "origin", "declared") for part in (*attributes, *recipes)]
    return not _sample(configuration) and "data" in origins

"""All columns of a table at once: each in the treatment that suits it, with a sentence about those that cannot take part."""

from __future__ import annotations

from dataclasses import replace

from ldp_core.data import tables
from ldp_core.designs import DataChoice
from ldp_core.limits import MOST_ATTRIBUTES
from pages.ui.data.background_read import looking, values
from pages.ui.data.choice import picked, remember, suggested
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import Source


def _looked_at(state: Session, choice: DataChoice, source: Source) -> dict[str, tables.Suggestion]:
    """What is suggested for every column."""
    counts = counts_column(choice)
    names = [name for name in source.columns if name != counts]
    if isinstance(source.table, tables.LocalTable):
        source.table.count_each(names, counts)
    return {name: _suggestion(state, source, name, counts) for name in names}


@looking
def choose_all(state: Session, choice: DataChoice, source: Source) -> None:
    """Every column that says something about people becomes an attribute. Settings and choices made
    by hand stay as they are.
    ValueError with a sentence where there is none; then nothing has changed."""
    counts, looked = counts_column(choice), _looked_at(state, choice, source)
    remembered = remember(state, choice, source)
    stay = picked(state, choice, source) if state.draft is None else set()
    for name, suggestion in looked.items():
        own = remembered.get((source.id, name))
        by_hand = suggestion.recipe is None and name in stay
        if own is not None and (by_hand or own != suggested(state, source, name, counts)):
            looked[name] = replace(suggestion, recipe=own, note="")
    able = {suggestion.recipe: suggestion.types for suggestion in looked.values() if suggestion.recipe is not None}
    if not able:
        raise ValueError(
            f"No column can be an attribute. {' '.join(suggestion.note for suggestion in list(looked.values())[:3])}"
        )
    kept = list(able)[: min(MOST_ATTRIBUTES, tables.fitting(list(able.values())))]
    state.set_data(choice.model_copy(update={"recipes": tuple(kept)}), source)
    said = tables.told_of(looked)
    if len(kept) < len(able):
        said.append(f"Only the first {len(kept):,} of these fit in one design: leave out some to have others.")
    state.notices = [*state.notices, ("info", " ".join(said))]


def _suggestion(state: Session, source: Source, name: str, counts: str | None) -> tables.Suggestion:
    def look() -> tables.Suggestion:
        try:
            return tables.suggest_for_survey(*values(state, source, name, counts))
        except tables.TooManyRows:
            return tables.too_different(name)

    return state.results.cached(("in a survey", source.id, name, counts), look)

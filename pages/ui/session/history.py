"""The design of a session as it was chosen, and the steps that led to it: every change can be undone."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ldp_core.designs import Configuration, DataChoice
from pages.ui.sources import Source

KEPT_STEPS = 50
KEPT_BYTES = 2**29
"""Tables of earlier steps are kept, for undo, up to this size in all."""

Step = tuple[Configuration, Source | None]


@dataclass(frozen=True)
class Draft:
    """A data choice that cannot be used yet, with the table it refers to and the sentence that says why."""

    choice: DataChoice
    source: Source | None
    error: str
    begun: bool = False
    """Nothing is wrong: it is just not complete yet."""


@dataclass
class History:
    id: str
    configuration: Configuration = field(default_factory=Configuration)
    source: Source | None = None
    """The table in use; None for a declared domain, and while data is missing."""
    draft: Draft | None = None
    view: dict[str, Any] = field(default_factory=dict)
    """What is unfolded or selected for looking at; no result depends on it."""
    invalid: dict[str, tuple[Any, str]] = field(default_factory=dict)
    """Entries that were refused: control -> what was typed and the sentence about it."""
    notices: list[tuple[str, str]] = field(default_factory=list)
    """What the last action has to say, on screen until the next one or another page."""
    past: list[Step] = field(default_factory=list)
    future: list[Step] = field(default_factory=list)
    """What was undone, next step last."""
    _tables: weakref.WeakSet[Source] = field(default_factory=weakref.WeakSet)
    """All tables this session has had, as long as anything holds them."""

    def change(self, **fields: Any) -> None:
        """Replace fields of the configuration (undoable). Raises ValueError with a sentence; then nothing has changed."""
        self.install(self.configuration.with_(**fields), self.source)

    def install(self, configuration: Configuration, source: Source | None) -> None:
        """Make this the design (undoable): every change ends here."""
        if configuration == self.configuration and source is self.source:
            return
        self._remember(source)
        self.notices = []
        self.past = _affordable([*self.past[-KEPT_STEPS:], (self.configuration, self.source)])
        self.future = []
        self.configuration, self.source = configuration, source
        self.invalid.clear()

    @contextmanager
    def one_step(self) -> Iterator[None]:
        """What is changed within is undone together."""
        before, past = (self.configuration, self.source), [*self.past]
        yield
        if self.configuration != before[0] or self.source is not before[1]:
            self.past = _affordable([*past[-KEPT_STEPS:], before])

    def undo(self) -> None:
        """Back to the design before the last change, with the data it had."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Forward again to the design that was undone last."""
        self._step(self.future, self.past)

    def _step(self, source: list[Step], target: list[Step]) -> None:
        if source:
            target.append((self.configuration, self.source))
            self.configuration, self.source = source.pop()
            self.draft, self.notices = None, []
            self.invalid.clear()
            self.view.pop("source", None)

    def _remember(self, source: Source | None) -> None:
        if source is not None:
            self._tables.add(source)


def _affordable(steps: list[Step]) -> list[Step]:
    """The latest steps whose tables together stay within `KEPT_BYTES`; the last one always."""
    kept: list[Step] = []
    sizes: dict[str, int] = {}
    for configuration, source in reversed(steps):
        if source is not None:
            sizes[source.id] = source.size
        if kept and sum(sizes.values()) > KEPT_BYTES:
            break
        kept.append((configuration, source))
    return kept[::-1]

"""One design as it was chosen, and the steps that led to it: every change can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ldp_core.designs import Configuration, DataChoice
from ldp_core.limits import MOST_HISTORY_BYTES, MOST_UNDO_STEPS
from pages.ui.sources import Source

Step = tuple[Configuration, Source | None]


def beginning() -> Configuration:
    """The configuration that a session starts with: the target error is worked out
    from the answers when it is first shown."""
    return Configuration(difference="typical")


@dataclass(frozen=True)
class Draft:
    """A data choice that cannot be used yet, with the table it refers to and the sentence that says why."""

    choice: DataChoice
    source: Source | None
    error: str
    begun: bool = False
    """Nothing is wrong: the entry is only incomplete."""


@dataclass
class History:
    """A design and its steps.

    Attributes:
        source: the table in use; None for a declared domain, and while data is missing.
        future: what was undone, next step last.
    """

    configuration: Configuration = field(default_factory=beginning)
    source: Source | None = None
    draft: Draft | None = None
    past: list[Step] = field(default_factory=list)
    future: list[Step] = field(default_factory=list)

    @property
    def now(self) -> Step:
        return self.configuration, self.source

    def copy(self) -> History:
        """The same design, with steps of its own."""
        return replace(self, past=[*self.past], future=[*self.future])

    def install(self, configuration: Configuration, source: Source | None) -> bool:
        """Make this the design (undoable); whether it is another one than before."""
        if configuration == self.configuration and source is self.source:
            return False
        self._step_from(self.now)
        self.future = []
        self.configuration, self.source = configuration, source
        return True

    @contextmanager
    def one_step(self) -> Iterator[None]:
        """All changes made inside are undone together."""
        before, past = self.now, [*self.past]
        yield
        if self.configuration != before[0] or self.source is not before[1]:
            self.past = past
            self._step_from(before)

    def undo(self) -> bool:
        """Back to the design before the last change, with the data it had; False where there is none."""
        return self._step(self.past, self.future)

    def redo(self) -> bool:
        """Forward again to the design that was undone last; False where there is none."""
        return self._step(self.future, self.past)

    def _step(self, origin: list[Step], target: list[Step]) -> bool:
        if not origin:
            return False
        target.append(self.now)
        self.configuration, self.source = origin.pop()
        self.draft = None
        return True

    def _step_from(self, step: Step) -> None:
        self.past = _affordable([*self.past[-MOST_UNDO_STEPS:], step])


def _affordable(steps: list[Step]) -> list[Step]:
    """The latest steps whose tables together stay within `MOST_HISTORY_BYTES`; the last one always."""
    kept: list[Step] = []
    sizes: dict[str, int] = {}
    for configuration, source in reversed(steps):
        if source is not None:
            sizes[source.id] = source.size
        if kept and sum(sizes.values()) > MOST_HISTORY_BYTES:
            break
        kept.append((configuration, source))
    return kept[::-1]

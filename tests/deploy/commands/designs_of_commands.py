"""Small designs as files, a session of the app with the same design, and what a command says."""

import json
import time
from pathlib import Path

import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.deploy.commands import main
from ldp_core.designs import Configuration, MechanismRecipe, Optimizer, Population, WorkloadRecipe
from ldp_core.workloads import HistogramPart, PrefixPart
from pages.ui.session.history import History, SavedDesigns
from pages.ui.session.state import Session
from pages.ui.tasks import work

AGES = NumericAttribute(name="age", edges=tuple(range(0, 90, 10)), origin="declared")
HIERARCHICAL = Configuration(
    domain=Domain(attributes=(AGES,)),
    population=Population(users=5000, origin="declared", shape="zipf"),
    workload=WorkloadRecipe(parts=(PrefixPart(attribute="age"), HistogramPart(attribute="age", weight=2.0))),
    mechanism=MechanismRecipe(name="hierarchical", parameters={"branching": 2}),
)
OPTIMIZED = HIERARCHICAL.with_(
    mechanism=MechanismRecipe(name="optimized"),
    optimizer=Optimizer(aim="people", time_limit=600.0),  # searches end because they are done
)
YES_NO = HIERARCHICAL.with_(
    domain=Domain(attributes=(CategoricalAttribute(name="sex", values=("female", "male"), origin="declared"),)),
    workload=WorkloadRecipe(parts=(HistogramPart(attribute="sex"),)),
)


class Shell:
    """A folder to run commands in, and what they said."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]):
        self.folder, self.captured = folder, captured
        self.out = self.err = ""

    def file(self, configuration: Configuration, name: str = "design.json") -> str:
        """A file with a configuration."""
        return self.holding(configuration.to_json(), name)

    def holding(self, content: bytes | str, name: str) -> str:
        place = self.folder / name
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(place)

    def run(self, *arguments: object) -> int:
        code = main([str(argument) for argument in arguments])
        self.out, self.err = self.captured.readouterr()
        return code

    def result(self, *arguments: object) -> dict:
        """The document that a command writes with --json."""
        assert self.run(*arguments, "--json") == 0, self.err
        return json.loads(self.out, parse_constant=lambda number: pytest.fail(f"{number} is no JSON"))

    def refused(self, *arguments: object) -> str:
        """The sentence about bad input."""
        assert self.run(*arguments) == 2
        assert self.out == ""
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err


def session(configuration: Configuration, *fitted: str) -> Session:
    """The app with a design, everything proved and then fitted."""
    state = Session("commands", SavedDesigns(History(configuration)))
    for case in state.setting.cases:
        done(state, work.certificate(state, case))
    for name in fitted:
        done(state, work.fit(state, name))
    return state


def done(state: Session, task: work.Task) -> None:
    task.start()
    while task.running:
        time.sleep(0.01)
    assert not task.error

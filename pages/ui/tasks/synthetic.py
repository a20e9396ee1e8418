"""The joint model of a survey, fitted in the background."""

from __future__ import annotations

import json

from ldp_core.mechanisms import ScrambledPatterns, SplitSurvey
from ldp_core.run import Progress
from ldp_core.studies import synthetic
from ldp_core.workloads import Survey
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.task import DESIGN, Task

EXPECTED_SECONDS = 20.0


def joint_model(
    state: Session, mechanism: ScrambledPatterns | SplitSurvey, survey: Survey
) -> Task[synthetic.Synthetic]:
    """A joint model of one simulated collection of the design."""
    design, seed = state.setting, state.configuration.simulation.seed
    key = "joint:" + json.dumps([mechanism.digest, survey.digest, design.people_digest, seed])

    def work(job: Job) -> synthetic.Synthetic:
        def follow(progress: Progress) -> None:
            job.progress = progress

        return synthetic.make(mechanism, survey, design.counts, seed, follow, job.cancelled)

    return Task(
        state,
        key,
        "fitting a joint model",
        work,
        lambda people: 8 * sum(part.size for part in people.model.probabilities),
        (*DESIGN, "people"),
        "Simulate",
        None,
        EXPECTED_SECONDS,
    )

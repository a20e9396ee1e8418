"""The examples in docstrings run and give what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ldp_core as ldp

ROOT = Path(ldp.__file__).parents[1]
SHOWN = [file for file in sorted(ROOT.glob("ldp_core/**/*.py")) if ">>> " in file.read_text(encoding="utf-8")]


def module_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", [module_of(file) for file in SHOWN])
def test_examples_give_what_they_show(module):
    names = {"ldp": ldp, "np": np}
    found = doctest.testmod(import_module(module), globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    "function",
    [
        *(
            getattr(ldp.workloads, kind)
            for kind in ("histogram", "prefix", "all_range", "width_range", "all_marginals")
        ),
        *(getattr(ldp.workloads, kind) for kind in ("k_way_marginals", "parity", "custom", "union", "product")),
        *(ldp.analysis.worst_case_variance, ldp.analysis.average_variance, ldp.analysis.variance_on_data),
        *(ldp.analysis.objective, ldp.analysis.sample_complexity, ldp.analysis.users_from_objective),
        *(ldp.analysis.standard_errors, ldp.optimize.design, ldp.bounds.certificate),
        *(ldp.estimators.apply, ldp.simulate.run, ldp.studies.planning.plan, ldp.mechanisms.Mechanism),
        ldp.mechanisms.create,
    ],
    ids=lambda function: f"{function.__module__}.{function.__name__}",
)
def test_the_main_functions_have_an_example(function):
    assert ">>> ldp." in function.__doc__ or "= ldp." in function.__doc__

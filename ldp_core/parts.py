"""Packages whose parts are imported when they are first asked for: readers, charts and solvers take a second."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

from ldp_core import wording


def of(package: str, places: Mapping[str, str]) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of ``package``: its part by a name, from where ``places`` says it stands below the package."""

    def part(name: str) -> ModuleType:
        if name in places:
            return import_module(f"{package}.{places[name]}")
        raise AttributeError(f"{package} has no part {name!r}; {wording.meant(name, places)}")

    return part

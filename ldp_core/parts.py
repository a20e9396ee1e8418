"""Packages whose parts are imported when they are first asked for: readers, charts and solvers take a second."""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType

from ldp_core import wording


def of(package: str, names: Sequence[str], **elsewhere: str) -> Callable[[str], ModuleType]:
    """The function `__getattr__` of ``package``: its part by one of ``names``, found under that name in the package, or where ``elsewhere``
    says it stands below it."""

    def part(name: str) -> ModuleType:
        if name in names:
            return import_module(f"{package}.{elsewhere.get(name, name)}")
        raise AttributeError(f"{package} has no part {name!r}; {wording.meant(name, names)}")

    return part

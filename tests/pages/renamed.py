"""Streamlit as another version may be: names are changed throughout its source, so that it still works, but we do not find them."""

import re
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

PACKAGES = ("streamlit", "starlette")
AFTER = "_of_another_version"


class Source(SourceFileLoader):
    """Compiles a module with its names changed; nothing of that is kept on disk."""

    def __init__(self, name, path, names):
        super().__init__(name, path)
        self._names = names

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        source = re.sub(rf"\b({'|'.join(self._names)})\b", rf"\1{AFTER}", self.get_data(path).decode())
        return compile(source, path, "exec", dont_inherit=True)


class Renaming(MetaPathFinder):
    """Finds modules in which ``names`` occur, such as "streamlit.Runtime"."""

    def __init__(self, names):
        self._names = {package: [] for package in PACKAGES}
        for name in names:
            package, _, name = name.rpartition(".")
            self._names[package].append(name)

    def find_spec(self, fullname, path=None, target=None):
        names = self._names.get(fullname.partition(".")[0])
        if not names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and (spec.origin or "").endswith(".py"):
            source = Path(spec.origin).read_bytes()
            if any(name.encode() in source for name in names):
                spec.loader = Source(fullname, spec.origin, names)
        return spec


def rename(names):
    """Streamlit is imported with these names changed. Nothing of `PACKAGES` may have been imported before."""
    assert not {name.partition(".")[0] for name in sys.modules} & set(PACKAGES)
    sys.meta_path.insert(0, Renaming(names))

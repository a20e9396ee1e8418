"""A program that runs the app where Streamlit lacks names.

It reads lists of names, one a line, and answers each with a line of JSON. Each list has its own
process, forked before Streamlit is imported.
"""

import importlib
import json
import logging
import os
import sys
import traceback
import types
import weakref
from pathlib import Path

import renamed

import ldp_core

APP = Path(__file__).parents[2] / "app.py"
# Packages that take long to import and do not need Streamlit are imported before a process is forked.
BEFORE = "numpy pandas scipy.stats plotly.graph_objects pyarrow duckdb cvxpy pydantic google.protobuf.message anyio asyncio click"


def tell(names):
    """The fixes that are off without these ``names``, the lines logged, and the words of the pages."""
    renamed.rename(names)
    lines, logged = [], logging.Handler(logging.WARNING)
    logged.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("pages").addHandler(logged)
    AppTest = named("streamlit.testing.v1.app_test", "AppTest")
    as_served()
    at = AppTest.from_file(APP, default_timeout=3600).run()
    titles, errors = [at.title[0].value], [error.message for error in at.exception]

    from pages.ui import promises, streamlit_fixes
    from pages.ui.streamlit_fixes.guard import Fix

    left = copies_left(streamlit_fixes.tab_storage)
    at.switch_page("pages/guide.py").run()
    titles, errors = [*titles, at.title[0].value], [*errors, *(error.message for error in at.exception)]
    guide = " ".join(element.value for element in at.markdown)
    at.button(key="forget-confirmed").click().run()
    parts = [part for part in vars(streamlit_fixes).values() if isinstance(part, types.ModuleType)]
    return {
        "titles": titles,
        "errors": [*errors, *(error.message for error in at.exception)],
        "off": sorted(fix.does for part in parts for fix in vars(part).values() if isinstance(fix, Fix) and fix.off),
        "lines": lines,
        "guide": guide,
        "notice": " ".join(element.value for kind in (at.success, at.warning) for element in kind),
        "forgetting": promises.forgotten_at_once(),
        "left": left,
    }


def as_served():
    """As in tests/pages/conftest.py: AppTest would forget before each run that app.py has a navigation."""
    tests, served = importlib.import_module("streamlit.testing.v1.app_test"), "PagesManager"
    manager = named("streamlit.runtime.pages_manager", served)
    setattr(tests, served if hasattr(tests, served) else served + renamed.AFTER, type("AsServed", (manager,), {}))
    manager.uses_pages_directory = False


def copies_left(tab_storage):
    """True if a server still holds the upload or the state of a tab that was freed, or the state of one that has expired."""
    server = have(named("streamlit.web.server.server", "Server")(str(APP), False), "_runtime")
    storage = have(have(server, "_session_mgr"), "_session_storage")
    tab_storage.install()
    secret = os.urandom(64)
    before = sys.getrefcount(secret)
    record = named("streamlit.runtime.uploaded_file_manager", "UploadedFileRec")
    add = have(have(server, "uploaded_file_mgr"), "add_file")
    add("freed", record(file_id="file", name="people.csv", type="text/csv", data=secret))
    freed, expired = (
        Tab(name, secret, named("streamlit.runtime.state", "SessionState")()) for name in ("freed", "gone")
    )
    storage.save(named("streamlit.runtime.session_manager", "SessionInfo")(client=None, session=freed))
    tab_storage.free(["freed"])
    tab_storage.expire(weakref.WeakValueDictionary({"gone": expired}))
    return sys.getrefcount(secret) > before


class Tab:
    """What Streamlit keeps of a tab, here without anything that runs."""

    def __init__(self, name, shown, state):
        self.id, self.session_state = name, state
        state["table"] = shown

    def shutdown(self):
        """Nothing runs."""


def have(owner, name):
    """An attribute by the ``name`` that it has in the version we know."""
    return getattr(owner, name if hasattr(owner, name) else name + renamed.AFTER)


def named(module, name):
    return have(importlib.import_module(module), name)


def fork(names):
    sys.stdout.flush()
    reads, writes = os.pipe()
    if not (child := os.fork()):
        try:
            with os.fdopen(writes, "w") as out:
                json.dump(tell(names), out)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        print(told.read() or "null", flush=True)
    os.waitpid(child, 0)


if __name__ == "__main__":
    for module in BEFORE.split():
        importlib.import_module(module)
    for part in ldp_core.__all__:
        getattr(ldp_core, part)
    for line in sys.stdin:
        fork(json.loads(line))

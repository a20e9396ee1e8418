"""Imported by the server under test before anything else: says how much of its sessions it holds, whenever it is asked. (It looks
at all objects there are, which a tuple that another thread is just making does not bear: so only where the test expects quiet.)

Counts are of objects that exist, whatever holds them; unreachable circles are collected first. The sample tables that all
sessions share are not counted. Of sessions, those count that are more than an empty shell: Streamlit holds shells for long.
Who asks may set its environment anew.
"""

import gc
import json
import os
import sys
import threading
import time
from pathlib import Path


def _held(states, frame, server):
    gc.collect()
    found = {"sessions": 0, "tables": 0, "frames": 0, "designs": 0, "bytes": 0}
    found["tabs"] = len(server._session_mgr.list_sessions())  # Streamlit's own, also those that may come back
    for known in gc.get_objects():
        kind = type(known)
        if kind is states.Session:
            left = (
                known.source,
                known.draft,
                known.history.past,
                known.history.future,
                known.view,
                known._shown and known._shown[2].has_domain,
                known.works,
                known.results._items,
            )
            found["sessions"] += any(left)
        elif kind is states.Source and known.file.kind != "sample":
            found["tables"] += bool(known.file.content or len(known.table))
        elif issubclass(kind, states.Setting):
            found["designs"] += known.has_domain
        elif kind is frame:
            found["frames"] += "place" in known.columns  # of the uploads in the test; heads and views of them as well
    found["bytes"] = sum(
        len(file.data) for files in server._uploaded_file_mgr.file_storage.values() for file in files.values()
    )
    return found


def _count():
    place = Path(os.environ["COUNTS"])
    asked = place.with_suffix(".asked")
    while True:
        time.sleep(0.1)
        states, promises = sys.modules.get("pages.ui.session.state"), sys.modules.get("pages.ui.promises")
        if not hasattr(states, "Session") or not hasattr(promises, "EVERY"):
            continue
        promises.EVERY = 0.3
        if not asked.exists():
            continue
        settings = json.loads(asked.read_text())
        asked.unlink()
        os.environ.update(settings)
        from pandas import DataFrame
        from streamlit.runtime import get_instance

        count = _held(states, DataFrame, get_instance())
        place.with_suffix(".new").write_text(json.dumps(count))
        place.with_suffix(".new").replace(place)


threading.Thread(target=_count, daemon=True).start()

"""Imported by the server under test before anything else: says how many sessions and tables it holds, as often as it can.

Counts are of objects that exist, whatever holds them; unreachable circles are collected first. The sample tables that all
sessions share are not counted.
"""

import gc
import json
import os
import sys
import threading
import time
from pathlib import Path


def _count():
    place = Path(os.environ["COUNTS"])
    while True:
        time.sleep(1.0)
        states, promises = sys.modules.get("pages.ui.state"), sys.modules.get("pages.ui.promises")
        if not hasattr(states, "Session") or promises is None:
            continue
        promises.EVERY = 0.3
        gc.collect()
        kinds = {states.Session: 0, states.Source: 0}
        for found in gc.get_objects():
            if type(found) in kinds and getattr(found, "kind", "") != "sample":
                kinds[type(found)] += 1
        count = {"sessions": kinds[states.Session], "tables": kinds[states.Source]}
        place.with_suffix(".new").write_text(json.dumps(count))
        place.with_suffix(".new").replace(place)


threading.Thread(target=_count, daemon=True).start()

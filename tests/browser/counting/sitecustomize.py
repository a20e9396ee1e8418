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
        time.sleep(0.2)
        states, promises = sys.modules.get("pages.ui.state"), sys.modules.get("pages.ui.promises")
        if not hasattr(states, "Session") or promises is None:
            continue
        promises.EVERY = 0.3
        gc.collect()
        sources = [found for found in gc.get_objects() if type(found).__name__ == "Source"]
        count = {
            "sessions": sum(isinstance(found, states.Session) for found in gc.get_objects()),
            "tables": sum(source.kind == "upload" for source in sources),
        }
        place.with_suffix(".new").write_text(json.dumps(count))
        place.with_suffix(".new").replace(place)


threading.Thread(target=_count, daemon=True).start()

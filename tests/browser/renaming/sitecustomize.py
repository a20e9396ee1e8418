"""Imported by the server under test before anything else: Streamlit has other names in it, see tests/pages/renamed.py."""

import json
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "pages"))
import renamed

sys.path.pop()
renamed.rename(json.loads(os.environ["RENAMED"]))

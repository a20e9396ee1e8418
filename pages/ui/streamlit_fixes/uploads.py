"""Uploads stay in memory.

Streamlit's server reads an upload through Starlette's form parser, which moves files of more than
1 MB to a temporary file on disk. Its documented limit, `MultiPartParser.spool_max_size`, is raised
beyond the largest upload.
"""

import streamlit as st
from starlette.formparsers import MultiPartParser

_FRAMING_BYTES = 2**21
"""The most bytes that a form adds to its file."""


def install() -> None:
    """Raise the limit past which uploads go to disk."""
    MultiPartParser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20 + _FRAMING_BYTES

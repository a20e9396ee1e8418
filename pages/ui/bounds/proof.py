"""The proof of what no mechanism can beat: begun where it is quick, and its files."""

from __future__ import annotations

from ldp_core.designs import proof_files
from ldp_core.limits import UNASKED_TYPES
from pages.ui import layout, proving
from pages.ui.session.state import Session


def controls(state: Session) -> None:
    """The buttons that prove a tighter bound, and that download what is proved, where writing it does not keep the page waiting."""
    case = state.setting.case
    proving.controls(state, case)
    if state.setting.proof(case) is None or state.setting.working_types > UNASKED_TYPES // 2:
        return
    if (files := proof_files.written(state.setting, case)) is not None:
        layout.download(
            "Download the proof (zip)",
            files.zipped,
            "ldp-proof.zip",
            "application/zip",
            "download-proof",
            help="The numbers that prove the certificate, and a script that checks them with NumPy alone, without this program.",
        )

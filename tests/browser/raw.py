"""A browser without a browser: a session held by its websocket, and an upload sent as slowly as a test wants."""

import http.client
import time
import uuid
from contextlib import ExitStack
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

PATIENCE = 600
BOUNDARY = "----a-form"
DRAWN = "<i></i>"
"""The mark at the end of a page."""


class RawVisitor:
    """One session on a page of the app."""

    def __init__(self, address, cookies="", page=""):
        self.host, self.page = urlsplit(address).netloc, page
        self.scripts, self.lines = [], []  # of pages that were sent, and the lines of the sidebar
        self.session, self.keyed, self.uploaders, self.helps, self._widgets = "", {}, {}, {}, []
        self._http = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        self._http.request("GET", "/_stcore/health")
        answer = self._http.getresponse()
        answer.read()
        self._cookie = (answer.getheader("set-cookie") or "").split(";")[0]
        cookies = f"{self._cookie}; {cookies}".strip("; ")
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(
                f"ws://{self.host}/_stcore/stream",
                subprotocols=["streamlit"],
                max_size=None,
                ping_interval=None,  # a busy server answers late
                max_queue=None,  # and a page that waits goes on telling
                additional_headers={"Cookie": cookies},
                origin=address,
            )
        )
        self.run()

    def press(self, key, drawn=False):
        """Press a button of the page."""
        self._set(key, drawn, trigger_value=True)
        self._widgets = []

    def type(self, key, text):
        """Type into a text area of the page."""
        self._set(key, string_value=text)

    def _set(self, key, drawn=False, **value):
        self._widgets = [WidgetState(id=self.keyed[key], **value)]
        self.run(drawn)

    def go(self, page):
        self.page, self._widgets = page, []
        self.run()

    def run(self, drawn=False):
        """Run the script until it has ended, or has ``drawn`` the page and waits for work."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.widget_states.widgets.extend(self._widgets)
        self._socket.send(message.SerializeToString())
        deadline = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < deadline, f"the page {self.page!r} never ends; it says {self.lines}"
            told = ForwardMsg.FromString(self._socket.recv(timeout=PATIENCE))
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self.session = told.new_session.initialize.session_id
                self.lists_files = not told.new_session.config.hide_sidebar_nav
            elif kind == "delta" and told.delta.new_element.WhichOneof("type") == "file_uploader":
                found = told.delta.new_element.file_uploader
                self.uploaders[found.label], self.helps[found.label] = found.id, found.help
            elif kind == "delta" and (type := told.delta.new_element.WhichOneof("type")) in ("button", "text_area"):
                found = getattr(told.delta.new_element, type).id  # ends in its key
                self.keyed[found.split("-", 2)[2].partition("~")[0]] = found
            elif kind == "delta" and told.delta.new_element.WhichOneof("type") == "html":
                self.scripts.append(told.delta.new_element.html.body)
                if drawn and self.scripts[-1] == DRAWN:
                    return
            elif kind == "delta" and told.delta.new_element.WhichOneof("type") == "page_link":
                self.lines.append(told.delta.new_element.page_link.label)
            elif kind == "script_finished" and told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return

    def upload(self, label, name, pieces):
        """Send a file in ``pieces`` to the uploader whose label begins so, and let the page take it."""
        file = uuid.uuid4().hex
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        head += "Content-Type: text/csv\r\n\r\n"
        size = 0

        def body():
            nonlocal size
            yield head.encode()
            for piece in pieces:
                size += len(piece)
                yield piece
            yield f"\r\n--{BOUNDARY}--\r\n".encode()

        headers = {
            "Transfer-Encoding": "chunked",
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Cookie": self._cookie,
            "X-Xsrftoken": self._cookie.partition("=")[2].strip('"'),
        }
        self._http.close()  # the server may have given up a connection that said nothing for long
        path = f"/_stcore/upload_file/{self.session}/{file}"
        self._http.request("PUT", path, body=body(), headers=headers, encode_chunked=True)
        answer = self._http.getresponse()
        assert answer.status == 204, answer.read()
        answer.read()
        state = BackMsg().rerun_script.widget_states.widgets.add()
        state.id = next(found for shown, found in self.uploaders.items() if shown.startswith(label))
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = file, name, size
        self._widgets = [state]
        self.run()

    def leave(self):
        self._open.close()
        self._http.close()

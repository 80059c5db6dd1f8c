"""The language server protocol: messages of JSON on stdin and stdout, and what is done for each."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlparse

from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.tools.lsp.documents import Document

_NO_METHOD, _NO_REQUEST, _BROKEN = -32601, -32600, -32603
_CAPABILITIES = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "hoverProvider": True,
    "definitionProvider": True,
    "documentSymbolProvider": True,
}
_FUNCTION = 12
"""A kind of symbol."""


class Server:
    """One client: the files that it has opened, and the answers to its requests."""

    def __init__(self, read: BinaryIO, write: BinaryIO) -> None:
        self._read, self._write = read, write
        self._documents: dict[str, Document] = {}
        self._is_shut_down = False
        self._methods: dict[str, Callable[[dict[str, Any]], Any]] = {
            "initialize": lambda _: {"capabilities": _CAPABILITIES, "serverInfo": {"name": "ipu-lsp"}},
            "shutdown": lambda _: self._shut_down(),
            "textDocument/didOpen": lambda given: self._changed(given, given["textDocument"]["text"]),
            "textDocument/didChange": lambda given: self._changed(given, given["contentChanges"][-1]["text"]),
            "textDocument/didClose": self._closed,
            "textDocument/hover": self._hover,
            "textDocument/definition": self._definition,
            "textDocument/documentSymbol": self._symbols,
        }

    def run(self) -> int:
        """Answer until the client ends the session; gives the exit status, which is 1 if it ended without shutdown."""
        while (message := self._next()) is not None:
            method = message.get("method", "")
            if method == "exit":
                break
            if method in self._methods:
                self._answer(message, self._methods[method])
            elif "id" in message and method:
                self._send_error(message["id"], _NO_METHOD, f"there is no method {method}")
        return 0 if self._is_shut_down else 1

    def _answer(self, message: dict[str, Any], method: Callable[[dict[str, Any]], Any]) -> None:
        if self._is_shut_down and "id" in message:
            self._send_error(message["id"], _NO_REQUEST, "the server is shut down")
            return
        try:
            result = method(message.get("params") or {})
        except (KeyError, IndexError, TypeError, IpuError) as error:  # a client's mistake must not end the session
            print(f"ipu-lsp: {message.get('method')}: {error!r}", file=sys.stderr)
            if "id" in message:
                self._send_error(message["id"], _BROKEN, f"{message.get('method')} failed: {error!r}")
            return
        if "id" in message:
            self._send({"id": message["id"], "result": result})

    def _shut_down(self) -> None:
        self._is_shut_down = True

    def _changed(self, given: dict[str, Any], text: str) -> None:
        uri = given["textDocument"]["uri"]
        self._documents[uri] = Document(text)
        self._publish(uri, self._documents[uri].diagnostics())

    def _closed(self, given: dict[str, Any]) -> None:
        uri = given["textDocument"]["uri"]
        self._documents.pop(uri, None)
        self._publish(uri, [])

    def _publish(self, uri: str, diagnostics: list[dict[str, Any]]) -> None:
        params = {"uri": uri, "diagnostics": diagnostics}
        self._send({"method": "textDocument/publishDiagnostics", "params": params})

    def _hover(self, given: dict[str, Any]) -> Any:
        document = self._document(given)
        name = document.name_at(given["position"])
        text = name and document.hover(name)
        if not name or not text:
            return None
        return {"contents": {"kind": "markdown", "value": text}, "range": document.range(name.begin, name.end)}

    def _definition(self, given: dict[str, Any]) -> Any:
        document = self._document(given)
        name = document.name_at(given["position"])
        found = name and document.definition(name)
        return found and {"uri": given["textDocument"]["uri"], "range": document.range(found.begin, found.end)}

    def _symbols(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        document = self._document(given)
        places = ((name, document.range(name.begin, name.end)) for name in document.symbols())
        return [
            {"name": name.text, "kind": _FUNCTION, "range": place, "selectionRange": place} for name, place in places
        ]

    def _document(self, given: dict[str, Any]) -> Document:
        """The file of a request, as it is open, or else as it is on disk."""
        uri = given["textDocument"]["uri"]
        if uri in self._documents:
            return self._documents[uri]
        path = Path(unquote(urlparse(uri).path))
        return Document(path.read_text() if path.is_file() else "")

    def _next(self) -> dict[str, Any] | None:
        """The next message; None at the end of the input."""
        length = 0
        while line := self._read.readline():
            name, _, value = line.decode("ascii", errors="replace").partition(":")
            if name.lower() == "content-length":
                length = int(value)
            if not line.strip():
                return json.loads(self._read.read(length))
        return None

    def _send_error(self, number: Any, code: int, message: str) -> None:
        self._send({"id": number, "error": {"code": code, "message": message}})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._write.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._write.flush()

"""The language server, as an editor talks to it: messages to a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

URI = "file:///tmp/program.mlir"
TEXT = """\
// RUN: ipu-opt %s --ipu-mark-replicas
#alias = affine_map<(i) -> (i)>
func.func @helper(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %sum, %other = func.call @two(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %y = "ipu.all_reduce"(%sum) {op = "add"} : (tensor<8xf32>) -> tensor<8xf32>
  %z = func.call @helper(%y) : (tensor<8xf32>) -> tensor<8xf32>
  cf.br ^end(%z : tensor<8xf32>)
^end(%r: tensor<8xf32>):
  return %r : tensor<8xf32>
}
func.func private @two(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
"""


class Client:
    """A process of the server, and the messages that it has sent."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "ipu_mlir.tools.ipu_lsp", "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send(self, method: str, params: Any, **more: Any) -> None:
        content = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        header = self.process.stdout.readline()
        assert header.startswith(b"Content-Length: "), header
        assert self.process.stdout.readline() == b"\r\n"
        return json.loads(self.process.stdout.read(int(header.split()[1])))

    def request(self, method: str, params: Any = None) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        found = self.receive()
        assert found["id"] == self.number
        return found

    def open(self, text: str) -> list[Any]:
        """The diagnostics of a file."""
        document = {"uri": URI, "languageId": "mlir", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        return self.published()

    def published(self) -> list[Any]:
        found = self.receive()
        assert found["method"] == "textDocument/publishDiagnostics"
        assert found["params"]["uri"] == URI
        return found["params"]["diagnostics"]

    def at(self, what: str, word: str, place: int = 0) -> Any:
        """The result of a request about occurrence ``place`` of ``word`` in ``TEXT``."""
        begin = -1
        for _ in range(place + 1):
            begin = TEXT.index(word, begin + 1)
        before = TEXT[:begin]
        position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2]) + 1}
        return self.request(f"textDocument/{what}", {"textDocument": {"uri": URI}, "position": position})["result"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    capabilities = made.request("initialize", {"capabilities": {}})["result"]["capabilities"]
    assert capabilities["hoverProvider"]
    made.send("initialized", {})
    yield made
    assert made.request("shutdown")["result"] is None
    assert made.request("textDocument/hover", {})["error"]["code"] == -32600
    made.send("exit", None)
    assert made.process.wait(10) == 0


def line_of(found: Any) -> int:
    return found["range"]["start"]["line"] + 1


def test_a_sound_file_has_no_diagnostics(client: Client) -> None:
    assert client.open(TEXT) == []


def test_errors_have_their_place_in_the_file_and_go_when_they_are_mended(client: Client) -> None:
    wrong = '// -----\nfunc.func @f(%x: tensor<8xf32>) {\n  "ipu.print"() : () -> ()\n  return\n}\n'
    wrong += "// -----\nfunc.func @g( {\n"
    (one, other) = client.open(wrong)
    assert (one["range"]["start"], one["severity"]) == ({"line": 2, "character": 2}, 1)
    assert other["range"]["start"]["line"] == 6
    change = [{"text": "func.func @f() {\n  return\n}\n"}]
    client.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": change})
    assert client.published() == []


def test_hover_says_what_ops_passes_and_values_are(client: Client) -> None:
    client.open(TEXT)
    assert "combined element by element" in client.at("hover", "ipu.all_reduce")["contents"]["value"]
    assert client.at("hover", "--ipu-mark-replicas")["contents"]["value"].startswith("**ipu-mark-replicas** (pass)")
    assert client.at("hover", "%y", 1)["contents"]["value"].startswith('```mlir\n%y = "ipu.all_reduce"(%sum)')
    assert client.at("hover", "return") is None


@pytest.mark.parametrize(
    ("word", "place", "line"),
    [("%x", 3, 6), ("%x", 1, 3), ("%sum", 1, 7), ("@helper", 1, 3), ("@two", 0, 14), ("^end", 0, 11), ("%r", 1, 11)],
)
def test_definitions(client: Client, word: str, place: int, line: int) -> None:
    client.open(TEXT)
    assert line_of(client.at("definition", word, place)) == line


def test_symbols_are_the_functions(client: Client) -> None:
    client.open(TEXT)
    found = client.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})["result"]
    assert [each["name"] for each in found] == ["@helper", "@main", "@two"]


def test_mistakes_of_a_client_do_not_end_the_session(client: Client) -> None:
    assert client.request("workspace/unheard")["error"]["code"] == -32601
    assert client.request("textDocument/hover", {})["error"]["code"] == -32603
    client.send("$/unheard", {})
    assert client.open("func.func @f() {\n  return\n}\n") == []


def test_an_end_without_shutdown_is_a_failure() -> None:
    client = Client()
    client.send("exit", None)
    assert client.process.wait(30) == 1


def test_files_that_are_not_open_are_read(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "a b.mlir"
    path.write_text("func.func @f() {\n  return\n}\n")
    given = {"textDocument": {"uri": path.as_uri()}}
    assert [each["name"] for each in client.request("textDocument/documentSymbol", given)["result"]] == ["@f"]

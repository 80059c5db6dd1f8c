"""``ipu-lsp``: a language server for ``.mlir`` files, on stdin and stdout."""

import contextlib
import sys
from collections.abc import Sequence

from ipu_mlir.tools.command_line import Parser, run_tool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-lsp", _ipu_lsp, argv)


def _ipu_lsp(argv: Sequence[str]) -> int:
    parser = Parser(
        "ipu-lsp",
        "Language server for .mlir files: diagnostics, hover, definitions and symbols. An editor starts it, and talks "
        "to it on stdin and stdout.",
    )
    parser.add_argument("--stdio", action="store_true", help="what editors pass; the only way there is")
    parser.add_argument("--load", action="append", default=[], metavar="FILE.py", help="a plugin, as of ipu-opt")
    arguments = parser.parse_args(argv)
    from ipu_mlir.passes.plugins import load_installed, load_plugin
    from ipu_mlir.tools.lsp.server import Server

    load_installed()
    for plugin in arguments.load:
        load_plugin(plugin)
    server = Server(sys.stdin.buffer, sys.stdout.buffer)
    with contextlib.redirect_stdout(sys.stderr):  # what a plugin prints is no message
        return server.run()


if __name__ == "__main__":
    sys.exit(main())

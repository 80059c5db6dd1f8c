"""``ipu-report``: a page to look at, of one profile or of two."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import file_name
from ipu_mlir.tools.standard_streams import read_stdin

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile

_DESCRIPTION = "Turn a profile into one HTML page: does the program fit, where does the time go, what to change first."
_EPILOG = """\
examples:
  ipu-run model.mlir --profile profile.json && ipu-report profile.json        writes profile.html
  ipu-report after.json before.json -o after.html                             what changed

The page needs no network. exit status: 0 done, 1 a profile cannot be read, 2 wrong usage
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-report", _ipu_report, argv)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-report", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    about = "the profile to show, of ipu-run --profile or exe.profile().save(); - is stdin"
    flag("profile", metavar="PROFILE.json", type=file_name, help=about)
    flag("other", metavar="OTHER.json", nargs="?", type=file_name, help="a profile to compare it with")
    flag("-o", "--output", metavar="FILE.html", help="the page; - is stdout (default: PROFILE.html, stdout for stdin)")
    arguments = parser.parse_args(list(argv))
    if arguments.profile == arguments.other == "-":
        raise UsageError("stdin holds one profile; give the other as a file")
    return arguments


def _ipu_report(argv: Sequence[str]) -> int:
    arguments = _parse(argv)

    from ipu_mlir.tools.report.page import page

    files = [file for file in (arguments.profile, arguments.other) if file is not None]
    text = page([(Path(file).name, _profile(file)) for file in files])
    default = "-" if arguments.profile == "-" else str(Path(arguments.profile).with_suffix(".html"))
    output = arguments.output or default
    write_output(output, text)
    if output != "-":
        print(printable(f"{output}: {len(text.encode(errors='replace')) / 1000:,.0f} KB"))
    return 0


def _profile(file: str) -> "Profile":
    from ipu_mlir.tools.report.profile_files import named_profile, read_profile

    return named_profile(read_stdin(), "<stdin>") if file == "-" else read_profile(file)


if __name__ == "__main__":
    raise SystemExit(main())

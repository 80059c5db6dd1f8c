"""``ipu-report``: a page to look at, of one profile or of two."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ipu_mlir.dialects.text import printable
from ipu_mlir.tools.command_line import Parser, run_tool, write_output

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
    flag("profile", metavar="PROFILE.json", help="the profile to show, of ipu-run --profile or exe.profile().save()")
    flag("other", metavar="OTHER.json", nargs="?", help="a profile to compare it with")
    flag("-o", "--output", metavar="FILE.html", help="the page; - is stdout (default: PROFILE.html)")
    return parser.parse_args(list(argv))


def _ipu_report(argv: Sequence[str]) -> int:
    arguments = _parse(argv)

    from ipu_mlir.tools.report.page import page
    from ipu_mlir.tools.report.reading import read_profile

    files = [file for file in (arguments.profile, arguments.other) if file is not None]
    text = page([(Path(file).name, read_profile(file)) for file in files])
    output = arguments.output or str(Path(arguments.profile).with_suffix(".html"))
    write_output(output, text)
    if output != "-":
        print(printable(f"{output}: {len(text.encode(errors='replace')) / 1000:,.0f} KB"))
    return 0

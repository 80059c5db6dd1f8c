"""The files of ``ipu-run --profile`` and ``--chrome-trace``."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.command_line import write_output


def write_profiles(profile: Profile, arguments: argparse.Namespace) -> None:
    """Write what the command line asks for.

    Raises:
        IpuError: a file cannot be written.
    """
    if arguments.profile:
        write_output(arguments.profile, _text(profile.to_json()))
    if arguments.chrome_trace:
        write_output(arguments.chrome_trace, _text(profile.chrome_trace()))


@contextmanager
def profiles_of_failures(arguments: argparse.Namespace) -> Iterator[None]:
    """Write what the command line asks for of a program that does not fit into memory, too; then that error goes on."""
    from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError

    try:
        yield
    except OutOfMemoryError as error:
        from ipu_mlir.inspect.profiling import profile_of_failure

        write_profiles(profile_of_failure(error), arguments)
        for path in filter(None, (arguments.profile, arguments.chrome_trace)):
            print(printable(f"profile of the program that does not fit: {path}"), file=sys.stderr)
        raise


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"

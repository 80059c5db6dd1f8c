"""Makes what tests share importable: ``support`` (tools) and ``cases`` (small programs) of the end-to-end tests.

With ``IPU_KERNELS=checked`` in the environment, programs of all tests that do not say otherwise run with checks.
Property tests draw the same examples in every run, and take the time that they take: a slow machine is no failure.
Programs are parsed at once, not in a child of the process first: such a child takes longer than many a test.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from ipu_mlir.dialects.support import parsing

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as what a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["IPU_KERNEL_CACHE"] = ""  # tests make the machine code that they run

sys.path.insert(0, str(Path(__file__).parent / "e2e"))

settings.register_profile("same-everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("same-everywhere")


class _Everything(set[int]):
    """The programs of tests, none of which ends the process that parses it."""

    def __contains__(self, _: object) -> bool:
        return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    parsing._survived = set() if item.get_closest_marker("deadly") else _Everything()

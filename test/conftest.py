"""Makes what tests share importable: ``support`` (tools) and ``cases`` (small programs) of the end-to-end tests.

Property tests draw the same examples in every run, and take the time that they take: a slow machine is no failure.
"""

import os
import signal
import sys
from pathlib import Path

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as what a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["IPU_KERNEL_CACHE"] = ""  # tests make the machine code that they run

sys.path.insert(0, str(Path(__file__).parent / "e2e"))

settings.register_profile("same-everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("same-everywhere")

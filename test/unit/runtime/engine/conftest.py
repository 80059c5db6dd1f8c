"""Forks, for tests of what threads leave to them."""

import os
import threading
import warnings
from collections.abc import Callable

import pytest


@pytest.fixture
def ends_well_in_a_child() -> Callable[[Callable[[], object]], bool]:
    """True if the function ends without an error in a fork of this process, within ten seconds."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")

    def run(work: Callable[[], object]) -> bool:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            child = os.fork()
        if child == 0:
            threading.Timer(10, os._exit, [2]).start()
            try:
                work()
            except BaseException:
                os._exit(1)
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0

    return run

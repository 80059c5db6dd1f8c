"""Bounds of the code of exchanges."""

import numpy as np

from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.memory.exchange_code import most_code, steering


def test_no_smaller_exchange_needs_more_code() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        sent, received = int(rng.integers(0, 400)), int(rng.integers(0, 400))
        pieces = int(rng.integers(1, 40)), int(rng.integers(1, 40))
        size = int(rng.choice([1, 2, 4, 8]))
        fewer_sent, fewer_received = rng.integers(0, sent + 1, 50), rng.integers(0, received + 1, 50)
        most = most_code(sent, received, pieces, size)
        for gathers in (False, True):
            assert steering(fewer_sent, fewer_received, pieces, size, IPU2, gathers).code.max() <= most

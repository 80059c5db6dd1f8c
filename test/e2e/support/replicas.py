"""Replicas of small targets, and what runs on both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
from support.case import assert_close

import ipu_mlir as ipu

FOUR = ipu.Target(tiles_per_ipu=8, replicas=4)


TWO = ipu.Target(tiles_per_ipu=8, replicas=2)


ALONE = ipu.Target(tiles_per_ipu=8)


X = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)


def both(function: Callable[..., Any], *args: np.ndarray, target: ipu.Target = FOUR) -> list[np.ndarray]:
    """The results, on which both executors agree."""
    executable = ipu.compile(function, args=args, target=target)
    fast, per_tile = executable.run(list(args)), executable.run_per_tile(list(args))
    assert_close(fast, per_tile, 16, "fast against per-tile executor")
    return fast


def own(x: Any) -> Any:
    """``x`` times the number of the replica, counted from 1."""
    return x * (ipu.replica_index() + 1).astype(np.float32)


OF_ALL = np.stack([X * np.float32(r + 1) for r in range(4)])

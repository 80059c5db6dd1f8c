"""How much of the bandwidth of a copy programs reach that only pass over large arrays.

    python -m benchmarks.bandwidth
    python -m benchmarks.bandwidth --smoke

Bytes are those of arguments and results, each once, per second of processor time of all threads; the copy is NumPy's,
between two arrays that are there. All take turns, and the least of all rounds counts. Exit status 1: a result is wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.calls import least_seconds
from benchmarks.environment import machine


def _softmax(x: Any) -> Any:
    import jax

    return jax.nn.softmax(x)


def _normed(x: Any) -> Any:
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "one added": lambda x: x + 1,
    "a sum of two": lambda x, y: x + y,
    "sums of rows": lambda x: x.sum(1),
    "sums of columns": lambda x: x.sum(0),
    "the sum of all": lambda x: x.sum(),
    "a transpose": lambda x: x.T + 1,
    "a softmax of rows": _softmax,
    "a layer norm": _normed,
}
"""Of square matrices, in JAX."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; gives the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.bandwidth", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of f32 (default: 4096, 64 MiB)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (default: 7)")
    parser.add_argument("--smoke", action="store_true", help="a small size and one round: whether everything works")
    given = parser.parse_args(argv)
    size, rounds = (32, 1) if given.smoke else (given.size, given.rounds)
    print("\n".join(f"{name}: {value}" for name, value in machine(("numpy", "ipu-mlir")).items()), end="\n\n")
    x, y = (np.random.default_rng(seed).normal(size=(size, size)).astype(np.float32) for seed in (0, 1))
    dest, is_right = np.empty_like(x), True
    runs: dict[str, Callable[[], Any]] = {"copy": lambda: np.copyto(dest, x)}
    moved = {"copy": 2 * x.nbytes}
    for name, program in PROGRAMS.items():
        arrays = [x, y][: program.__code__.co_argcount]
        exe = ipu.compile(program, args=arrays)
        (found,) = exe.run(arrays)
        is_right &= np.allclose(found, program(*arrays), rtol=1e-3, atol=1e-3 * size**0.5)
        runs[name] = lambda exe=exe, arrays=arrays: exe.run(arrays)
        moved[name] = sum(array.nbytes for array in (*arrays, found))
    seconds = least_seconds(runs, 1, rounds)
    rates = {name: moved[name] / seconds[name] / 1e9 for name in runs}
    print(f"{'program':20} {'GB/s':>6} {'share':>6}")
    for name, rate in rates.items():
        print(f"{name:20} {rate:6.1f} {rate / rates['copy']:6.2f}")
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())

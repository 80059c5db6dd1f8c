"""A call of a compiled function of JAX beside a call of ``jax.jit``, by the number of its arguments.

    python -m benchmarks.calls
    python -m benchmarks.calls --smoke

Both sum arrays of eight numbers; times are of the processor, measured in turns, the least of all rounds. Exit status 1:
a result is wrong.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

import ipu_mlir as ipu
from benchmarks.environment import machine

COUNTS = (1, 2, 8, 20, 50)


def least_seconds(calls: Mapping[str, Callable[[], Any]], times: int, rounds: int) -> dict[str, float]:
    """Processor time of one call of each."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            start = time.process_time()
            for _ in range(times):
                call()
            found[name] = min(found[name], (time.process_time() - start) / times)
    return found


def twice_the_sum(*arrays: Any) -> Any:
    """The function that is called."""
    return sum(2.0 * array for array in arrays)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; gives the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.calls", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="few arguments and repetitions: whether everything works")
    smoke = parser.parse_args(argv).smoke
    times, rounds = (5, 1) if smoke else (100, 200)
    facts = {**machine(("numpy", "ipu-mlir", "jax")), "repetitions": f"{rounds} x {times}"}
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    are_right = [compared(count, times, rounds) for count in COUNTS[: 2 if smoke else None]]
    return int(not all(are_right))


def compared(count: int, times: int, rounds: int) -> bool:
    """Print what a call with ``count`` arguments takes; True if the results are those of JAX."""
    jitted = jax.jit(twice_the_sum)
    arrays = [np.arange(8, dtype=np.float32) + number for number in range(count)]
    of_jax = [jax.numpy.asarray(array) for array in arrays]
    compiled: Any = ipu.compile(jitted, args=arrays, target=ipu.Target(tiles_per_ipu=4))
    seconds = least_seconds(
        {
            "jit": lambda: jitted(*of_jax),
            "compiled": lambda: compiled(*of_jax),
            "jit, NumPy": lambda: jitted(*arrays),
            "compiled, NumPy": lambda: compiled(*arrays),
            "run": lambda: compiled.run(arrays),
        },
        times,
        rounds,
    )
    ratios = seconds["compiled"] / seconds["jit"], seconds["compiled, NumPy"] / seconds["jit, NumPy"]
    listed = ", ".join(f"{name} {each * 1e6:.1f} us" for name, each in seconds.items())
    print(f"{count} arguments: {ratios[0]:.2f} of jit, {ratios[1]:.2f} with NumPy's arrays ({listed})")
    return all(np.allclose(compiled(*each), twice_the_sum(*arrays), rtol=1e-6) for each in (arrays, of_jax))


if __name__ == "__main__":
    sys.exit(main())

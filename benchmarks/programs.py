"""How fast programs with state and streams run, beside NumPy by hand that computes in place.

    python -m benchmarks.programs
    python -m benchmarks.programs --smoke

``training``: 100 steps of gradient descent on three dense layers in one run, weights in variables. ``tiny steps``: 1000
steps of three small operations each, on a variable. ``infeed``: the training steps with a batch from an infeed each,
beside the same steps on one batch that is an argument. ``64 replicas``: steps by 64 replicas, each on 16 small images
of its own, beside the same steps on all 1024 by hand. Contenders run in turn; the ratio is that of the fastest runs,
above 1 where ours is faster. On a machine that is busy with something else, ``--cpu`` counts processor time of the
thread that runs: set OPENBLAS_NUM_THREADS=1 with it. Exit status 1: a result is wrong.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.environment import machine
from benchmarks.workloads.arrays import Numbers
from benchmarks.workloads.mlp_inference import parameters
from ipu_mlir.tracing.control.loops import fori_loop

RATE = np.float32(0.01)
CLASSES = 10
Pair = tuple[str, Callable[[], Any], Callable[[], Any], Callable[[], bool]]
"""A name, ours, what stands beside it, and whether ours computes the same."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row per program; gives the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.programs", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--smoke", action="store_true", help="small and once, to see that it runs")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of time on the clock")
    arguments = parser.parse_args(argv)
    clock = time.thread_time if arguments.cpu else time.perf_counter
    for name, value in machine(("numpy", "ipu-mlir")).items():
        print(f"{name}: {value}")
    steps, rounds = (3, 1) if arguments.smoke else (100, arguments.rounds)
    print(f"rounds: {rounds}\n\n{'program':12} {'ours':>11} {'beside it':>11} {'ratio':>6}  result")
    failed = False
    for name, ours, beside, is_right in (
        training(steps),
        tiny_steps(10 * steps),
        with_infeed(steps),
        replicated(steps),
    ):
        right = is_right()
        failed |= not right
        best = [min(times) for times in zip(*(_times(clock, ours, beside) for _ in range(rounds)), strict=True)]
        shown = f"{best[0] * 1e3:8.2f} ms {best[1] * 1e3:8.2f} ms {best[1] / best[0]:6.2f}"
        print(f"{name:12} {shown}  {'right' if right else 'WRONG'}", flush=True)
    return int(failed)


def _times(clock: Callable[[], float], *runs: Callable[[], Any]) -> list[float]:
    found = []
    for run in runs:
        begun = clock()
        run()
        found.append(clock() - begun)
    return found


def _step(x: Any, labels: Any, weights: Sequence[Any], combined: Callable[[Any], Any] = lambda each: each) -> list[Any]:
    """New weights, traced or not; ``combined`` makes of the gradients those that count."""
    w1, b1, w2, b2, w3, b3 = weights
    h1 = np.maximum(x @ w1 + b1, np.float32(0))
    h2 = np.maximum(h1 @ w2 + b2, np.float32(0))
    z = h2 @ w3 + b3
    z = np.exp(z - z.max(axis=1, keepdims=True))
    hot = (labels[:, None] == np.arange(CLASSES, dtype=np.int32)).astype(np.float32)
    z = (z / z.sum(axis=1, keepdims=True) - hot) * np.float32(1 / len(x))
    d2 = (z @ w3.T) * (h2 > 0).astype(np.float32)
    d1 = (d2 @ w2.T) * (h1 > 0).astype(np.float32)
    gradients = combined((x.T @ d1, d1.sum(axis=0), h1.T @ d2, d2.sum(axis=0), h2.T @ z, z.sum(axis=0)))
    return [w - RATE * g for w, g in zip(weights, gradients, strict=True)]


class ByHand:
    """The training step with every array made once."""

    def __init__(self, batch: int, weights: Sequence[np.ndarray]) -> None:
        self.weights = [each.copy() for each in weights]
        sizes = [len(each) for each in self.weights[1::2]]
        self._h = [np.empty((batch, size), np.float32) for size in sizes]
        self._d = [np.empty((batch, size), np.float32) for size in sizes]
        self._on = [np.empty((batch, size), np.bool_) for size in sizes]
        self._g = [np.empty_like(each) for each in self.weights]
        self._row = np.empty((batch, 1), np.float32)
        self._each = np.arange(batch)

    def step(self, x: np.ndarray, labels: np.ndarray) -> None:
        """One step in place."""
        w1, b1, w2, b2, w3, b3 = self.weights
        (h1, h2, z), (d1, d2, _), (on1, on2, _), row = self._h, self._d, self._on, self._row
        for source, w, b, h in ((x, w1, b1, h1), (h1, w2, b2, h2)):
            np.matmul(source, w, out=h)
            np.add(h, b, out=h)
            np.maximum(h, 0, out=h)
        np.matmul(h2, w3, out=z)
        np.add(z, b3, out=z)
        np.max(z, axis=1, keepdims=True, out=row)
        np.subtract(z, row, out=z)
        np.exp(z, out=z)
        np.sum(z, axis=1, keepdims=True, out=row)
        np.divide(z, row, out=z)
        z[self._each, labels] -= 1
        np.multiply(z, np.float32(1 / len(x)), out=z)
        for after, w, h, on, d in ((z, w3, h2, on2, d2), (d2, w2, h1, on1, d1)):
            np.matmul(after, w.T, out=d)
            np.greater(h, 0, out=on)
            np.multiply(d, on, out=d)
        for source, d, place in ((x, d1, 0), (h1, d2, 2), (h2, z, 4)):
            for part, g in ((0, self._g[place]), (1, self._g[place + 1])):
                np.matmul(source.T, d, out=g) if part == 0 else np.sum(d, axis=0, out=g)
                np.multiply(g, RATE, out=g)
                np.subtract(self.weights[place + part], g, out=self.weights[place + part])


def _trained(weights: ipu.Variable, batch: Callable[[Any], tuple[Any, Any]], steps: int) -> Callable[..., None]:
    def train(*given: Any) -> None:
        def body(_: Any, carried: Any) -> Any:
            weights.assign(_step(*batch(given), weights.value))
            return carried

        fori_loop(0, steps, body, ())

    return train


def training(steps: int, size: int = 32) -> Pair:
    """Weights in variables, beside weights in arrays."""
    numbers = Numbers()
    x, labels, first = numbers.normal(size, 784), numbers.classes(CLASSES, size), parameters(numbers)
    weights = ipu.Variable(list(first), name="weights")
    session = ipu.compile(_trained(weights, lambda given: given, steps), args=(x, labels)).session()
    hand = ByHand(size, first)

    def by_hand() -> None:
        for _ in range(steps):
            hand.step(x, labels)

    def is_right() -> bool:
        session(x, labels)
        by_hand()
        return all(np.allclose(a, b, atol=2e-3) for a, b in zip(session["weights"], hand.weights, strict=True))

    return "training", lambda: session(x, labels), by_hand, is_right


def tiny_steps(steps: int, side: int = 64) -> Pair:
    """A small state in a variable, beside two arrays."""
    numbers = Numbers()
    x, w, b = numbers.normal(side, side), numbers.weights(side, side), numbers.normal(side, side, scale=0.1)
    state = ipu.Variable(x, name="state")

    def run(w: Any, b: Any) -> None:
        def body(_: Any, carried: Any) -> Any:
            state.assign(np.tanh(state.value @ w) + b)
            return carried

        fori_loop(0, steps, body, ())

    session = ipu.compile(run, args=(w, b)).session()
    here, aside = x.copy(), np.empty_like(x)

    def by_hand() -> None:
        for _ in range(steps):
            np.matmul(here, w, out=aside)
            np.tanh(aside, out=aside)
            np.add(aside, b, out=here)

    def is_right() -> bool:
        session(w, b)
        by_hand()
        return np.allclose(session["state"], here, atol=2e-2)

    return "tiny steps", lambda: session(w, b), by_hand, is_right


def with_infeed(steps: int, size: int = 32, batches: int = 16) -> Pair:
    """A batch from the host in each step, beside one batch for all."""
    numbers = Numbers()
    data = [(numbers.normal(size, 784), numbers.classes(CLASSES, size)) for _ in range(batches)]
    first = parameters(numbers)

    def forever() -> Any:
        while True:
            yield from data

    queue = ipu.Infeed(forever, like=data[0], name="batches")
    fed = ipu.compile(
        _trained(ipu.Variable(list(first), name="weights"), lambda _: queue.dequeue(), steps), args=()
    ).session()
    alone = ipu.compile(
        _trained(ipu.Variable(list(first), name="weights"), lambda given: given, steps), args=data[0]
    ).session()
    hand = ByHand(size, first)

    def is_right() -> bool:
        fed()
        for number in range(steps):
            hand.step(*data[number % batches])
        return all(np.allclose(a, b, atol=2e-3) for a, b in zip(fed["weights"], hand.weights, strict=True))

    return "infeed", fed, lambda: alone(*data[0]), is_right


def replicated(steps: int, replicas: int = 64, size: int = 16) -> Pair:
    """A step on small images by many replicas, each on data of its own, beside one on all of the data."""
    numbers = Numbers()
    data = [(numbers.normal(size, 64), numbers.classes(CLASSES, size)) for _ in range(replicas)]
    layers = ((64, 32), (32, 32), (32, CLASSES))
    first = [each for a, b in layers for each in (numbers.weights(a, b), np.zeros(b, np.float32))]
    weights = ipu.Variable(list(first), name="weights")

    def forever() -> Any:
        while True:
            yield from data

    queue = ipu.Infeed(forever, like=data[0], name="batches")

    def train() -> None:
        batch = queue.dequeue()

        def body(_: Any, carried: Any) -> Any:
            weights.assign(_step(*batch, weights.value, lambda each: ipu.all_reduce(each, "mean")))
            return carried

        fori_loop(0, steps, body, ())

    session = ipu.compile(train, args=(), target=ipu.Target(replicas=replicas)).session()
    hand = ByHand(replicas * size, first)
    x, labels = (np.concatenate(each) for each in zip(*data, strict=True))

    def by_hand() -> None:
        for _ in range(steps):
            hand.step(x, labels)

    def is_right() -> bool:
        session()
        by_hand()
        return all(np.allclose(a, b, atol=2e-3) for a, b in zip(session["weights"], hand.weights, strict=True))

    return f"{replicas} replicas", session, by_hand, is_right


if __name__ == "__main__":
    sys.exit(main())

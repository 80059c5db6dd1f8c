"""Models of Keras in the scope of an ``IPUStrategy`` beside TensorFlow's own ``fit`` with ``jit_compile=True``.

    python -m benchmarks.keras_fit
    python -m benchmarks.keras_fit --model digits,lstm --rounds 9
    python -m benchmarks.keras_fit --smoke

Both train in one process, in turn, from the same weights on the same data, with ``steps_per_execution=100``. Ratios are
TensorFlow's time over ours, of the best round of each: of the clock, and of the processor, which other programs of the
machine do not slow down. Exit status 1: losses differ.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from benchmarks.environment import machine
from benchmarks.run import names_of
from ipu_mlir.tensorflow import ipu

BATCH, STEPS, EPOCHS = 32, 100, 5


def dense(widths: Sequence[int], optimizer: str) -> Callable[[], Any]:
    """A classifier of flat images."""

    def made() -> Any:
        hidden = [keras.layers.Dense(each, activation="relu") for each in widths[1:-1]]
        return compiled([keras.Input((widths[0],)), *hidden, keras.layers.Dense(widths[-1])], optimizer)

    return made


def cnn() -> Any:
    """A classifier of small images."""
    convolved = [keras.layers.Conv2D(width, 3, activation="relu", padding="same") for width in (8, 16)]
    pooled = [keras.layers.MaxPooling2D(), keras.layers.MaxPooling2D(), keras.layers.Flatten()]
    layers = [keras.Input((8, 8, 1)), convolved[0], pooled[0], convolved[1], *pooled[1:], keras.layers.Dense(10)]
    return compiled(layers, "adam")


def lstm() -> Any:
    """A classifier of images, row by row."""
    return compiled([keras.Input((8, 8)), keras.layers.LSTM(32), keras.layers.Dense(10)], "adam")


def encoder() -> Any:
    """A layer of an encoder over the rows of images, and a classifier."""
    rows = keras.Input((8, 8))
    x = keras.layers.Dense(32)(rows)
    attended = keras.layers.MultiHeadAttention(4, 8)(x, x)
    x = keras.layers.LayerNormalization()(x + attended)
    inner = keras.layers.Dense(32)(keras.layers.Dense(64, activation="gelu")(x))
    x = keras.layers.LayerNormalization()(x + inner)
    pooled = keras.layers.GlobalAveragePooling1D()(x)
    return compiled(keras.Model(rows, keras.layers.Dense(10)(pooled)), "adam")


def compiled(model: Any, optimizer: str) -> Any:
    """A model, or one of a list of layers, that learns classes."""
    model = keras.Sequential(model) if isinstance(model, list) else model
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    options = {"metrics": ["accuracy"], "steps_per_execution": STEPS, "jit_compile": True}
    model.compile(optimizer, loss, **options)
    return model


MODELS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "digits": (dense((64, 32, 10), "sgd"), (64,)),
    "mnist_sgd": (dense((784, 256, 128, 10), "sgd"), (784,)),
    "mnist_adam": (dense((784, 256, 128, 10), "adam"), (784,)),
    "cnn": (cnn, (8, 8, 1)),
    "lstm": (lstm, (8, 8)),
    "encoder": (encoder, (8, 8)),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; gives the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.keras_fit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=names_of(MODELS), default=list(MODELS), help=", ".join(MODELS))
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (default: 7)")
    parser.add_argument("--smoke", action="store_true", help="one round of one model: whether everything works")
    arguments = parser.parse_args(argv)
    rounds = 1 if arguments.smoke else arguments.rounds
    facts = {**machine(("tensorflow-cpu", "keras", "numpy", "ipu-mlir")), "rounds": rounds, "batch": BATCH}
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    print(f"{'model':12} {'ours':>10} {'theirs':>10} {'clock x':>8} {'processor x':>12} {'first steps':>22}  losses")
    names = ["digits"] if arguments.smoke else arguments.model
    return int(not all(list(map(report, names, [rounds] * len(names)))))


def report(name: str, rounds: int) -> bool:
    """Print a line; whether losses agree."""
    make, shape = MODELS[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((BATCH * STEPS, *shape)).astype(np.float32)
    y = rng.integers(0, 10, len(x)).astype(np.int32)
    with ipu.ipu_strategy.IPUStrategy().scope():
        keras.utils.set_random_seed(1)
        ours = make()
    keras.utils.set_random_seed(1)
    theirs = make()
    theirs.set_weights(ours.get_weights())
    first = [fitted(each, x, y, 1) for each in (ours, theirs)]
    turns = [[fitted(each, x, y, EPOCHS) for each in (ours, theirs)] for _ in range(rounds)]
    (clock, work), (their_clock, their_work) = (
        (min(turn[who][0] for turn in turns) / EPOCHS / STEPS, min(turn[who][1] for turn in turns) / EPOCHS / STEPS)
        for who in (0, 1)
    )
    own, other = first[0][2], first[1][2]
    agree = bool(np.allclose(own, other, rtol=1e-3))
    print(
        f"{name:12} {clock * 1e3:7.3f} ms {their_clock * 1e3:7.3f} ms {their_clock / clock:8.2f} "
        f"{their_work / work:12.2f} {first[0][1]:7.2f} s, {first[1][1]:5.2f} s {first[0][1] / first[1][1]:4.1f}"
        f"  {'agree' if agree else f'{own} and {other}'}",
        flush=True,
    )
    return agree


def fitted(model: Any, x: np.ndarray, y: np.ndarray, epochs: int) -> tuple[float, float, list[float]]:
    """Seconds of the clock and of the processor, and the losses."""
    clock, work = time.perf_counter(), time.process_time()
    history = model.fit(x, y, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0)
    return time.perf_counter() - clock, time.process_time() - work, history.history["loss"]


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    sys.exit(main())

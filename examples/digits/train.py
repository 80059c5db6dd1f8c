"""Train a small network on handwritten digits with a training step that is written in MLIR.

The step (network.mlir) is compiled for an IPU of 1472 tiles and runs on the NumPy runtime. A third of the images is
held back and tells how good the network is.

    python examples/digits/train.py [--epochs 40] [--rate 0.5]
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import ipu_mlir as ipu

HERE = Path(__file__).parent
BATCH = 32
Arrays = list[np.ndarray[Any, Any]]


def load_digits() -> tuple[Arrays, Arrays]:
    """Images as rows of 64 values in 0..1 with their classes: two thirds to learn from, one third held back."""
    with np.load(HERE / "digits.npz") as data:
        images = (data["images"].reshape(-1, 64) / 16).astype(np.float32)
        labels = data["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    held_back, learnt = np.split(order, [len(order) // 3])
    return [images[learnt], labels[learnt]], [images[held_back], labels[held_back]]


def initial_weights() -> Arrays:
    """Small random weights and zero biases."""
    rng = np.random.default_rng(1)
    w1 = rng.normal(0, 64**-0.5, (64, 96)).astype(np.float32)
    w2 = rng.normal(0, 96**-0.5, (96, 10)).astype(np.float32)
    return [w1, np.zeros(96, np.float32), w2, np.zeros(10, np.float32)]


def accuracy(predict: ipu.Executable, weights: Arrays, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of images whose class gets the highest score; the last batch is filled up and cut."""
    padded = np.concatenate([images, np.zeros((-len(images) % BATCH, 64), np.float32)])
    scores = [predict.run([padded[at : at + BATCH], *weights])[0] for at in range(0, len(padded), BATCH)]
    return float((np.concatenate(scores)[: len(images)].argmax(axis=1) == labels).mean())


def show_progress(line: str, last: bool) -> None:
    """One line that is written over itself on a terminal, and only its last state elsewhere."""
    if sys.stdout.isatty():
        print(f"\r{line}", end="\n" if last else "", flush=True)
    elif last:
        print(line)


def main() -> None:
    """Train, and show how well and where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--rate", type=float, default=0.5)
    arguments = parser.parse_args()

    target = ipu.Target(ipus=1)
    begin = time.perf_counter()
    step = ipu.compile(HERE / "network.mlir", target=target)
    predict = ipu.compile(HERE / "network.mlir", entry="predict", target=target)
    print(f"compiled for {target.num_tiles} tiles in {time.perf_counter() - begin:.2f} s")

    (images, labels), held_back = load_digits()
    weights = initial_weights()
    rate = np.float32(arguments.rate).reshape(())
    rng = np.random.default_rng(2)
    begin = time.perf_counter()
    for epoch in range(1, arguments.epochs + 1):
        order = rng.permutation(len(images))[: len(images) // BATCH * BATCH].reshape(-1, BATCH)
        losses = []
        for batch in order:
            loss, *weights = step.run([images[batch], labels[batch], rate, *weights])
            losses.append(float(loss))
        steps_per_second = epoch * len(order) / (time.perf_counter() - begin)
        show_progress(
            f"epoch {epoch:3}/{arguments.epochs}  loss {np.mean(losses):.4f}  {steps_per_second:,.0f} steps/s",
            last=epoch == arguments.epochs,
        )
    print(f"accuracy on the {len(held_back[1])} images held back: {accuracy(predict, weights, *held_back):.3f}")
    print("\nwhere the tensors of the training step lie:")
    print(step.placements())


if __name__ == "__main__":
    main()

"""Train a small network on handwritten digits on a simulated IPU, all of an epoch in one run.

The weights are variables on the device. A loop on the device takes batches from an infeed and hands losses to an
outfeed; replicas of the program each take batches of their own and share their gradients. A third of the images is held
back and tells how good the network is.

    python examples/digits/train.py [--epochs 40] [--rate 0.5] [--replicas 4] [--save weights.npz]
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ipu_mlir as ipu

BATCH = 32
HIDDEN = 96
Array = np.ndarray[Any, Any]


def load_digits() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Images as rows of 64 values in 0..1 with their classes: two thirds to learn from, one third held back."""
    with np.load(Path(__file__).parent / "digits.npz") as data:
        images = (data["images"].reshape(-1, 64) / 16).astype(np.float32)
        labels = data["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    held_back, learnt = np.split(order, [len(order) // 3])
    return (images[learnt], labels[learnt]), (images[held_back], labels[held_back])


def weights() -> ipu.Variable:
    """Small random weights and zero biases."""
    rng = np.random.default_rng(1)
    return ipu.Variable(
        {
            "w1": rng.normal(0, 64**-0.5, (64, HIDDEN)).astype(np.float32),
            "b1": np.zeros(HIDDEN, np.float32),
            "w2": rng.normal(0, HIDDEN**-0.5, (HIDDEN, 10)).astype(np.float32),
            "b2": np.zeros(10, np.float32),
        },
        name="network",
    )


def scores(network: Any, images: Any) -> tuple[Any, Any]:
    """How much each class is like each image, shape (images, 10), and what the hidden layer says."""
    hidden = ipu.nn.relu(images @ network["w1"] + network["b1"])
    return hidden @ network["w2"] + network["b2"], hidden


def loss_and_gradient(network: Any, images: Any, labels: Any) -> tuple[Any, dict[str, Any]]:
    """The mean loss of a batch and its slope in each weight, by backpropagation."""
    found, hidden = scores(network, images)
    slope = (ipu.nn.softmax(found) - ipu.nn.one_hot(labels, 10)) / np.float32(len(labels))
    hidden_slope = slope @ network["w2"].T * (hidden > 0)
    return ipu.nn.cross_entropy(found, labels), {
        "w1": images.T @ hidden_slope,
        "b1": np.sum(hidden_slope, axis=0),
        "w2": hidden.T @ slope,
        "b2": np.sum(slope, axis=0),
    }


class Training:
    """The two programs of the demonstration, compiled together: an epoch of training, and classes of images."""

    def __init__(self, learnt: tuple[Array, Array], target: ipu.Target) -> None:
        """Compile them for ``target``, whose replicas share a batch."""
        self._images, self._labels = learnt
        self._each = BATCH // target.replicas
        self.steps = len(self._labels) // BATCH
        self._order = np.random.default_rng(2)
        self._network = weights()
        self._batches = ipu.Infeed(self.batches, name="batches")
        self._losses = ipu.Outfeed(name="losses")
        rate, image = np.float32(0), ipu.TensorSpec((BATCH, 64), np.float32)
        self.programs = ipu.compile(
            {"epoch": self.epoch, "classify": self.classify},
            args={"epoch": [rate], "classify": [image]},
            target=target,
        )

    def batches(self) -> Iterator[tuple[Array, Array]]:
        """Images and classes for one step of one replica, in another order in each epoch, without end."""
        while True:
            order = self._order.permutation(len(self._labels))[: self.steps * BATCH]
            for places in order.reshape(-1, self._each):
                yield self._images[places], self._labels[places]

    def epoch(self, rate: Any) -> None:
        """Every image once: a loop on the device."""

        def step(_: Any, nothing: tuple[()]) -> tuple[()]:
            images, labels = self._batches.dequeue()
            network = self._network.value
            loss, gradient = ipu.all_reduce(loss_and_gradient(network, images, labels), "mean")
            self._network.assign({name: network[name] - rate * gradient[name] for name in network})
            self._losses.enqueue(loss)
            return nothing

        ipu.fori_loop(0, self.steps, step, ())

    def classify(self, images: Any) -> Any:
        """The class of each image."""
        return np.argmax(scores(self._network.value, images)[0], axis=-1)


def accuracy(session: ipu.Session, images: Array, labels: Array) -> float:
    """The share of images whose class is found; the last batch is filled up and cut."""
    padded = np.concatenate([images, np.zeros((-len(images) % BATCH, 64), np.float32)])
    found = [session.run("classify", padded[at : at + BATCH]) for at in range(0, len(padded), BATCH)]
    return float((np.concatenate(found)[: len(images)] == labels).mean())


def curve(values: list[float], width: int = 60) -> str:
    """``values`` as a line of bars, on a logarithmic scale."""
    logs = np.log([float(np.mean(part)) for part in np.array_split(values, min(width, len(values)))])
    heights = (logs - logs.min()) / max(float(np.ptp(logs)), 1e-9) * 7
    return "".join("▁▂▃▄▅▆▇█"[round(float(height))] for height in heights)


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
    parser.add_argument("--replicas", type=int, default=4, choices=[1, 2, 4, 8])
    parser.add_argument("--save", type=Path, help="write the weights to this file")
    arguments = parser.parse_args()

    target = ipu.Target(ipus=1, replicas=arguments.replicas)
    learnt, held_back = load_digits()
    begin = time.perf_counter()
    training = Training(learnt, target)
    print(f"compiled for {target.replicas} replicas of {target.num_tiles} tiles in {time.perf_counter() - begin:.2f} s")
    session = training.programs.session()
    means: list[float] = []
    begin = time.perf_counter()
    for epoch in range(1, arguments.epochs + 1):
        session.run("epoch", np.float32(arguments.rate))
        means.append(float(session.read("losses").mean()))
        rate = epoch * training.steps / (time.perf_counter() - begin)
        show_progress(
            f"epoch {epoch:3}/{arguments.epochs}  loss {means[-1]:.4f}  {rate:,.0f} steps/s",
            last=epoch == arguments.epochs,
        )
    print(f"loss of each epoch {means[0]:.3f} {curve(means)} {means[-1]:.3f}")
    if arguments.save:
        session.save(arguments.save)
        session = training.programs.session()
        session.load(arguments.save)
        print(f"the weights are in {arguments.save}, and in another session")
    print(f"accuracy on the {len(held_back[1])} images held back: {accuracy(session, *held_back):.3f}")
    print("\nwhere the tensors of an epoch lie:")
    print(training.programs["epoch"].placements())


if __name__ == "__main__":
    main()

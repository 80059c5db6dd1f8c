"""What a pipeline takes of the memory of a tile, and in how many cycles, with all that saves memory.

    python -m benchmarks.pipeline_memory

A network of blocks with residuals trains as a pipeline of four stages, by gradient descent with momentum, on two
replicas. Bytes are those of the fullest tile, cycles those of a step without what the host transfers, both as ratios to
the first row. Nothing runs.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir import layers, optimizers

STAGES, COUNT = 4, 16


@dataclass(frozen=True)
class Sizes:
    """Of the network, and of an IPU."""

    rows: int = 96
    size: int = 64
    hidden: int = 256
    tiles: int = 16


@dataclass(frozen=True)
class Way:
    """How the network trains.

    Attributes:
        pipeline: options of ``ipu.pipeline``.
        offload: whether the momentum is in remote memory.
        partition: whether each replica keeps a part of it only.
    """

    name: str
    pipeline: dict[str, Any] = field(default_factory=dict)
    offload: bool = False
    partition: bool = False


WAYS = (
    Way("everything on the chip"),
    Way("element-wise ops computed again", {"recompute": "elementwise"}),
    Way("in a tenth of the forward cycles", {"recompute": 0.1}),
    Way("in three tenths of them", {"recompute": 0.3}),
    Way("everything computed again", {"recompute": "inputs"}),
    Way("interleaved", {"schedule": "interleaved"}),
    Way("stored values in remote memory", {"offload": ["stored"]}),
    Way("momentum in remote memory", offload=True),
    Way("a half of it on each replica", offload=True, partition=True),
    Way("gradients in remote memory", {"offload": ["gradients"]}),
    Way("parameters in remote memory", {"offload": ["parameters"]}),
    Way(
        "all of these",
        {"schedule": "interleaved", "recompute": "inputs", "offload": ["stored", "gradients", "parameters"]},
        offload=True,
        partition=True,
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.pipeline_memory", description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="reduced sizes, and the first two rows alone")
    arguments = parser.parse_args(argv)
    sizes, ways = (Sizes(8, 8, 16, 4), WAYS[:2]) if arguments.smoke else (Sizes(), WAYS)
    print(f"{sizes}, {STAGES} stages, {COUNT} micro-batches, 2 replicas\n")
    print(f"{'':34}{'bytes':>10}{'ratio':>8}{'cycles':>12}{'ratio':>8}")
    first = None
    for way, tile_bytes, cycles in measured(sizes, ways):
        first = (tile_bytes, cycles) if first is None else first
        print(
            f"{way.name:34}{tile_bytes:10,}{tile_bytes / first[0]:8.2f}{cycles:12,}{cycles / first[1]:8.2f}", flush=True
        )
    return 0


def measured(sizes: Sizes, ways: Sequence[Way]) -> Iterator[tuple[Way, int, int]]:
    """The bytes of the fullest tile, and the cycles of a step."""
    for way in ways:
        profile = training(sizes, way).profile()
        yield way, int(max(profile.tile_bytes())), profile.total_cycles - profile.execution.cycles.host


def training(sizes: Sizes, way: Way) -> ipu.Executable:
    """A step of training."""
    inner = [layers.Dense(sizes.size, sizes.hidden, ipu.nn.gelu), layers.Dense(sizes.hidden, sizes.size)]
    blocks = [layers.Residual(layers.Sequential(inner)) for _ in range(STAGES)]
    rng = np.random.default_rng(0)
    weights = ipu.Variable([block.init(rng) for block in blocks], name="weights")
    optimizer = optimizers.attach(optimizers.sgd(0.01, 0.9), weights, offload=way.offload, partition=way.partition)
    stages = [lambda own, x, block=block: block(own, x) for block in blocks]
    pipe = ipu.pipeline(stages, COUNT, reduction="mean", loss=lambda h, y: ((h - y) ** 2).mean(), **way.pipeline)

    def step(x: Any, y: Any) -> Any:
        losses, slopes = pipe.value_and_grad(weights.value, [x, *[None] * (STAGES - 2), y])
        optimizer.assign(ipu.tree_map(lambda slope: ipu.all_reduce(slope, "mean"), slopes))
        return losses.mean()

    data = ipu.per_replica(ipu.TensorSpec((COUNT, sizes.rows, sizes.size)))
    target = ipu.Target(ipus=STAGES, tiles_per_ipu=sizes.tiles, replicas=2)
    return ipu.compile(step, args=(data, data), target=target)


if __name__ == "__main__":
    sys.exit(main())

"""A network of the size of BERT-base, cut into stages for four IPUs: what each layer takes, and where it is cut.

Nothing runs and there are no weights: shapes are enough.

    python examples/cut_bert.py
"""

import numpy as np

import ipu_mlir as ipu
from ipu_mlir import layers

SIZE, HEADS, TOKENS, WORDS, BLOCKS, CLASSES = 768, 12, 128, 30_522, 12, 2


def encoder() -> layers.Sequential:
    """A block: attention, and two dense layers, each added to what it takes, and normalised."""
    feed_forward = layers.Sequential([layers.Dense(SIZE, 4 * SIZE, ipu.nn.gelu), layers.Dense(4 * SIZE, SIZE)])
    attention = layers.Attention(SIZE, HEADS)
    return layers.Sequential(
        [layers.Residual(attention), layers.LayerNorm(SIZE), layers.Residual(feed_forward), layers.LayerNorm(SIZE)]
    )


def network() -> layers.Sequential:
    """Words in, scores of classes for each word out."""
    blocks = [encoder() for _ in range(BLOCKS)]
    return layers.Sequential(
        [layers.Embedding(WORDS, SIZE), layers.LayerNorm(SIZE), *blocks, layers.Dense(SIZE, CLASSES)]
    )


def main() -> None:
    """Cut it, then move a cut by hand."""
    net = network()
    parameters = ipu.tree_map(lambda each: ipu.TensorSpec(each.shape, each.dtype), net.init(0, np.float16))
    found = ipu.cut(net, parameters, ipu.TensorSpec((1, TOKENS), np.int32), stages=4)
    print(f"{'layer':12s}{'cycles':>12s}{'parameters':>14s}{'stored':>12s}")
    for cost in found.costs:
        print(f"{cost.name:12s}{cost.cycles:12,d}{cost.parameter_bytes:14,d}{cost.stored_bytes:12,d}")
    print()
    print(found)
    print("\nwith a block less on the first IPU:\n")
    print(found.at([found.cuts[0] - 1, *found.cuts[1:]]))


if __name__ == "__main__":
    main()

"""Does it fit? Two layers of a BERT-large encoder: from the error of too few tiles to a machine that holds them.

Nothing runs and there are no weights: shapes are enough to know cycles and bytes.

    python examples/bert_memory.py [folder for the profile and its report]
"""

import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools import ipu_report

F16 = np.float16


@dataclass(frozen=True)
class Sizes:
    """Sizes of an encoder; the defaults are those of BERT-large."""

    batch: int = 1
    sequence: int = 512
    hidden: int = 1024
    heads: int = 16
    feed_forward: int = 4096
    layers: int = 2

    def specs(self) -> list[Any]:
        """What ``encoder`` takes: tokens, and the weights of every layer."""
        return [
            spec(self.batch, self.sequence, self.hidden),
            [self.layer_specs() for _ in range(self.layers)],
            self.heads,
        ]

    def layer_specs(self) -> dict[str, Any]:
        """The weights of one layer: six products with their biases, and two norms."""
        width, inner = self.hidden, self.feed_forward
        inputs = {"query": width, "key": width, "value": width, "out": width, "up": width, "down": inner}
        outputs = {**inputs, "up": inner, "down": width}
        dense = {name: (spec(inputs[name], outputs[name]), spec(outputs[name])) for name in inputs}
        return {**dense, "norm1": (spec(width), spec(width)), "norm2": (spec(width), spec(width))}


def spec(*shape: int) -> ipu.TensorSpec:
    """A tensor of half-precision numbers."""
    return ipu.TensorSpec(shape, F16)


@ipu.function
def encoder(x, layers, heads):
    """Hidden states, ``(batch, sequence, hidden)``, after all layers."""
    for layer in layers:
        x = ipu.nn.layer_norm(x + attention(x, layer, heads), *layer["norm1"])
        x = ipu.nn.layer_norm(x + dense(ipu.nn.gelu(dense(x, *layer["up"])), *layer["down"]), *layer["norm2"])
    return x


def attention(x, layer, heads):
    """Every token looks at all others of its sequence."""
    batch, sequence, hidden = x.shape
    by_head = (batch, sequence, heads, hidden // heads)
    query, key, value = (
        dense(x, *layer[name]).reshape(by_head).transpose(0, 2, 1, 3) for name in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) * F16((hidden // heads) ** -0.5)
    seen = (ipu.nn.softmax(scores) @ value).transpose(0, 2, 1, 3)
    return dense(seen.reshape(batch, sequence, hidden), *layer["out"])


def dense(x, weights, bias):
    """A dense layer."""
    return x @ weights + bias


def compiled(sizes: Sizes, target: ipu.Target) -> ipu.Executable:
    """The encoder on ``target``."""
    return ipu.compile(encoder, args=sizes.specs(), target=target)


def main(folder: Path, sizes: Sizes | None = None, tiles: int = 256) -> None:
    """Compile for a part of a chip, read the error and the report, do what is advised first: take the whole chip."""
    sizes, part = sizes or Sizes(), ipu.Target(tiles_per_ipu=tiles)
    print(f"---- on {part.num_tiles:,} tiles ----")
    try:
        compiled(sizes, part)
    except ipu.OutOfMemoryError as error:
        print(error)
        print("\nwhat to try:", *error.problems[0].tries, sep="\n- ")

    print("\n---- on tiles of the same number that are emulated: a warning, and the whole profile ----")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ipu.MemoryWarning)
        profile = compiled(sizes, replace(part, emulated=True)).profile()
    print("warnings:", len(caught))
    print(memory_line(profile))
    profile.save(folder / "part.json")
    ipu_report.main([str(folder / "part.json")])

    whole = ipu.Target()
    print(f"\n---- as advised, on {whole.num_tiles:,} tiles ----")
    profile = compiled(sizes, whole).profile()
    print(memory_line(profile))
    seconds, rate = profile.execution.seconds, profile.execution.flops_per_second
    print(f"{seconds * 1e3:.3f} ms with the transfers of the host, {rate / 1e12:.1f} TFLOP/s")


def memory_line(profile: Profile) -> str:
    """How full the fullest tile is."""
    memory = profile.compilation.memory
    verdict = "it fits" if profile.compilation.fits else "it does not fit"
    return f"{verdict}: {memory.worst_bytes:,} of {memory.limit:,} B on tile {memory.worst_tile}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))

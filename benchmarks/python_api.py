"""What the Python API costs: to trace a transformer encoder, and to call a compiled function beside the bare run.

    python -m benchmarks.python_api
    python -m benchmarks.python_api --smoke

Times are of the processor, the best of several repetitions, after a first one. The results of both are compared with
NumPy outside of the timed part. Exit status 1: one is wrong.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.environment import machine


@dataclass(frozen=True)
class Sizes:
    """Of the encoder."""

    batch: int = 2
    length: int = 32
    width: int = 64
    heads: int = 4
    hidden: int = 128
    layers: int = 2


def parameters(sizes: Sizes, layer: int) -> dict[str, np.ndarray]:
    """The weights of one layer."""
    rng = np.random.default_rng(layer)
    square, wide, tall = (sizes.width,) * 2, (sizes.width, sizes.hidden), (sizes.hidden, sizes.width)
    shapes = {"q": square, "k": square, "v": square, "o": square, "in": wide, "out": tall}
    weights = {name: rng.standard_normal(shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
    biases = {f"{name}_bias": rng.standard_normal(shape[1]) / 8 for name, shape in shapes.items()}
    norms = {f"norm{place}": rng.standard_normal((2, sizes.width)) for place in (1, 2)}
    return {name: array.astype(np.float32) for name, array in {**weights, **biases, **norms}.items()}


def encoder(sizes: Sizes, x: Any, layers: Sequence[dict[str, Any]]) -> Any:
    """A transformer encoder, with norms behind; of traced tensors or of arrays."""
    each = sizes.width // sizes.heads

    def heads(x: Any, p: dict[str, Any], name: str) -> Any:
        projected = x @ p[name] + p[f"{name}_bias"]
        return projected.reshape(sizes.batch, sizes.length, sizes.heads, each).transpose(0, 2, 1, 3)

    for p in layers:
        q, k, v = (heads(x, p, name) for name in "qkv")
        scores = ipu.nn.softmax(q @ k.swapaxes(-1, -2) * np.float32(each**-0.5))
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(sizes.batch, sizes.length, sizes.width)
        x = ipu.nn.layer_norm(x + (mixed @ p["o"] + p["o_bias"]), p["norm1"][0], p["norm1"][1])
        inner = ipu.nn.gelu(x @ p["in"] + p["in_bias"])
        x = ipu.nn.layer_norm(x + (inner @ p["out"] + p["out_bias"]), p["norm2"][0], p["norm2"][1])
    return x


def best_seconds(function: Callable[[], Any], times: int, repeat: int) -> float:
    """Processor time of one call: the least of ``repeat`` measurements of ``times`` calls each."""
    function()
    found = []
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(times):
            function()
        found.append((time.process_time() - start) / times)
    return min(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; gives the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.python_api", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="one layer and few repetitions: whether everything works")
    smoke = parser.parse_args(argv).smoke
    sizes = Sizes(layers=1, length=4) if smoke else Sizes()
    repeat, calls = (1, 10) if smoke else (15, 2000)
    facts = {**machine(("numpy", "ipu-mlir", "torch-mlir")), "repetitions": repeat, "sizes": sizes}
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    return int(not (tracing(sizes, repeat) & calling(calls, repeat)))


def tracing(sizes: Sizes, repeat: int) -> bool:
    """How long it takes to trace the encoder; whether its program is right."""
    x = np.random.default_rng(99).standard_normal((sizes.batch, sizes.length, sizes.width)).astype(np.float32)
    layers = [parameters(sizes, layer) for layer in range(sizes.layers)]
    traced = ipu.function(lambda x, layers: encoder(sizes, x, layers), target=ipu.Target(tiles_per_ipu=16))
    seconds = best_seconds(lambda: traced.trace(x, layers), 1, repeat)
    ops = len(traced.trace(x, layers).body.operations[0].regions[0].blocks[0].operations)
    print(f"tracing {sizes.layers} layers of an encoder, {ops} ops: {seconds * 1e3:.1f} ms")
    return bool(np.allclose(traced(x, layers), encoder(sizes, x, layers), atol=1e-4))


def calling(calls: int, repeat: int) -> bool:
    """How much a call of a function takes above the run of its program; whether results are right."""
    target = ipu.Target(tiles_per_ipu=16)
    layer = ipu.function(lambda x, params: np.tanh(x @ params["w"] + params["b"]), target=target)
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8, 8), (8,)))
    params = {"w": w, "b": b}
    executable = ipu.compile(layer, args=[x, params], target=target)
    flat = [x, w, b]
    run = best_seconds(lambda: executable.run(flat), calls, repeat)
    for name, call in (
        ("@ipu.function", lambda: layer(x, params)),
        ("executable", lambda: executable(x, params)),
    ):
        above = best_seconds(call, calls, repeat) - run
        print(f"calling the {name}: {above * 1e6:.1f} us above the run of {run * 1e6:.1f} us")
    expected = np.tanh(x @ w + b)
    return all(np.allclose(found, expected, atol=1e-6) for found in (layer(x, params), executable.run(flat)[0]))


if __name__ == "__main__":
    sys.exit(main())

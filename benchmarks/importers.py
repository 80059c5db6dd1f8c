"""How long programs of frameworks take to import, beside the framework's own compiler: a ResNet-18 and an encoder.

    python -m benchmarks.importers
    python -m benchmarks.importers --smoke jax torch

Each framework and model is a fresh process that has imported its packages. `import` is from what the framework has to
linalg on tensors, `compile` the rest of `ipu.compile`; `own` is what the framework takes to compile for this
processor: XLA for JAX and TensorFlow, Inductor for PyTorch; there is none for ONNX. Times are of the processor, of all
threads and children together. Results are compared with those of the framework outside of the timed part. Exit
status 1: one is wrong.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import machine

PACKAGES = {"jax": "jax", "tensorflow": "keras", "torch": "torch", "onnx": "onnx"}
MODELS = ("resnet18", "encoder")


@dataclass(frozen=True)
class Sizes:
    """Of both models; the ones of the original papers, but for images of 64 x 64 and an encoder of two layers."""

    width: int = 64
    side: int = 64
    classes: int = 1000
    length: int = 64
    hidden: int = 512
    heads: int = 8


SMOKE = Sizes(width=4, side=32, classes=5, length=4, hidden=8, heads=2)


@dataclass(frozen=True)
class Program:
    """What a framework has: ``source`` for ``args``, how it compiles that itself, and its results."""

    source: Any
    args: list[Any]
    own: Callable[[], Any] | None
    results: Callable[[], Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row per framework and model; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frameworks", nargs="*", help=f"of {', '.join(PACKAGES)}; all that are installed")
    parser.add_argument("--smoke", action="store_true", help="small models")
    parser.add_argument("--repeat", type=int, default=3, help="processes for each; the best time of each kind counts")
    parser.add_argument("--one", choices=MODELS, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if unknown := [each for each in arguments.frameworks if each not in PACKAGES]:
        parser.error(f"{unknown[0]} is none of {', '.join(PACKAGES)}")
    if arguments.one:
        print(json.dumps(times_of(arguments.frameworks[0], arguments.one, SMOKE if arguments.smoke else Sizes())))
        return 0
    for name, value in machine(("numpy", "ipu-mlir", "torch-mlir", *PACKAGES.values())).items():
        print(f"{name}: {value}")
    print(f"processes for each: {arguments.repeat}\n{'':26}{'import':>10}{'compile':>10}{'own':>10}")
    wrong = False
    for framework in arguments.frameworks or PACKAGES:
        if importlib.util.find_spec(PACKAGES[framework]) is None:
            print(f"{framework}: not installed")
            continue
        for model in MODELS:
            found = [_in_a_process(framework, model, arguments.smoke) for _ in range(arguments.repeat)]
            best = [min(each[kind] for each in found) for kind in ("import", "compile", "own")]
            right = all(each["right"] for each in found)
            wrong |= not right
            times = "".join(f"{each:8.2f} s" if each else f"{'-':>10}" for each in best)
            print(f"{framework + ' ' + model:26}{times}  {'right' if right else 'WRONG'}")
    return int(wrong)


def _in_a_process(framework: str, model: str, smoke: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.importers", framework, "--one", model, *["--smoke"] * smoke]
    alone = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=alone)
    if done.returncode:
        raise SystemExit(f"{framework} {model}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def times_of(framework: str, model: str, sizes: Sizes) -> dict[str, Any]:
    """Seconds of each kind, and whether the results are right."""
    warnings.simplefilter("ignore")
    from ipu_mlir.compilation import compiler, sources
    from ipu_mlir.frontends import table

    program = globals()[f"_{framework}"](model, sizes)
    front_end = table.front_end_of(program.source, program.args)
    importlib.import_module(f"ipu_mlir.frontends.from_{front_end.name}")
    begin = _seconds()
    imported = table.import_program(front_end, program.source, program.args, {})
    module = sources.load_module(imported.program)
    middle = _seconds()
    exe = compiler.compile(module)
    end = _seconds()
    found = imported.call.unflatten(_list(exe(*imported.call.flatten(program.args, {}))))
    expected = np.asarray(program.results())
    own = 0.0
    if program.own is not None:
        before = _seconds()
        program.own()
        own = _seconds() - before
    right = np.allclose(np.asarray(found), expected, rtol=1e-3, atol=1e-4 * float(np.abs(expected).max()))
    return {"import": middle - begin, "compile": end - middle, "own": own, "right": bool(right)}


def _seconds() -> float:
    return sum(os.times()[:4])


def _list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple | list) else [results]


def _jax(model: str, sizes: Sizes) -> Program:
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)

    def weight(*shape: int) -> Any:
        return jnp.asarray(rng.standard_normal(shape) * np.prod(shape[:-1]) ** -0.5, jnp.float32)

    def conv(x: Any, p: Any, stride: int) -> Any:
        y = jax.lax.conv_general_dilated(x, p["w"], (stride,) * 2, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (y - p["mean"]) * jax.lax.rsqrt(p["variance"] + 1e-5) * p["scale"] + p["shift"]

    def layer(size: int, old: int, new: int) -> Any:
        names = {"scale": jnp.ones, "variance": jnp.ones, "shift": jnp.zeros, "mean": jnp.zeros}
        return {"w": weight(size, size, old, new)} | {name: make(new) for name, make in names.items()}

    widths = [sizes.width << n for n in range(4)]
    shapes = [(old, new, 1 + (b == 0 < n)) for n, new in enumerate(widths) for b, old in enumerate(_olds(widths, n))]

    def resnet(p: Any, x: Any) -> Any:
        x = jax.nn.relu(conv(x, p["stem"], 2))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for (_, _, stride), block in zip(shapes, p["blocks"], strict=True):
            y = conv(jax.nn.relu(conv(x, block["a"], stride)), block["b"], 1)
            x = jax.nn.relu(y + (conv(x, block["down"], stride) if "down" in block else x))
        return x.mean((1, 2)) @ p["head"]

    def encoder(layers: Any, x: Any) -> Any:
        def norm(x: Any) -> Any:
            return jax.nn.standardize(x, axis=-1)

        for p in layers:
            q, k, v = jnp.split(x @ p["qkv"], 3, -1)
            heads = [each.reshape(*x.shape[:2], sizes.heads, -1) for each in (q, k, v)]
            x = norm(x + jax.nn.dot_product_attention(*heads).reshape(x.shape) @ p["out"])
            x = norm(x + jax.nn.gelu(x @ p["up"]) @ p["down"])
        return x

    if model == "resnet18":
        blocks = [
            {"a": layer(3, old, new), "b": layer(3, new, new)} | ({"down": layer(1, old, new)} if stride > 1 else {})
            for old, new, stride in shapes
        ]
        head = weight(widths[-1], sizes.classes)
        params = {"stem": layer(7, 3, widths[0]), "blocks": blocks, "head": head}
        function, x = resnet, weight(1, sizes.side, sizes.side, 3)
    else:
        d = sizes.hidden
        parts = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
        params = [{name: weight(*shape) for name, shape in parts.items()} for _ in range(2)]
        function, x = encoder, weight(1, sizes.length, d)
    args = [params, x]
    return Program(jax.jit(function), args, lambda: jax.jit(function).lower(*args).compile(), lambda: function(*args))


def _olds(widths: Sequence[int], stage: int) -> tuple[int, int]:
    """How wide the input of each of the two blocks of a stage is."""
    return widths[max(0, stage - 1)], widths[stage]


def _tensorflow(model: str, sizes: Sizes) -> Program:
    import keras
    import tensorflow as tf
    from keras import layers

    keras.utils.set_random_seed(0)

    def conv(x: Any, width: int, size: int, stride: int = 1) -> Any:
        x = layers.Conv2D(width, size, stride, "same", use_bias=False)(x)
        return layers.BatchNormalization()(x)

    if model == "resnet18":
        begin = x = keras.Input((sizes.side, sizes.side, 3), batch_size=1)
        x = layers.MaxPooling2D(3, 2, "same")(layers.ReLU()(conv(x, sizes.width, 7, 2)))
        for stage in range(4):
            for stride in (1 + (stage > 0), 1):
                width = sizes.width << stage
                y = conv(layers.ReLU()(conv(x, width, 3, stride)), width, 3)
                x = layers.ReLU()(layers.Add()([y, conv(x, width, 1, stride) if stride > 1 else x]))
        end = layers.Dense(sizes.classes)(layers.GlobalAveragePooling2D()(x))
    else:
        begin = x = keras.Input((sizes.length, sizes.hidden), batch_size=1)
        for _ in range(2):
            x = layers.LayerNormalization()(
                x + layers.MultiHeadAttention(sizes.heads, sizes.hidden // sizes.heads)(x, x)
            )
            inner = layers.Dense(4 * sizes.hidden, activation="gelu")(x)
            x = layers.LayerNormalization()(x + layers.Dense(sizes.hidden)(inner))
        end = x
    whole = keras.Model(begin, end)
    x = tf.random.stateless_normal(begin.shape, (0, 1))
    compiled = tf.function(lambda x: whole(x), jit_compile=True)
    return Program(whole, [x], lambda: compiled(x), lambda: whole(x))


def _torch_model(model: str, sizes: Sizes) -> tuple[Any, Any]:
    import torch
    from torch import nn

    torch.manual_seed(0)

    def conv(old: int, new: int, size: int, stride: int = 1) -> Any:
        return nn.Sequential(nn.Conv2d(old, new, size, stride, size // 2, bias=False), nn.BatchNorm2d(new))

    class Block(nn.Module):
        def __init__(self, old: int, new: int, stride: int) -> None:
            super().__init__()
            self.a, self.b = conv(old, new, 3, stride), conv(new, new, 3)
            self.down = conv(old, new, 1, stride) if stride > 1 else nn.Identity()

        def forward(self, x: Any) -> Any:
            return (self.b(self.a(x).relu()) + self.down(x)).relu()

    if model == "encoder":
        layer = nn.TransformerEncoderLayer(sizes.hidden, sizes.heads, 4 * sizes.hidden, 0.0, "gelu", batch_first=True)
        whole, shape = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (1, sizes.length, sizes.hidden)
    else:
        widths = [sizes.width << n for n in range(4)]
        blocks = [
            Block(old, new, 1 + (place == 0 < n))
            for n, new in enumerate(widths)
            for place, old in enumerate(_olds(widths, n))
        ]
        stem = (conv(3, widths[0], 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], sizes.classes))
        whole, shape = nn.Sequential(*stem, *blocks, *head), (1, 3, sizes.side, sizes.side)
    for weight in whole.parameters():
        weight.requires_grad_(False)
    return whole.eval(), torch.randn(shape)


def _torch(model: str, sizes: Sizes) -> Program:
    import torch

    whole, x = _torch_model(model, sizes)
    return Program(whole, [x], lambda: torch.compile(whole, fullgraph=True)(x), lambda: whole(x))


def _onnx(model: str, sizes: Sizes) -> Program:
    """What PyTorch exports."""
    import onnx
    import torch

    whole, x = _torch_model(model, sizes)
    torch.backends.mha.set_fastpath_enabled(False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(whole, (x,), path, dynamo=False, opset_version=17)
        exported = onnx.load(path)
    return Program(exported, [x.numpy()], None, lambda: whole(x))


if __name__ == "__main__":
    sys.exit(main())

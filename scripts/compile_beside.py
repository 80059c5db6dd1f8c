"""Time ``ipu.compile`` of models beside the compiler of their framework, and write the rows into ``docs/models.md``.

    python scripts/compile_beside.py                  the models of MODELS, each in a process of its own
    python scripts/compile_beside.py "flax.nnx encoder"

Seconds are of the processor, of all threads and children together, from the model to the end of its first run. Packages
have been imported before. Neither finds kernels of an earlier run.
"""

import importlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "models.md"
BEGIN, END = "<!-- times: scripts/compile_beside.py -->\n", "<!-- end of times -->"
MODELS = (
    "transformers BERT",
    "timm mobilenetv3_small_050",
    "transformers GPT-2",
    "timm resnet18",
    "transformers Llama",
    "timm convnext_atto",
    "transformers ViT",
    "timm efficientnet_lite0",
    "transformers T5",
    "timm MlpMixer",
    "transformers Mamba",
    "timm ghostnet_050",
    "flax.nnx encoder",
    "flax.linen residual network",
    "equinox convolutions",
    "keras MobileNetV2",
    "keras DenseNet121",
    "keras ResNet50",
    "keras EfficientNetB0",
)
_NAMES = {"torch": "Inductor", "jax": "XLA", "keras": "XLA"}


def main(names: tuple[str, ...]) -> None:
    rows = ["| model | `ipu.compile`, s | the framework's compiler | s | ratio |", "|---|---:|---|---:|---:|"]
    for name in names:
        alone = {**os.environ, "IPU_KERNEL_CACHE": "", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        alone["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, env=alone)
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr}")
        kind, ours, theirs = json.loads(done.stdout.splitlines()[-1])
        rows.append(f"| {name} | {ours:.1f} | {_NAMES[kind]} | {theirs:.1f} | {ours / theirs:.2f} |")
        print(rows[-1], flush=True)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(rows) + "\n\n" + END + rest.partition(END)[2])


def times_of(name: str) -> tuple[str, float, float]:
    """The framework, seconds of ours and of its compiler; the sooner one is ours."""
    sys.path.insert(0, str(ROOT / "test" / "e2e"))
    from models.entry import FORWARD
    from models.table import entries

    import ipu_mlir as ipu

    warnings.simplefilter("ignore")
    program = entries()[name].make(FORWARD)
    kind, own = _own(program)
    ipu.compile(lambda x: x + 1, args=[ipu.TensorSpec((4,))])  # imports the compiler
    ours = _seconds(lambda: ipu.compile(program.source, args=list(program.args), kwargs=program.kwargs)(
        *program.args, **program.kwargs
    ))  # fmt: skip
    return kind, ours, _seconds(own)


def _own(program: Any) -> tuple[str, Callable[[], Any]]:
    """The framework of ``program``, and its first run by the compiler of that."""
    if type(program.source).__module__.startswith("keras"):
        import tensorflow as tf

        importlib.import_module("ipu_mlir.frontends.from_tensorflow")
        return "keras", lambda: tf.function(program.source, jit_compile=True)(*program.args)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(program.source, torch.nn.Module):
        for each in ("torch._inductor.compile_fx", "ipu_mlir.frontends.from_torch"):
            importlib.import_module(each)

        def run() -> Any:
            with torch.no_grad():
                return torch.compile(program.source)(*program.args, **program.kwargs)

        return "torch", run
    import jax

    importlib.import_module("ipu_mlir.frontends.from_jax")
    jax.clear_caches()  # the results to compare with came from it
    return "jax", lambda: jax.block_until_ready(jax.jit(program.source)(*program.args))


def _seconds(run: Callable[[], Any]) -> float:
    before = sum(os.times()[:4])
    run()
    return sum(os.times()[:4]) - before


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(times_of(sys.argv[2])))
    else:
        main(tuple(sys.argv[1:]) or MODELS)

"""Which front end takes what is decided without importing any framework."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.frontends.table import FRONT_ENDS, front_end_called, front_end_of, import_program


class Foreign:
    """Stands for an object of a framework."""

    __module__ = "jax.numpy"


def test_a_source_goes_to_the_front_end_of_its_type_or_of_its_arguments():
    def plain(x):
        return x

    assert front_end_of(Foreign()).name == "jax"
    assert front_end_of(plain, [{"a": (Foreign(), 1)}]).name == "jax"
    assert front_end_of(plain, [ipu.TensorSpec((3,))]) is None
    assert front_end_of(ipu.function(plain), [Foreign()]) is None


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "torch"])
def test_a_model_of_keras_goes_to_the_front_end_of_its_backend(backend: str, monkeypatch: pytest.MonkeyPatch):
    model = type("Model", (), {"__module__": "keras.src.models"})()
    config = SimpleNamespace(backend=lambda: backend)
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(config=config))
    assert front_end_of(model).name == front_end_called("keras").name == backend
    config.backend = lambda: "numpy"
    with pytest.raises(ipu.CompileError, match=r"Keras computes with NumPy, .*; set KERAS_BACKEND to"):
        ipu.compile(model, args=[np.ones(3)])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_model_of_keras_runs_on_the_ops_of_its_backend(backend: str):
    for package in ("keras", backend):
        pytest.importorskip(package)
    program = """
        import keras, numpy as np, ipu_mlir as ipu
        layers = [keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.BatchNormalization()]
        model = keras.Sequential([*layers, keras.layers.Flatten(), keras.layers.Dense(5, activation="softmax")])
        x = keras.ops.convert_to_tensor(np.random.default_rng(0).normal(size=(3, 8, 8, 3)).astype("float32"))
        found, expected = map(keras.ops.convert_to_numpy, (ipu.compile(model, args=[x])(x), model(x)))
        np.testing.assert_allclose(found, expected, atol=1e-6)
    """
    environment = {**os.environ, "KERAS_BACKEND": backend}
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, env=environment)


def test_files_are_known_by_their_names():
    assert front_end_of("model.onnx").name == "onnx"
    assert front_end_of("model.mlir") is None
    assert front_end_of("func.func @main() {\n}\n// .onnx") is None


@pytest.mark.parametrize("front_end", FRONT_ENDS, ids=lambda each: each.name)
def test_a_missing_package_is_an_error_that_names_the_extra(front_end, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ipu.CompileError, match=rf"pip install 'ipu-mlir\[{front_end.name}\]'"):
        import_program(front_end, object(), None, {})


def test_compiling_mlir_imports_no_framework():
    program = (
        "import sys, ipu_mlir as ipu\n"
        "ipu.compile('func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\\n return %x : tensor<2xf32>\\n}')\n"
        "print(sorted({'jax', 'torch', 'tensorflow', 'onnx'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"

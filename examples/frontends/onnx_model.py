"""An ONNX file that is made here, and run as any other: from Python, and by ``ipu-run model.onnx``.

python examples/frontends/onnx_model.py
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import ipu_mlir as ipu


def make_model() -> onnx.ModelProto:
    """Two layers and a softmax, for any number of rows."""
    rng = np.random.default_rng(0)
    weights = {"w1": (4, 8), "b1": (8,), "w2": (8, 3), "b2": (3,)}
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "w2", "b2"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 3])],
        [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), name) for name, s in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main() -> None:
    """Write the file, compile it, and compare with the reference of the onnx package."""
    model = make_model()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layers.onnx"
        onnx.save(model, path)
        exe = ipu.compile(path, target=ipu.Target(tiles_per_ipu=16))
    for rows in (2, 5):  # compiled for each number of rows when it comes first
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
        print(f"{rows} rows, as the reference:", np.allclose(exe(x), expected, atol=1e-6))


if __name__ == "__main__":
    main()

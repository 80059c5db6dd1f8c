"""Code of one's own: expressions, functions of the host in libraries, vertex code in files."""

import shutil
import subprocess

import numpy as np
import pytest

from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
custom = ipu.custom_ops
needs_compiler = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("c++")), reason="no compiler of C and C++")
X, Y = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3), np.float32([[1, 2, 3], [4, 5, 6]])


@pytest.fixture(autouse=True)
def strategy():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    yield ipu.ipu_strategy.IPUStrategy()
    ipu.config.reset_ipu_configuration()


def outputs(*shapes):
    return {"output_types": [tf.float32] * len(shapes), "output_shapes": [tf.TensorShape(each) for each in shapes]}


def with_gradients(strategy, function, *values):
    @tf.function(jit_compile=True)
    def run(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            results = function(*given)
            loss = tf.add_n([tf.reduce_sum(each * each) for each in results])
        return [*results, *tape.gradient(loss, given, unconnected_gradients="zero")]

    with strategy.scope():
        return [each.numpy() for each in strategy.run(run, args=tuple(map(tf.constant, values)))]


def test_expressions_broadcast_and_have_gradients(strategy):
    def expression(x, y, z):
        return abs(x) * y - x / z + (2.0 - y) ** 2

    row, number = Y[0], np.float32(4)
    found = with_gradients(strategy, lambda *given: [custom.codelet_expression_op(expression, *given)], X, row, number)
    np.testing.assert_allclose(found[0], expression(X, row, number), rtol=1e-5)
    slope = 2 * found[0]
    np.testing.assert_allclose(found[1], slope * (np.sign(X) * row - 0.25), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[2], (slope * (abs(X) - 2 * (2 - row))).sum(0), rtol=1e-4)
    np.testing.assert_allclose(found[3], (slope * X / 16).sum(), rtol=1e-4)


def test_an_expression_that_uses_not_all_has_the_shape_of_all(strategy):
    with strategy.scope():
        assert custom.codelet_expression_op(lambda x, y: y, X, np.float32(1)).shape == (2, 3)
        assert custom.codelet_expression_op(lambda x: 3.0, X).numpy().tolist() == [[3.0] * 3] * 2


def test_expressions_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="vertex_expression must be a function, got int"):
        custom.codelet_expression_op(3, X)
    with pytest.raises(TypeError, match="takes tensors of one type, got float32, int32; cast some"):
        custom.codelet_expression_op(lambda x, y: x, X, tf.constant(1))
    with pytest.raises(TypeError, match="must give one tensor, got tuple"):
        custom.codelet_expression_op(lambda x: (x, x), X)
    with pytest.raises(ValueError, match="an element from one of each argument, and has Mean, which takes several"):
        custom.codelet_expression_op(lambda x: x - tf.reduce_mean(x), X)


HOST = r"""
#include <cstdint>
#include <string>
#include <vector>
using Data = const std::vector<const void*>&;
using Counts = const std::vector<std::uint32_t>&;
using Text = const std::string&;
extern "C" void Callback(Data data, Counts counts, const std::vector<void*>& outputs, Text attributes, Text name) {
  const float *x = (const float*)data[0], *y = (const float*)data[1];
  for (std::uint32_t i = 0; i < counts[0]; ++i) ((float*)outputs[0])[i] = x[i] * y[i];
  std::size_t sizes = attributes.size() + 100 * name.size() + 1000 * data.size() + 10000 * outputs.size();
  ((float*)outputs[1])[0] = (float)sizes;
}
extern "C" void Callback_grad(Data data, Counts counts, const std::vector<void*>& outputs, Text attributes, Text name,
                              std::uint32_t index) {
  // the gradients of both outputs, both outputs, both inputs
  const float* g = (const float*)data[0];
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const float* other = (const float*)data[outputs.size() == 2 ? 5 - k : 5 - index];
    for (std::uint32_t i = 0; i < counts[0]; ++i) ((float*)outputs[k])[i] = g[i] * other[i] * std::stof(attributes);
  }
}
"""


@needs_compiler
def test_the_host_calls_functions_of_libraries_and_their_gradients(strategy, tmp_path):
    (tmp_path / "op.cc").write_text(HOST)
    library = str(tmp_path / "op.so")
    subprocess.run(["c++", "-std=c++17", "-shared", "-fPIC", str(tmp_path / "op.cc"), "-o", library], check=True)
    text = {"attributes": "a longer text than sixteen", "gradient_attributes": "1.0", "name": "own"}

    def run(**more):
        def operation(x, y):
            return custom.cpu_user_operation([x, y], library, outs=outputs((2, 3), (1,)), **text, **more)

        return with_gradients(strategy, operation, X, Y)

    for found, has_second in (
        (run(), True),
        (run(separate_gradients=True), True),
        (run(inputs_with_gradients=[0], separate_gradients=True), False),
    ):
        np.testing.assert_allclose(found[0], X * Y)
        assert found[1] == [len(text["attributes"]) + 300 + 2000 + 20000]
        np.testing.assert_allclose(found[2], 2 * X * Y * Y, rtol=1e-6)
        np.testing.assert_allclose(found[3], 2 * X * Y * X if has_second else 0 * X, rtol=1e-6)
    with pytest.raises(ValueError, match=r"op.so has no function 'Other'; define it, with extern \"C\""):
        custom.cpu_user_operation([X], library, op_name="Other")


PYTHON = """
import numpy as np

Build_is_elementwise = 1

def Build(inputs, outputs, attributes):
    outputs[0][...] = np.maximum(inputs[0], float(attributes)) * inputs[1]

def Build_cycles(counts):
    return 11 + 12 * counts[0]

def Build_grad(inputs, outputs, attributes, index):
    gradient, result, x, y = inputs
    outputs[0][...] = gradient * y * (x > 0)
    outputs[1][...] = gradient * np.maximum(x, 0)

def Callback(data, outputs, attributes):
    outputs[0][...] = data[0].T

def Callback_grad(data, outputs, attributes, index):
    outputs[0][...] = data[0].T
"""
C = r"""
#include <stdint.h>
void Build(const void *const *inputs, const uint32_t *counts, void *const *outputs, const char *attributes) {
  const float *x = inputs[0], *y = inputs[1];
  float *sums = outputs[0];
  for (uint32_t i = 0; i < counts[2]; ++i) sums[i] = attributes[0] - '0';
  for (uint32_t i = 0; i < counts[0]; ++i) sums[i % counts[2]] += x[i] * y[i];
}
uint64_t Build_cycles(const uint32_t *counts) { return 77 + 5 * counts[0]; }
void Build_grad(const void *const *inputs, const uint32_t *counts, void *const *outputs, const char *attributes,
                int32_t index) {
  const float *gradient = inputs[0], *other = inputs[index ? 2 : 3];
  for (uint32_t i = 0; i < counts[2]; ++i) ((float *)outputs[0])[i] = gradient[i % counts[0]] * other[i];
}
"""


def test_vertex_code_in_python(strategy, tmp_path):
    path = tmp_path / "code.py"
    path.write_text(PYTHON)

    def operation(x, y):
        (found,) = custom.precompiled_user_op([x, y], str(path), outs=outputs((2, 3)), attributes="0")
        (turned,) = custom.cpu_user_operation([found], path, outs=outputs((3, 2)))
        return [turned]

    found = with_gradients(strategy, operation, X, Y)
    product = np.maximum(X, 0) * Y
    np.testing.assert_allclose(found[0], product.T, rtol=1e-6)
    np.testing.assert_allclose(found[1], 2 * product * Y * (X > 0), rtol=1e-6)
    np.testing.assert_allclose(found[2], 2 * product * np.maximum(X, 0), rtol=1e-6)


@needs_compiler
def test_vertex_code_in_c_with_cycles_of_its_own(strategy, tmp_path):
    path = tmp_path / "code.c"
    path.write_text(C)

    def operation(x, y):
        return custom.precompiled_user_op(
            [x, y], str(path), outs=outputs((3,)), attributes="2", separate_gradients=True
        )

    found = with_gradients(strategy, operation, X, Y)
    sums = (X * Y).sum(0) + 2
    np.testing.assert_allclose(found[0], sums, rtol=1e-6)
    np.testing.assert_allclose(found[1], 2 * sums * Y, rtol=1e-6)
    np.testing.assert_allclose(found[2], 2 * sums * X, rtol=1e-6)


@needs_compiler
@pytest.mark.parametrize(("text", "suffix", "cycles"), [(PYTHON, ".py", 11 + 12 * 2), (C, ".c", 77 + 5 * 6)])
def test_vertex_code_runs_on_both_executors_and_costs_what_it_says(text, suffix, cycles, tmp_path):
    import ipu_mlir
    from ipu_mlir.tensorflow.ipu.ops.user_codelets import user_codelet

    path = tmp_path / f"own{suffix}"
    path.write_text(text)
    size = 6 if suffix == ".py" else 3
    specs = [tf.TensorSpec((6,), tf.float32)] * 2
    name = user_codelet(str(path), "Build", specs, [tf.TensorSpec((size,), tf.float32)], "1", 0)
    program = f"""
    func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<{size}xf32> {{
      %0 = stablehlo.custom_call @ipu.codelet(%x, %y) {{mhlo.backend_config = {{name = "{name}"}}}}
        : (tensor<6xf32>, tensor<6xf32>) -> tensor<{size}xf32>
      return %0 : tensor<{size}xf32>
    }}"""
    exe = ipu_mlir.compile(program, target=ipu_mlir.Target(tiles_per_ipu=3))
    x, y = X.ravel(), Y.ravel()
    wanted = np.maximum(x, 1) * y if size == 6 else 1 + (X * Y).reshape(2, 3).sum(0)
    for (found,) in (exe.run([x, y]), PerTileExecutor(exe.module()).run([x, y])):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert exe.profile().execution.cycles.compute == cycles + IPU2.start_cycles


def test_files_that_are_no_vertex_code_are_refused(tmp_path, monkeypatch):
    given = {"outs": outputs((2, 3))}
    with pytest.raises(ValueError, match=r"library_path is 'nowhere.c', where no file is"):
        custom.precompiled_user_op([X], "nowhere.c", **given)
    path = tmp_path / "wrong.c"
    path.write_text("int Build(")
    if shutil.which("cc"):
        with pytest.raises(CompileError, match=r"cc cannot compile .*wrong.c:\n.*wrong.c:1"):
            custom.precompiled_user_op([X], str(path), **given)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match=r"wrong.c needs a compiler, and none of cc, gcc, clang is on the PATH"):
        custom.precompiled_user_op([X], str(path), **given)
    (tmp_path / "wrong.py").write_text("Build = 3")
    with pytest.raises(ValueError, match=r"wrong.py has no function 'Build'; define it"):
        custom.precompiled_user_op([X], str(tmp_path / "wrong.py"), **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outs": {"output_types": []}}, r"outs must be a dictionary of output_types and output_shapes, got"),
        ({"outs": {"output_types": [tf.int32], "output_shapes": []}}, "has 1 output_types and 0 output_shapes"),
        ({"attributes": 3}, "attributes must be a text, got int; as json.dumps makes one"),
        ({"inputs_with_gradients": [1]}, r"inputs_with_gradients is \[1\]; its numbers are from 0 to 0"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, message, tmp_path):
    path = tmp_path / "code.py"
    path.write_text(PYTHON)
    for operation in (custom.cpu_user_operation, custom.precompiled_user_op):
        with pytest.raises(ValueError, match=message):
            operation([X], str(path), **arguments)

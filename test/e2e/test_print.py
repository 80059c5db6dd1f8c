"""``ipu.print``: both executors show the same values in the same order, and profiles show nothing."""

import numpy as np

import ipu_mlir as ipu

TEXT = """
func.func @main(%x: tensor<4xf32>, %n: tensor<3xi8>, %b: tensor<2x2xbf16>, %k: tensor<i32>) -> tensor<4xf32> {
  "ipu.print"(%n) {label = "n", unsigned} : (tensor<3xi8>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k0 = tensor.extract %k[] : tensor<i32>
  %c3 = arith.index_cast %k0 : i32 to index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = linalg.add ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    "ipu.print"(%y) {label = "{y} \\1b\\0a"} : (tensor<4xf32>) -> ()
    scf.yield %y : tensor<4xf32>
  }
  "ipu.print"(%b) {label = "b"} : (tensor<2x2xbf16>) -> ()
  return %r : tensor<4xf32>
}
"""
SHOWN = r"""n: [200 3 8]
{y} \x1b\n: [0. 2. 4. 6.]
{y} \x1b\n: [0. 3. 6. 9.]
{y} \x1b\n: [0. 4. 8. 12.]
b: [[1. 1.] [1. 1.]]
"""


def test_both_executors_show_what_the_program_prints(capfd):
    exe = ipu.compile(TEXT, target=ipu.Target(tiles_per_ipu=4))
    bf16 = exe.argument_specs[2].dtype
    inputs = [np.arange(4, dtype=np.float32), np.array([-56, 3, 8], np.int8), np.ones((2, 2), bf16), np.int32(3)]
    for run in (exe.run, exe.run_per_tile, lambda inputs: exe.session()(*inputs)):
        run(inputs)
        assert capfd.readouterr() == ("", SHOWN)
    steps = exe.profile(inputs).to_json()["compilation"]["steps"]
    assert [step["name"] for step in steps if "print" in step["name"]] == ["print n", "print {y} \x1b\n", "print b"]
    assert capfd.readouterr().err == ""

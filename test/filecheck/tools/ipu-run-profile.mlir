// RUN: ipu-run %s --tiles 4 --ipus 2 --profile %t.json --chrome-trace %t.trace.json | filecheck %s --check-prefix=PRINTED
// RUN: filecheck %s --input-file %t.json --check-prefix=JSON
// RUN: filecheck %s --input-file %t.trace.json --check-prefix=TRACE
// RUN: ipu-run %s --tiles 4 --profile - | filecheck %s --check-prefix=STDOUT
// RUN: ipu-run %s --tiles 4 --ipus 2 --no-run --chrome-trace - | filecheck %s --check-prefix=TRACE

// PRINTED: out0: float32[64] min

// JSON: {"schema":"ipu-mlir.profile","version":4,"producer":{"name":"ipu-mlir","version":"{{[^"]+}}"}
// JSON-SAME: "program":{"entry":"main","source":"ipu-run-profile.mlir","lines":[{"file":"ipu-run-profile.mlir"
// JSON-SAME: "ipus":2,"replicas":1,"tiles_per_ipu":4,"num_tiles":8
// JSON-SAME: "fits":true,"problems":[]
// JSON-SAME: "name":"tanh_f32","location":"ipu-run-profile.mlir:{{[0-9]+}}:{{[0-9]+}}"
// JSON-SAME: "measured":true,"unknown_counts":[]
// JSON-SAME: "name":"linalg.tanh","location":"ipu-run-profile.mlir:{{[0-9]+}}:{{[0-9]+}}"
// JSON-SAME: "executions":5

// TRACE: {"traceEvents":[{"ph":"M","name":"process_name","pid":0,"args":{"name":"IPU 0"}}
// TRACE-SAME: "args":{"name":"IPU 1"}
// TRACE-SAME: "name":"repeat x 5"
// TRACE-SAME: "displayTimeUnit":"ns"

// STDOUT: out0: float32[64]
// STDOUT: {"schema":"ipu-mlir.profile"
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %y = linalg.tanh ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

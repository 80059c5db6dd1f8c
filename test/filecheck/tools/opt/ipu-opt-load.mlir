// The op, the pass and the codelet of the examples, in every tool that compiles.
// RUN: ipu-opt %s --load %S/../Inputs/plugin.py --lower-twice | filecheck %s --check-prefix=LOWERED
// LOWERED: func.func @main
// LOWERED-NOT: zoo.
// LOWERED: arith.addf

// RUN: ipu-opt %s --load %S/../Inputs/plugin.py | filecheck %s
// CHECK: "zoo.twice"(%{{.*}}) {times = 2 : i64}

// RUN: sed 's/times = 2/times = 3/' %s > %t.wrong.mlir
// RUN: not ipu-opt %t.wrong.mlir --load %S/../Inputs/plugin.py 2>&1 | filecheck %s --check-prefix=WRONG
// WRONG: error: 'zoo.twice' op has times 3; it is 2

// RUN: ipu-run %s --load %S/../Inputs/plugin.py --pass-pipeline lower-twice,ipu-compile --tiles 2 --per-tile | filecheck %s --check-prefix=RUNS
// RUNS: out0: float32[4]

// RUN: not ipu-run %s --load %S/../Inputs/plugin.py --planner wole --tiles 2 2>&1 | filecheck %s --check-prefix=PLANNER
// PLANNER: ipu-run: error: no plugin has a planner 'wole'; did you mean 'whole'?

// RUN: not ipu-opt %s --load %S/../Inputs/plugin.py --lower-twice=fail=true --mlir-pass-pipeline-crash-reproducer=%t.again.mlir 2>&1 | filecheck %s --check-prefix=FAILS
// FAILS: 'zoo.twice' op is not to be lowered
// RUN: not ipu-opt --run-reproducer %t.again.mlir 2>&1 | filecheck %s --check-prefix=NAMED
// NAMED: was written with plugins; add --load {{.*}}plugin.py, or --trust-reproducer
// RUN: not ipu-opt --run-reproducer %t.again.mlir --trust-reproducer 2>&1 | filecheck %s --check-prefix=FAILS
// RUN: not ipu-opt --run-reproducer %t.again.mlir --load %S/../Inputs/plugin.py 2>&1 | filecheck %s --check-prefix=FAILS

// RUN: ipu-opt %s --load %S/../Inputs/plugin.py --lower-twice --mlir-disable-threading --debug 2>&1 | filecheck %s --check-prefix=DEBUG
// DEBUG: [pass] lower-twice begins on 'builtin.module' operation, 4 ops
// DEBUG: [pass] lower-twice leaves
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "zoo.twice"(%x) {times = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

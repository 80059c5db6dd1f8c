// RUN: ipu-run %s --tiles 4 --seed 3 --outputs %t.npz | filecheck %s
// RUN: ipu-run %s --tiles 4 --seed 3 --per-tile | filecheck %s
// RUN: ipu-run %s --tiles 4 --seed 3 --kernels=checked | filecheck %s
// RUN: ipu-run %s --tiles 7 --ipus 2 --seed 3 --time | filecheck %s --check-prefixes=CHECK,TIME
// RUN: ipu-run %s --tiles 4 --seed 3 --pass-pipeline='builtin.module(ipu-set-target{tiles=3},ipu-compile)' | filecheck %s
// RUN: ipu-run - --tiles 4 < %s | filecheck %s
// RUN: ipu-run %s --entry other --tiles 4 | filecheck %s --check-prefix=OTHER
// RUN: ipu-run %s --tiles 4 --seed 3 --print-values | filecheck %s --check-prefix=VALUES
// RUN: ipu-run %s --tiles 4 --seed 3 --print-values=5 | filecheck %s --check-prefix=PART
// RUN: ipu-run %s --chip ipu1 --available-memory-proportion 0.2 --no-run --time --profile %t.json | filecheck %s --check-prefix=COMPILED
// RUN: filecheck %s --input-file=%t.json --check-prefix=CHIP
// RUN: ipu-run %s --entry @other --tiles 4 | filecheck %s --check-prefix=OTHER

// VALUES: out0: float32[5, 3]
// VALUES-NEXT: {{^\[\[( *-?[0-9.]+ *,?){3}\],$}}
// VALUES: out1: int32[3]
// VALUES-NEXT: {{^\[([ 0-9]+,){2}[ 0-9]+\]$}}

// PART: out0: float32[5, 3]
// PART: out1: int32[3]

// COMPILED-NOT: out0
// COMPILED: {{^}}compile: {{[0-9.]+}} s{{$}}
// COMPILED-NOT: run

// CHIP: "name":"ipu1"{{.*}}"tiles_per_ipu":1216

// CHECK: out0: float32[5, 3] min {{-?[0-9.e+-]+}} mean {{-?[0-9.e+-]+}} max {{[0-9.e+-]+}}
// CHECK-NEXT: out1: int32[3] min {{[0-9]+}} mean {{[0-9.]+}} max {{[0-9]+}}
// TIME-NEXT: compile: {{[0-9.]+}} s, first run: {{[0-9.]+}} s, run: {{[0-9.]+}} ms
// CHECK-NOT: out
func.func @main(%x: tensor<5x3xf32>, %n: tensor<3xi32>) -> (tensor<5x3xf32>, tensor<3xi32>) {
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.add ins(%x, %x : tensor<5x3xf32>, tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %f = tensor.empty() : tensor<3xi32>
  %m = linalg.mul ins(%n, %n : tensor<3xi32>, tensor<3xi32>) outs(%f : tensor<3xi32>) -> tensor<3xi32>
  return %y, %m : tensor<5x3xf32>, tensor<3xi32>
}

// OTHER: out0: float32[2] min
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

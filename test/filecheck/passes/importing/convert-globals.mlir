// RUN: ipu-opt %s --ipu-convert-globals | filecheck %s

// CHECK: "ipu.variable"() {init = dense<7> : tensor<i64>, sym_name = "global_seed", type = tensor<i64>}
// CHECK-NOT: ml_program
ml_program.global private mutable @global_seed(dense<7> : tensor<i64>) : tensor<i64>

// CHECK-LABEL: func.func @draw
// CHECK: %[[SEED:.*]] = "ipu.read"() {variable = @global_seed} : () -> tensor<i64>
// CHECK: "ipu.assign"(%[[SEED]]) {variable = @global_seed}
func.func @draw() -> tensor<i64> {
  %0 = ml_program.global_load @global_seed : tensor<i64>
  ml_program.global_store @global_seed = %0 : tensor<i64>
  return %0 : tensor<i64>
}

// Verifiers of ours say which op they speak of, as those of MLIR do: its line may be generated.
// RUN: not ipu-opt %s 2>&1 | filecheck %s
// CHECK: ipu-opt-current-operation-invalid.mlir:8:3: error: 'ipu.exchange' op moves
// CHECK-NEXT: {{^}}  "ipu.exchange"(%a, %b)
// CHECK-NEXT: {{^  \^$}}
// CHECK-NEXT: ipu-opt-current-operation-invalid.mlir:8:3: note: see current operation: "ipu.exchange"(%arg0, %arg1) : (memref<4xf32, #ipu.mapping
func.func @f(%a: memref<4xf32, #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>>, %b: memref<5xf32, #ipu.mapping<5, [[5, 5, 1, 0]], 0, 0>>) {
  "ipu.exchange"(%a, %b) : (memref<4xf32, #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>>, memref<5xf32, #ipu.mapping<5, [[5, 5, 1, 0]], 0, 0>>) -> ()
  return
}

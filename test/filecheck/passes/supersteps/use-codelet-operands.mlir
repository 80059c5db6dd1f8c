// RUN: ipu-opt %s --ipu-use-codelet-operands | filecheck %s
// RUN: ipu-opt %s --ipu-set-target=tiles=2 --ipu-place --ipu-lower | filecheck %s --check-prefix=COMPILED

#scalar = affine_map<(i) -> ()>
#own = affine_map<(i) -> (i)>

// The codelet reads the value, though its body does not.
// CHECK-LABEL: func.func @main
// CHECK: library_call = "update_slice"
// CHECK-NEXT: ^bb0(%[[AT:.*]]: index, %[[VALUE:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: arith.select %{{.*}}, %[[AT]], %[[AT]] : index
// CHECK: arith.select %{{.*}}, %[[VALUE]], %[[VALUE]] : f32
// CHECK-NEXT: linalg.yield %[[OLD]]

// What the loop begins with is copied into memory of its own: only the codelet reads it.
// COMPILED-LABEL: func.func @main
// COMPILED: linalg.copy ins(%arg1 : memref<f32
// COMPILED: scf.for
// COMPILED: library_call = "update_slice"
// COMPILED-NEXT: ^bb0
// COMPILED-NEXT: linalg.yield
func.func @main(%x: tensor<4xf32>, %first: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x, %value = %first) -> (tensor<4xf32>, tensor<f32>) {
    %old = tensor.extract %t[%i] : tensor<4xf32>
    %next = tensor.from_elements %old : tensor<f32>
    %put = linalg.generic {indexing_maps = [#scalar, #scalar, #own], iterator_types = ["parallel"], library_call = "update_slice"}
        ins(%i, %value : index, tensor<f32>) outs(%t : tensor<4xf32>) {
    ^bb0(%at: index, %v: f32, %o: f32):
      linalg.yield %o : f32
    } -> tensor<4xf32>
    scf.yield %put, %next : tensor<4xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<f32>
}

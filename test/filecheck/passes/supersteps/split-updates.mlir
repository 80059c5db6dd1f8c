// RUN: ipu-opt %s --ipu-split-updates=most=2 | filecheck %s

// CHECK-LABEL: func.func @the_third_update_goes_on_with_a_copy
// CHECK-COUNT-2: tensor.insert_slice
// CHECK-NEXT: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<4x8xf32>
// CHECK-NEXT: tensor.extract_slice %[[COPY]]
// CHECK-NEXT: tensor.insert_slice %{{.*}} into %[[COPY]]
func.func @the_third_update_goes_on_with_a_copy(%x: tensor<4x8xf32>, %r: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = tensor.insert_slice %r into %x[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
  %1 = tensor.insert_slice %r into %0[1, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
  %s = tensor.extract_slice %1[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %2 = tensor.insert_slice %s into %1[2, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @loops_and_fills_are_updates
// CHECK: linalg.fill
// CHECK-NEXT: %[[LOOP:.*]] = scf.for
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[LOOP]])
// CHECK-NEXT: tensor.insert %{{.*}} into %[[COPY]]
func.func @loops_and_fills_are_updates(%n: index, %f: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %0) -> (tensor<8xf32>) {
    %u = tensor.insert %f into %t[%i] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  %2 = tensor.insert %f into %1[%c0] : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// What a loop carries and a part of a tensor stay where they are.
// CHECK-LABEL: func.func @carried_values_and_parts_are_not_copied
// CHECK-NOT: alloc_tensor
func.func @carried_values_and_parts_are_not_copied(%x: tensor<8x8xf32>, %n: index, %f: f32) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[0, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %0 = tensor.insert %f into %s[%c0, %c0] : tensor<4x8xf32>
  %1 = tensor.insert %f into %0[%c0, %c1] : tensor<4x8xf32>
  %2 = tensor.insert %f into %1[%c1, %c1] : tensor<4x8xf32>
  %y = tensor.insert_slice %2 into %x[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%t = %y) -> (tensor<8x8xf32>) {
    %a = tensor.insert %f into %t[%i, %c0] : tensor<8x8xf32>
    %b = tensor.insert %f into %a[%i, %c1] : tensor<8x8xf32>
    %c = tensor.insert %f into %b[%c1, %i] : tensor<8x8xf32>
    scf.yield %c : tensor<8x8xf32>
  }
  return %z : tensor<8x8xf32>
}

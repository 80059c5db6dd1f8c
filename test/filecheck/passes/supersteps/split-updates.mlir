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

// CHECK-LABEL: func.func @parts_are_not_copied
// CHECK-NOT: alloc_tensor
func.func @parts_are_not_copied(%x: tensor<8x8xf32>, %f: f32) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[0, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %0 = tensor.insert %f into %s[%c0, %c0] : tensor<4x8xf32>
  %1 = tensor.insert %f into %0[%c0, %c1] : tensor<4x8xf32>
  %2 = tensor.insert %f into %1[%c1, %c1] : tensor<4x8xf32>
  %y = tensor.insert_slice %2 into %x[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @what_a_loop_carries_comes_back
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %{{.*}})
// CHECK-COUNT-2: tensor.insert
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy
// CHECK-NEXT: %[[LAST:.*]] = tensor.insert %{{.*}} into %[[COPY]]
// CHECK-NEXT: %[[BACK:.*]] = linalg.copy ins(%[[LAST]] : {{.*}}) outs(%[[T]]
// CHECK-NEXT: scf.yield %[[BACK]]
func.func @what_a_loop_carries_comes_back(%x: tensor<8xf32>, %n: index, %f: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8xf32>) {
    %a = tensor.insert %f into %t[%i] : tensor<8xf32>
    %b = tensor.insert %f into %a[%c0] : tensor<8xf32>
    %c = tensor.insert %f into %b[%c1] : tensor<8xf32>
    scf.yield %c : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// A branch is one update; what it takes from outside lies there again at its end.
// CHECK-LABEL: func.func @branches_bring_back_what_they_update
// CHECK: %[[X:.*]] = linalg.fill
// CHECK: scf.if
// CHECK-COUNT-2: tensor.insert
// CHECK: bufferization.alloc_tensor() copy
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[X]]
func.func @branches_bring_back_what_they_update(%p: i1, %f: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = scf.if %p -> (tensor<8xf32>) {
    %a = tensor.insert %f into %x[%c0] : tensor<8xf32>
    %b = tensor.insert %f into %a[%c1] : tensor<8xf32>
    %c = tensor.insert %f into %b[%c0] : tensor<8xf32>
    scf.yield %c : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @branches_are_updates
// CHECK: %[[X:.*]] = scf.if
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK-NEXT: tensor.insert %{{.*}} into %[[COPY]]
func.func @branches_are_updates(%p: i1, %f: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = scf.if %p -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    %a = tensor.insert %f into %x[%c0] : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  %u = tensor.insert %f into %y[%c0] : tensor<8xf32>
  return %u : tensor<8xf32>
}

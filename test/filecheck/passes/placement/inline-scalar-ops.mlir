// RUN: ipu-opt %s --ipu-inline-scalar-ops | filecheck %s

#point = affine_map<() -> ()>

// CHECK-LABEL: func.func @wrapped_scalars_are_unwrapped
// CHECK-SAME: (%[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-NOT: linalg.generic
// CHECK: %[[S:.*]] = arith.addi %[[X]], %[[Y]] : i32
// CHECK: %[[R:.*]] = tensor.from_elements %[[S]] : tensor<i32>
// CHECK: return %[[R]]
func.func @wrapped_scalars_are_unwrapped(%x: i32, %y: i32) -> tensor<i32> {
  %a = tensor.from_elements %x : tensor<i32>
  %e = tensor.empty() : tensor<i32>
  %r = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
      ins(%a, %y : tensor<i32>, i32) outs(%e : tensor<i32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func.func @tensor_from_outside_stays
// CHECK: linalg.generic
func.func @tensor_from_outside_stays(%a: tensor<i32>, %y: i32) -> tensor<i32> {
  %e = tensor.empty() : tensor<i32>
  %r = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
      ins(%a, %y : tensor<i32>, i32) outs(%e : tensor<i32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func.func @op_that_reads_its_result_stays
// CHECK: linalg.generic
func.func @op_that_reads_its_result_stays(%x: i32, %acc: tensor<i32>) -> tensor<i32> {
  %a = tensor.from_elements %x : tensor<i32>
  %r = linalg.generic {indexing_maps = [#point, #point], iterator_types = []}
      ins(%a : tensor<i32>) outs(%acc : tensor<i32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %o : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func.func @op_with_loops_stays
// CHECK: linalg.generic
func.func @op_with_loops_stays(%x: i32) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : i32) outs(%e : tensor<4xi32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %p : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @one_element_of_several_stays
// CHECK: linalg.generic
func.func @one_element_of_several_stays(%x: i32, %y: i32, %z: i32) -> tensor<i32> {
  %a = tensor.from_elements %x, %y, %z : tensor<3xi32>
  %e = tensor.empty() : tensor<i32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> (2)>, #point], iterator_types = []}
      ins(%a : tensor<3xi32>) outs(%e : tensor<i32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %p : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func.func @element_of_a_larger_result_stays
// CHECK: linalg.generic
func.func @element_of_a_larger_result_stays(%x: i32) -> tensor<3xi32> {
  %e = tensor.empty() : tensor<3xi32>
  %r = linalg.generic {indexing_maps = [#point, affine_map<() -> (1)>], iterator_types = []}
      ins(%x : i32) outs(%e : tensor<3xi32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %p : i32
    linalg.yield %s : i32
  } -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// In a loop, elements of an index that was put together are the integers themselves; those of slices are loaded.
// CHECK-LABEL: func.func @elements_of_an_index_in_a_loop
// CHECK-SAME: (%[[P:.*]]: tensor<9x2xi32>, %[[X:.*]]: tensor<4x4xi32>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[OLD:.*]] =
// CHECK: %[[ROW:.*]] = tensor.extract %[[P]][%[[I]], %{{.*}}]
// CHECK: %[[TWICE:.*]] = arith.addi %[[ROW]], %[[ROW]]
// CHECK: %[[COL:.*]] = tensor.extract %[[P]][%[[I]], %{{.*}}]
// CHECK: %[[R:.*]] = arith.index_cast %[[TWICE]] : i32 to index
// CHECK: %[[C:.*]] = arith.index_cast %[[COL]] : i32 to index
// CHECK: tensor.insert %[[COL]] into %[[OLD]][%[[R]], %[[C]]]
func.func @elements_of_an_index_in_a_loop(%p: tensor<9x2xi32>, %x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %result = scf.for %i = %c0 to %c9 step %c1 iter_args(%old = %x) -> (tensor<4x4xi32>) {
    %e = tensor.empty() : tensor<i32>
    %both = tensor.empty() : tensor<2xi32>
    %row = tensor.extract_slice %p[%i, 0] [1, 1] [1, 1] : tensor<9x2xi32> to tensor<i32>
    %col = tensor.extract_slice %p[%i, 1] [1, 1] [1, 1] : tensor<9x2xi32> to tensor<1xi32>
    %twice = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%row : tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%a: i32, %o: i32):
      %s = arith.addi %a, %a : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    %first = tensor.expand_shape %twice [] output_shape [1] : tensor<i32> into tensor<1xi32>
    %half = tensor.insert_slice %first into %both[0] [1] [1] : tensor<1xi32> into tensor<2xi32>
    %index = tensor.insert_slice %col into %half[1] [1] [1] : tensor<1xi32> into tensor<2xi32>
    %a = tensor.extract %index[%c0] : tensor<2xi32>
    %b = tensor.extract %index[%c1] : tensor<2xi32>
    %r = arith.index_cast %a : i32 to index
    %c = arith.index_cast %b : i32 to index
    %new = tensor.insert %b into %old[%r, %c] : tensor<4x4xi32>
    scf.yield %new : tensor<4x4xi32>
  }
  return %result : tensor<4x4xi32>
}

// Floats are computed on tiles, and so is what is made before the loop.
// CHECK-LABEL: func.func @others_stay_in_a_loop
// CHECK: linalg.generic
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: scf.yield
func.func @others_stay_in_a_loop(%x: tensor<9xf32>, %n: tensor<2xi32>, %start: tensor<9xf32>) -> tensor<9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %m = tensor.empty() : tensor<2xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n : tensor<2xi32>) outs(%m : tensor<2xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<2xi32>
  %result = scf.for %i = %c0 to %c9 step %c1 iter_args(%old = %start) -> (tensor<9xf32>) {
    %e = tensor.empty() : tensor<f32>
    %one = tensor.extract_slice %x[%i] [1] [1] : tensor<9xf32> to tensor<f32>
    %exp = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%one : tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    %v = tensor.extract %exp[] : tensor<f32>
    %at = tensor.extract %made[%c1] : tensor<2xi32>
    %place = arith.index_cast %at : i32 to index
    %new = tensor.insert %v into %old[%place] : tensor<9xf32>
    scf.yield %new : tensor<9xf32>
  }
  return %result : tensor<9xf32>
}

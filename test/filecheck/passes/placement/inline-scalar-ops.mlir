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

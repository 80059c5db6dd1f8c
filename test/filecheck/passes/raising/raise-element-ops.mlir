// RUN: ipu-opt %s --ipu-raise-element-ops | filecheck %s

// CHECK-LABEL: func.func @insert_becomes_an_update_of_one_element
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[V:.*]]: f32, %[[I:.*]]: index)
// CHECK-NOT: tensor.insert
// CHECK: linalg.generic {{.*}}library_call = "update_slice"} ins(%[[I]], %[[V]] : index, f32) outs(%[[X]] : tensor<4xf32>)
func.func @insert_becomes_an_update_of_one_element(%x: tensor<4xf32>, %v: f32, %i: index) -> tensor<4xf32> {
  %y = tensor.insert %v into %x[%i] : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @insert_into_rank_zero
// CHECK-NOT: tensor.insert
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<f32>)
func.func @insert_into_rank_zero(%x: tensor<f32>, %v: f32) -> tensor<f32> {
  %y = tensor.insert %v into %x[] : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @extract_becomes_a_gather_of_one_element
// CHECK: %[[ONE:.*]] = linalg.generic
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<2x3xf32>
// CHECK: } -> tensor<f32>
// CHECK: %[[V:.*]] = tensor.extract %[[ONE]][] : tensor<f32>
// CHECK: return %[[V]]
func.func @extract_becomes_a_gather_of_one_element(%x: tensor<2x3xf32>, %i: index, %j: index) -> f32 {
  %v = tensor.extract %x[%i, %j] : tensor<2x3xf32>
  return %v : f32
}

// CHECK-LABEL: func.func @extract_of_rank_zero_stays
// CHECK-NOT: linalg.generic
// CHECK: tensor.extract
func.func @extract_of_rank_zero_stays(%x: tensor<f32>) -> f32 {
  %v = tensor.extract %x[] : tensor<f32>
  return %v : f32
}

// CHECK-LABEL: func.func @from_elements_becomes_a_fill_and_updates
// CHECK-NOT: tensor.from_elements
// CHECK: linalg.fill ins(%[[A:.*]] : f32)
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @from_elements_becomes_a_fill_and_updates(%a: f32, %b: f32, %c: f32) -> tensor<4xf32> {
  %y = tensor.from_elements %a, %b, %a, %c : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @extract_in_a_body_stays
// CHECK-COUNT-1: linalg.generic
// CHECK: tensor.extract
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @extract_in_a_body_stays(%x: tensor<8xf32>, %indices: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%indices : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%at: index, %b: f32):
    %v = tensor.extract %x[%at] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @generated_tensor
// CHECK-SAME: (%[[K:.*]]: i64)
// CHECK-NOT: tensor.generate
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK: %[[S:.*]] = arith.addi %[[I]], %[[J]]
// CHECK: %[[V:.*]] = arith.index_cast %[[S]]
// CHECK: %[[R:.*]] = arith.muli %[[V]], %[[K]]
// CHECK: linalg.yield %[[R]]
func.func @generated_tensor(%k: i64) -> tensor<2x3xi64> {
  %y = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i64
    %r = arith.muli %v, %k : i64
    tensor.yield %r : i64
  } : tensor<2x3xi64>
  return %y : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @load_in_a_generated_tensor
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: tensor.extract %{{.*}}[%[[I]]] : tensor<8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @load_in_a_generated_tensor(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = tensor.generate {
  ^bb0(%i: index):
    %v = tensor.extract %x[%i] : tensor<8xf32>
    tensor.yield %v : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// What is read of a tensor is read before an element of it is written, which needs no copy then.
// CHECK-LABEL: func.func @elements_change_places
// CHECK-SAME: (%[[X:.*]]: tensor<8xi32>, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: tensor.extract %[[X]][%[[J]]]
// CHECK: tensor.extract %[[X]][%[[I]]]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}library_call = "update_slice"{{.*}} outs(%[[X]]
// CHECK: linalg.generic {{.*}}library_call = "update_slice"{{.*}} outs(%[[Y]]
func.func @elements_change_places(%x: tensor<8xi32>, %i: index, %j: index) -> tensor<8xi32> {
  %there = tensor.extract %x[%j] : tensor<8xi32>
  %y = tensor.insert %there into %x[%i] : tensor<8xi32>
  %here = tensor.extract %x[%i] : tensor<8xi32>
  %z = tensor.insert %here into %y[%j] : tensor<8xi32>
  return %z : tensor<8xi32>
}

// CHECK-LABEL: func.func @place_that_is_known_later_is_read_later
// CHECK: library_call = "update_slice"
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<8xi32>
func.func @place_that_is_known_later_is_read_later(%x: tensor<8xi32>, %v: i32, %i: index) -> (tensor<8xi32>, i32) {
  %y = tensor.insert %v into %x[%i] : tensor<8xi32>
  %j = arith.addi %i, %i : index
  %here = tensor.extract %x[%j] : tensor<8xi32>
  return %y, %here : tensor<8xi32>, i32
}

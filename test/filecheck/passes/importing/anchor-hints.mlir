// RUN: ipu-opt %s --ipu-anchor-hints | filecheck %s

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[COLUMNS:m[0-9]+]] = #ipu.mapping<12, {{\[}}[3, 3, 4, 0], [2, 4, 1, 1]], 0, 5>
// CHECK-DAG: #[[REDUCED:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 1>

// CHECK-LABEL: func.func @parts_of_an_op_become_a_place_of_its_result
// CHECK: %[[SUM:.*]] = linalg.add ins
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[SUM]]) {mapping = #[[HALVES]]}
// CHECK-NEXT: return %[[PLACED]]
func.func @parts_of_an_op_become_a_place_of_its_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @all_users_take_the_placed_value
// CHECK: %[[SUM:.*]] = linalg.add
// CHECK-NOT: ipu.parts
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[SUM]]) {mapping = #[[COLUMNS]]}
// CHECK-NEXT: linalg.exp ins(%[[PLACED]]
// CHECK: linalg.log ins(%[[PLACED]]
func.func @all_users_take_the_placed_value(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.add {ipu.parts = #ipu.parts<[[3, 3, 0], [2, 4, 1]], 5>}
      ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%y : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = linalg.log ins(%y : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z, %w : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @reduction_places_its_smaller_result
// CHECK: linalg.reduce
// CHECK: "ipu.place"({{.*}}) {mapping = #[[REDUCED]]} : (tensor<4xf32>)
func.func @reduction_places_its_smaller_result(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) dimensions = [0]
      {ipu.parts = #ipu.parts<[[3, 3, 0], [2, 4, 1]], 1>}
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_hint_no_place
// CHECK-NOT: ipu.place
func.func @no_hint_no_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @hint_on_a_constant
// CHECK: %[[C:.*]] = arith.constant dense
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[C]]) {mapping = #[[HALVES]]}
// CHECK-NEXT: return %[[PLACED]]
func.func @hint_on_a_constant() -> tensor<4xf32> {
  %c = arith.constant {ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// The memory that an op fills is its result.
// CHECK-LABEL: func.func @hint_on_an_empty_tensor
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[Y:.*]] = linalg.exp {{.*}} outs(%[[E]]
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[Y]]) {mapping = #[[HALVES]]}
// CHECK-NEXT: return %[[PLACED]]
func.func @hint_on_an_empty_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() {ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>} : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @empty_tensor_that_is_returned
// CHECK: %[[E:.*]] = tensor.empty
// CHECK-NEXT: "ipu.place"(%[[E]]) {mapping = #[[HALVES]]}
func.func @empty_tensor_that_is_returned() -> tensor<4xf32> {
  %e = tensor.empty() {ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>} : tensor<4xf32>
  return %e : tensor<4xf32>
}

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @mappings_in_types
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {ipu.map = #[[HALVES]]}, %[[N:.*]]: index) -> (tensor<4xf32>, tensor<2xf32>)
// CHECK: %[[Y:.*]] = math.exp %[[X]] : tensor<4xf32>
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[Y]]) {mapping = #[[HALVES]]}
// CHECK: %[[S:.*]] = tensor.extract_slice %[[PLACED]]{{.*}} : tensor<4xf32> to tensor<2xf32>
// CHECK-NOT: ipu.place
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[PLACED]]) -> (tensor<4xf32>)
// CHECK-NOT: ipu.place
func.func @mappings_in_types(%x: tensor<4xf32, #halves>, %n: index) -> (tensor<4xf32, #halves>, tensor<2xf32, #halves>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = math.exp %x : tensor<4xf32, #halves>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32, #halves> to tensor<2xf32, #halves>
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %y) -> tensor<4xf32, #halves> {
    scf.yield %t : tensor<4xf32, #halves>
  }
  return %r, %s : tensor<4xf32, #halves>, tensor<2xf32, #halves>
}

// CHECK-LABEL: func.func @constant_and_cast_with_mappings
// CHECK: %[[C:.*]] = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK: "ipu.place"(%[[C]]) {mapping = #[[HALVES]]} : (tensor<4xi32>) -> tensor<4xi32>
// CHECK: "ipu.place"(%{{.*}}) {mapping = #[[REDUCED]]} : (tensor<4xi32>) -> tensor<4xi32>
func.func @constant_and_cast_with_mappings() -> tensor<4xi32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 1>> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32, #halves>
  %y = tensor.cast %c : tensor<4xi32, #halves> to tensor<4xi32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 1>>
  return %y : tensor<4xi32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 1>>
}

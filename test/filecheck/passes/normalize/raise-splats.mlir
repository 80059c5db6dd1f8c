// RUN: ipu-opt %s --ipu-raise-splats | filecheck %s

#id = affine_map<(i) -> (i)>
#point = affine_map<(i) -> ()>

// CHECK-LABEL: func.func @constant_from_outside_becomes_a_fill
// CHECK: %[[C:.*]] = arith.constant 2.0{{.*}} : f32
// CHECK: %[[E:.*]] = tensor.empty
// CHECK-NOT: linalg.generic
// CHECK: linalg.fill ins(%[[C]] : f32) outs(%[[E]] : tensor<4xf32>)
func.func @constant_from_outside_becomes_a_fill() -> tensor<4xf32> {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%b: f32):
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @rank_zero_constant_becomes_a_fill
// CHECK-DAG: %[[C:.*]] = arith.constant 3 : i32
// CHECK: linalg.fill ins(%[[C]] : i32)
func.func @rank_zero_constant_becomes_a_fill() -> tensor<4xi32> {
  %c = arith.constant dense<3> : tensor<i32>
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#point, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<i32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    linalg.yield %a : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// CHECK-LABEL: func.func @broadcast_of_an_argument_stays
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
func.func @broadcast_of_an_argument_stays(%x: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#point, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @spread_constants_that_differ_stay
// CHECK-NOT: linalg.fill
func.func @spread_constants_that_differ_stay() -> tensor<2x2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%c : tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @computing_body_stays
// CHECK-NOT: linalg.fill
func.func @computing_body_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @library_codelet_stays
// CHECK-NOT: linalg.fill
// CHECK: library_call = "sort"
func.func @library_codelet_stays(%e: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 2.0 : f32
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"], library_call = "sort"}
      outs(%e : tensor<4xf32>) {
  ^bb0(%b: f32):
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @splat_becomes_a_fill
// CHECK-SAME: (%[[C:.*]]: f32)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NOT: tensor.splat
// CHECK: linalg.fill ins(%[[C]] : f32) outs(%[[E]] : tensor<2x3xf32>)
func.func @splat_becomes_a_fill(%c: f32) -> tensor<2x3xf32> {
  %y = tensor.splat %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @what_follows_from_constants_is_computed_here
// CHECK: %[[C:.*]] = arith.constant -6.0{{.*}} : f32
// CHECK-NOT: linalg.generic
// CHECK: linalg.fill ins(%[[C]] : f32)
func.func @what_follows_from_constants_is_computed_here() -> tensor<4xf32> {
  %c = arith.constant 2.0 : f32
  %d = arith.constant dense<3.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%f, %d : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @what_an_index_or_the_output_gives_stays
// CHECK-NOT: linalg.fill
// CHECK-COUNT-2: linalg.generic
func.func @what_an_index_or_the_output_gives_stays(%x: tensor<4xf32>) -> (tensor<4xindex>, tensor<4xf32>) {
  %c = arith.constant 2 : index
  %d = arith.constant dense<3.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xindex>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %m = arith.muli %i, %c : index
    linalg.yield %m : index
  } -> tensor<4xindex>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%d : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %a, %o : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<4xindex>, tensor<4xf32>
}

// CHECK-LABEL: func.func @a_product_of_few_constants_is_computed_here
// CHECK: %[[C:.*]] = arith.constant 16 : i32
// CHECK-NOT: linalg.generic
// CHECK: linalg.fill ins(%[[C]] : i32)
func.func @a_product_of_few_constants_is_computed_here() -> tensor<i32> {
  %one = arith.constant 1 : i32
  %c = arith.constant dense<2> : tensor<4xi32>
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %y = linalg.generic {indexing_maps = [#id, #point], iterator_types = ["reduction"]}
      ins(%c : tensor<4xi32>) outs(%f : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %m = arith.muli %o, %a : i32
    linalg.yield %m : i32
  } -> tensor<i32>
  return %y : tensor<i32>
}

// CHECK-LABEL: func.func @sums_of_many_or_of_what_is_given_stay
// CHECK-COUNT-2: linalg.generic
func.func @sums_of_many_or_of_what_is_given_stay(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %many = arith.constant dense<2.0> : tensor<65xf32>
  %few = arith.constant dense<2.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #point], iterator_types = ["reduction"]}
      ins(%many : tensor<65xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %z = linalg.generic {indexing_maps = [#id, #point], iterator_types = ["reduction"]}
      ins(%few : tensor<4xf32>) outs(%x : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y, %z : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @a_constant_is_rounded_here
// CHECK: %[[C:.*]] = arith.constant 1.0{{.*}}e-01 : f32
// CHECK-NOT: arith.truncf
// CHECK: linalg.fill ins(%[[C]] : f32)
func.func @a_constant_is_rounded_here() -> tensor<4xf32> {
  %c = arith.constant 0.1 : f64
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %m = arith.truncf %c : f64 to f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

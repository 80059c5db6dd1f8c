// RUN: ipu-opt %s --ipu-raise-extremes | filecheck %s

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What JAX writes: the first NaN is kept, and the least place of equals.
// CHECK-LABEL: func.func @first_nan_is_found
// CHECK: tensor.expand_shape %{{.*}} : tensor<4x8xf32> into tensor<4x8x1xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"], library_call = "first_maximum_or_nan"}
// CHECK-SAME: outs(%{{.*}} : tensor<4x1xindex>)
// CHECK: linalg.generic
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK-NOT: "reduction"
// CHECK: return
func.func @first_nan_is_found(%x: tensor<4x8xf32>) -> tensor<4xi32> {
  %worst = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xi32>
  %best = linalg.fill ins(%worst : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %at = linalg.fill ins(%zero : i32) outs(%f : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%best, %at : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%new: f32, %old: f32, %place: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %greater = arith.cmpf ogt, %old, %new : f32
    %nan = arith.cmpf une, %old, %old : f32
    %keeps = arith.ori %greater, %nan : i1
    %same = arith.cmpf oeq, %old, %new : f32
    %before = arith.cmpi slt, %place, %here : i32
    %tie = arith.andi %same, %before : i1
    %keeps_place = arith.ori %keeps, %tie : i1
    %a = arith.select %keeps, %old, %new : f32
    %b = arith.select %keeps_place, %place, %here : i32
    linalg.yield %a, %b : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// One place among many elements: the extreme, and the lowest number of an element that equals it.
// CHECK-LABEL: func.func @long
// CHECK-SAME: (%[[X:.*]]: tensor<9000xf32>)
// CHECK: %[[BEST:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[X]] : tensor<9000xf32>)
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[X]], %[[BEST]] : tensor<9000xf32>, tensor<f32>)
// CHECK: arith.minsi
// CHECK-NOT: library_call
func.func @long(%x: tensor<9000xf32>) -> tensor<i32> {
  %worst = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<i32>
  %best = linalg.fill ins(%worst : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %at = linalg.fill ins(%zero : i32) outs(%f : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<9000xf32>) outs(%best, %at : tensor<f32>, tensor<i32>) {
  ^bb0(%new: f32, %old: f32, %place: i32):
    %j = linalg.index 0 : index
    %here = arith.index_cast %j : index to i32
    %greater = arith.cmpf ogt, %old, %new : f32
    %nan = arith.cmpf une, %old, %old : f32
    %keeps = arith.ori %greater, %nan : i1
    %same = arith.cmpf oeq, %old, %new : f32
    %before = arith.cmpi slt, %place, %here : i32
    %tie = arith.andi %same, %before : i1
    %keeps_place = arith.ori %keeps, %tie : i1
    %a = arith.select %keeps, %old, %new : f32
    %b = arith.select %keeps_place, %place, %here : i32
    linalg.yield %a, %b : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#1 : tensor<i32>
}

// What torch writes, of a computed term: nothing is found behind a NaN, and the extreme is a reduction by itself.
// CHECK-LABEL: func.func @nothing_behind_a_nan
// CHECK: %[[TERM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
// CHECK: arith.negf
// CHECK: library_call = "first_minimum"}
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[TERM]] : tensor<4x8xf32>)
// CHECK: arith.minimumf
func.func @nothing_behind_a_nan(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %worst = arith.constant 0x7F800000 : f32
  %none = arith.constant -1 : i64
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xi64>
  %best = linalg.fill ins(%worst : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %at = linalg.fill ins(%none : i64) outs(%f : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%best, %at : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %old: f32, %place: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %new = arith.negf %in : f32
    %a = arith.minimumf %old, %new : f32
    %less = arith.cmpf olt, %new, %old : f32
    %b = arith.select %less, %here, %place : i64
    linalg.yield %a, %b : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// What XLA writes: a NaN is always taken, and never kept.
// CHECK-LABEL: func.func @anew_after_a_nan
// CHECK: library_call = "first_maximum_after_nan"}
// CHECK: tensor.extract
func.func @anew_after_a_nan(%x: tensor<8xf32>) -> (tensor<f32>, tensor<i32>) {
  %worst = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<i32>
  %best = linalg.fill ins(%worst : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %at = linalg.fill ins(%zero : i32) outs(%f : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>, affine_map<(j) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%best, %at : tensor<f32>, tensor<i32>) {
  ^bb0(%new: f32, %old: f32, %place: i32):
    %j = linalg.index 0 : index
    %here = arith.index_cast %j : index to i32
    %keeps = arith.cmpf oge, %old, %new : f32
    %a = arith.select %keeps, %old, %new : f32
    %same = arith.cmpf oeq, %old, %new : f32
    %least = arith.minsi %place, %here : i32
    %other = arith.select %keeps, %place, %here : i32
    %b = arith.select %same, %least, %other : i32
    linalg.yield %a, %b : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}

// CHECK-LABEL: func.func @the_last_of_equals_stays
// CHECK-NOT: library_call
func.func @the_last_of_equals_stays(%x: tensor<4x8xi32>) -> tensor<4xi32> {
  %worst = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %best = linalg.fill ins(%worst : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %at = linalg.fill ins(%zero : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xi32>) outs(%best, %at : tensor<4xi32>, tensor<4xi32>) {
  ^bb0(%new: i32, %old: i32, %place: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %a = arith.maxsi %old, %new : i32
    %taken = arith.cmpi sge, %new, %old : i32
    %b = arith.select %taken, %here, %place : i32
    linalg.yield %a, %b : i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

// CHECK-LABEL: func.func @a_start_above_the_lowest_number_stays
// CHECK-NOT: library_call
func.func @a_start_above_the_lowest_number_stays(%x: tensor<4x8xi32>) -> tensor<4xi32> {
  %worst = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %best = linalg.fill ins(%worst : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xi32>) outs(%best, %best : tensor<4xi32>, tensor<4xi32>) {
  ^bb0(%new: i32, %old: i32, %place: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %a = arith.maxsi %old, %new : i32
    %taken = arith.cmpi sgt, %new, %old : i32
    %b = arith.select %taken, %here, %place : i32
    linalg.yield %a, %b : i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>)
  return %r#1 : tensor<4xi32>
}

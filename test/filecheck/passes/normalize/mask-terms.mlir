// RUN: ipu-opt %s --ipu-mask-terms | filecheck %s

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @sum
// CHECK: ^bb0(%[[C:.*]]: i1, %[[X:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK: %[[NOTHING:.*]] = arith.constant -0.0{{.*}} : f32
// CHECK: %[[TERM:.*]] = arith.select %[[C]], %[[X]], %[[NOTHING]] : f32
// CHECK: %[[TOTAL:.*]] = arith.addf %[[SUM]], %[[TERM]] fastmath<nnan> : f32
// CHECK-NEXT: linalg.yield %[[TOTAL]]
func.func @sum(%c: tensor<4x5xi1>, %x: tensor<4x5xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#in, #in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%c, %x : tensor<4x5xi1>, tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%b: i1, %a: f32, %sum: f32):
    %more = arith.addf %a, %sum fastmath<nnan> : f32
    %new = arith.select %b, %more, %sum : f32
    linalg.yield %new : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @product_of_those_that_are_not_chosen
// CHECK: ^bb0(%[[C:.*]]: i1, %[[X:.*]]: i32, %[[PRODUCT:.*]]: i32):
// CHECK: %[[NOTHING:.*]] = arith.constant 1 : i32
// CHECK: %[[FACTOR:.*]] = arith.select %[[C]], %[[NOTHING]], %[[X]] : i32
// CHECK: arith.muli %[[PRODUCT]], %[[FACTOR]] : i32
func.func @product_of_those_that_are_not_chosen(%c: tensor<4x5xi1>, %x: tensor<4x5xi32>, %start: tensor<4xi32>) -> tensor<4xi32> {
  %y = linalg.generic {indexing_maps = [#in, #in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%c, %x : tensor<4x5xi1>, tensor<4x5xi32>) outs(%start : tensor<4xi32>) {
  ^bb0(%b: i1, %a: i32, %product: i32):
    %more = arith.muli %product, %a : i32
    %new = arith.select %b, %product, %more : i32
    linalg.yield %new : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// The condition depends on the running value: a sum that is bounded.
// CHECK-LABEL: func.func @bounded
// CHECK: %[[MORE:.*]] = arith.addf
// CHECK: arith.select %{{.*}}, %[[MORE]], %{{.*}} : f32
func.func @bounded(%x: tensor<4x5xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %limit = arith.constant 9.0 : f32
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %more = arith.addf %sum, %a : f32
    %small = arith.cmpf olt, %more, %limit : f32
    %new = arith.select %small, %more, %sum : f32
    linalg.yield %new : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A choice between the sum and something else.
// CHECK-LABEL: func.func @begins_again
// CHECK: %[[MORE:.*]] = arith.addf
// CHECK: arith.select %{{.*}}, %[[MORE]], %{{.*}} : f32
func.func @begins_again(%c: tensor<4x5xi1>, %x: tensor<4x5xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#in, #in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%c, %x : tensor<4x5xi1>, tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%b: i1, %a: f32, %sum: f32):
    %more = arith.addf %sum, %a : f32
    %new = arith.select %b, %more, %a : f32
    linalg.yield %new : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// There is no -0.0 in this type.
// CHECK-LABEL: func.func @without_negative_zero
// CHECK: arith.constant 0.0{{.*}} : f8E4M3FNUZ
func.func @without_negative_zero(%c: tensor<5xi1>, %x: tensor<5xf8E4M3FNUZ>, %start: tensor<f8E4M3FNUZ>) -> tensor<f8E4M3FNUZ> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%c, %x : tensor<5xi1>, tensor<5xf8E4M3FNUZ>) outs(%start : tensor<f8E4M3FNUZ>) {
  ^bb0(%b: i1, %a: f8E4M3FNUZ, %sum: f8E4M3FNUZ):
    %more = arith.addf %sum, %a : f8E4M3FNUZ
    %new = arith.select %b, %more, %sum : f8E4M3FNUZ
    linalg.yield %new : f8E4M3FNUZ
  } -> tensor<f8E4M3FNUZ>
  return %y : tensor<f8E4M3FNUZ>
}

// Nor any zero in this one.
// CHECK-LABEL: func.func @without_zero
// CHECK: %[[MORE:.*]] = arith.addf
// CHECK: arith.select %{{.*}}, %[[MORE]], %{{.*}} : f8E8M0FNU
func.func @without_zero(%c: tensor<5xi1>, %x: tensor<5xf8E8M0FNU>, %start: tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%c, %x : tensor<5xi1>, tensor<5xf8E8M0FNU>) outs(%start : tensor<f8E8M0FNU>) {
  ^bb0(%b: i1, %a: f8E8M0FNU, %sum: f8E8M0FNU):
    %more = arith.addf %sum, %a : f8E8M0FNU
    %new = arith.select %b, %more, %sum : f8E8M0FNU
    linalg.yield %new : f8E8M0FNU
  } -> tensor<f8E8M0FNU>
  return %y : tensor<f8E8M0FNU>
}

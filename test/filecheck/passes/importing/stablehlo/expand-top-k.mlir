// RUN: ipu-opt %s --ipu-expand-top-k --split-input-file | filecheck %s

// Keys are in the total order of the floats; values are read where the largest keys stand.
// CHECK-LABEL: func.func @floats
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x5xf32>)
// CHECK: %[[BITS:.*]] = arith.bitcast
// CHECK: %[[TURNED:.*]] = arith.xori %[[BITS]]
// CHECK: arith.select %{{.*}}, %[[TURNED]], %[[BITS]] : i32
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}}library_call = "top_k"} ins(%[[KEYS]] : tensor<4x5xi32>) outs(%{{.*}} : tensor<4x3xi32>)
// CHECK: %[[VALUES:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : tensor<4x3xi32>)
// CHECK: tensor.extract %[[X]]
// CHECK: return %[[VALUES]], %[[PLACES]]
func.func @floats(%x: tensor<4x5xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %values, %places = chlo.top_k(%x, k = 3) : tensor<4x5xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %values, %places : tensor<4x3xf32>, tensor<4x3xi32>
}

// -----

// Signed integers are keys as they are.
// CHECK-LABEL: func.func @composite
// CHECK-SAME: (%[[X:.*]]: tensor<6xi16>)
// CHECK: linalg.generic {{.*}}library_call = "top_k"} ins(%[[X]] : tensor<6xi16>)
// CHECK-NOT: stablehlo.composite
func.func @composite(%x: tensor<6xi16>) -> tensor<2xi32> {
  %0:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64}, decomposition = @top_k, version = 1 : i32} : (tensor<6xi16>) -> (tensor<2xi16>, tensor<2xi32>)
  return %0#1 : tensor<2xi32>
}
func.func private @top_k(tensor<6xi16>) -> (tensor<2xi16>, tensor<2xi32>)

// -----

// What XLA makes of it, of unsigned numbers.
// CHECK-LABEL: func.func @beginning_of_a_sort
// CHECK: %[[SIGNLESS:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4x5xui8>) -> tensor<4x5xi8>
// CHECK: arith.xori %{{.*}}, %{{.*}} : i8
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}}library_call = "top_k"}
// CHECK: tensor.extract %[[SIGNLESS]]
// CHECK: %[[VALUES:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4x3xi8>) -> tensor<4x3xui8>
// CHECK-NOT: stablehlo.sort
// CHECK: return %[[VALUES]], %[[PLACES]]
func.func @beginning_of_a_sort(%x: tensor<4x5xui8>) -> (tensor<4x3xui8>, tensor<4x3xi32>) {
  %iota = stablehlo.iota dim = 1 : tensor<4x5xi32>
  %sorted:2 = "stablehlo.sort"(%x, %iota) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>, %c: tensor<i32>, %d: tensor<i32>):
    %larger = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %larger : tensor<i1>
  }) : (tensor<4x5xui8>, tensor<4x5xi32>) -> (tensor<4x5xui8>, tensor<4x5xi32>)
  %values = stablehlo.slice %sorted#0 [0:4, 0:3] : (tensor<4x5xui8>) -> tensor<4x3xui8>
  %places = stablehlo.slice %sorted#1 [0:4, 0:3] : (tensor<4x5xi32>) -> tensor<4x3xi32>
  return %values, %places : tensor<4x3xui8>, tensor<4x3xi32>
}

// -----

// A sort whose end is read, too.
// CHECK-LABEL: func.func @end_is_read
// CHECK: stablehlo.sort
func.func @end_is_read(%x: tensor<5xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %iota = stablehlo.iota dim = 0 : tensor<5xi32>
  %sorted:2 = "stablehlo.sort"(%x, %iota) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %larger = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %larger : tensor<i1>
  }) : (tensor<5xi32>, tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)
  %values = stablehlo.slice %sorted#0 [0:3] : (tensor<5xi32>) -> tensor<3xi32>
  %places = stablehlo.slice %sorted#1 [2:5] : (tensor<5xi32>) -> tensor<3xi32>
  return %values, %places : tensor<3xi32>, tensor<3xi32>
}

// -----

// Floats of which NaN is in no order, from the least on, or by the other operand: all of them stay sorts.
// CHECK-LABEL: func.func @other_orders
// CHECK-COUNT-3: stablehlo.sort
func.func @other_orders(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %iota = stablehlo.iota dim = 0 : tensor<5xi32>
  %0:2 = "stablehlo.sort"(%x, %iota) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %before = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  %1:2 = "stablehlo.sort"(%x, %iota) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %before = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  %2:2 = "stablehlo.sort"(%x, %iota) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %before = stablehlo.compare GT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  %3 = stablehlo.slice %0#0 [0:3] : (tensor<5xf32>) -> tensor<3xf32>
  %4 = stablehlo.slice %1#0 [0:3] : (tensor<5xf32>) -> tensor<3xf32>
  %5 = stablehlo.slice %2#0 [0:3] : (tensor<5xf32>) -> tensor<3xf32>
  return %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

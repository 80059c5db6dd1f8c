// RUN: ipu-opt %s --ipu-legalize-types --split-input-file | filecheck %s
// RUN: ipu-opt %s --ipu-legalize-types='floats=false' --split-input-file | filecheck %s --check-prefix=INTEGERS
// RUN: ipu-opt %s --ipu-legalize-types='integers=false' --split-input-file | filecheck %s --check-prefix=FLOATS

// CHECK: module attributes {ipu.narrowed = ["f64 -> f32: 2 values", "i64 -> i32: 2 values"]}
// CHECK: func.func @arguments_and_results(%{{.*}}: tensor<4xi32>, %{{.*}}: tensor<2xf32>, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: index) -> (tensor<4xi32>, tensor<2xf32>)
// INTEGERS: module attributes {ipu.narrowed = ["i64 -> i32: 2 values"]}
// INTEGERS: func.func @arguments_and_results(%{{.*}}: tensor<4xi32>, %{{.*}}: tensor<2xf64>, %{{.*}}: i32, %{{.*}}: f64, %{{.*}}: index) -> (tensor<4xi32>, tensor<2xf64>)
// FLOATS: module attributes {ipu.narrowed = ["f64 -> f32: 2 values"]}
// FLOATS: func.func @arguments_and_results(%{{.*}}: tensor<4xi64>, %{{.*}}: tensor<2xf32>, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: index) -> (tensor<4xi64>, tensor<2xf32>)
func.func @arguments_and_results(%a: tensor<4xi64>, %b: tensor<2xf64>, %c: i64, %d: f64, %e: index)
    -> (tensor<4xi64>, tensor<2xf64>) {
  return %a, %b : tensor<4xi64>, tensor<2xf64>
}

// -----

// CHECK-LABEL: func.func @constants
// CHECK-DAG: arith.constant -7 : i32
// CHECK-DAG: arith.constant 1.500000e+00 : f32
// CHECK-DAG: arith.constant dense<[1, -2147483648, 2147483647]> : tensor<3xi32>
// CHECK-DAG: arith.constant dense<5> : tensor<3xi32>
// CHECK-DAG: arith.constant dense<[1.000000e-01, 0x7F800000]> : tensor<2xf32>
// CHECK-DAG: arith.constant 3 : index
// CHECK-DAG: arith.constant 9 : i8
// INTEGERS-LABEL: func.func @constants
// INTEGERS-DAG: arith.constant -7 : i32
// INTEGERS-DAG: arith.constant 1.500000e+00 : f64
func.func @constants() {
  %a = arith.constant -7 : i64
  %b = arith.constant 1.5 : f64
  %c = arith.constant dense<[1, -2147483648, 2147483647]> : tensor<3xi64>
  %d = arith.constant dense<5> : tensor<3xi64>
  %e = arith.constant dense<[0.1, 0x7FF0000000000000]> : tensor<2xf64>
  %f = arith.constant 3 : index
  %g = arith.constant 9 : i8
  return
}

// -----

// CHECK-LABEL: func.func @conversions_between_equal_types_go
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: f32, %[[C:.*]]: i8)
// CHECK-NEXT: %[[D:.*]] = arith.extsi %[[C]] : i8 to i32
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[A]], %[[D]] : i32
// CHECK-NEXT: return %[[S]], %[[B]] : i32, f32
func.func @conversions_between_equal_types_go(%a: i32, %b: f32, %c: i8) -> (i32, f32) {
  %wide = arith.extsi %a : i32 to i64
  %d = arith.extsi %c : i8 to i64
  %s = arith.addi %wide, %d : i64
  %n = arith.trunci %s : i64 to i32
  %double = arith.extf %b : f32 to f64
  %r = arith.truncf %double : f64 to f32
  return %n, %r : i32, f32
}

// -----

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @bodies
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xi32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: ^bb0(%[[A:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[F:.*]] = arith.sitofp %[[A]] : i32 to f32
// CHECK: linalg.yield %[[F]] : f32
// CHECK: linalg.matmul ins(%{{.*}} : tensor<2x2xi8>, tensor<2x2xi8>) outs(%{{.*}} : tensor<2x2xi32>)
func.func @bodies(%x: tensor<4xi64>, %m: tensor<2x2xi8>, %acc: tensor<2x2xi64>) -> (tensor<4xf64>, tensor<2x2xi64>) {
  %e = tensor.empty() : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: i64, %b: f64):
    %f = arith.sitofp %a : i64 to f64
    linalg.yield %f : f64
  } -> tensor<4xf64>
  %p = linalg.matmul ins(%m, %m : tensor<2x2xi8>, tensor<2x2xi8>) outs(%acc : tensor<2x2xi64>) -> tensor<2x2xi64>
  return %y, %p : tensor<4xf64>, tensor<2x2xi64>
}

// -----

// CHECK-LABEL: func.func @loops_and_calls
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: func.call @declared(%{{.*}}) : (i32) -> i32
// CHECK: func.func private @declared(i32) -> i32
func.func @loops_and_calls(%x: i64, %n: index) -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> i64 {
    %c = func.call @declared(%t) : (i64) -> i64
    %u = arith.addi %c, %t : i64
    scf.yield %u : i64
  }
  return %r : i64
}
func.func private @declared(i64) -> i64

// -----

// CHECK: module {
// CHECK-LABEL: func.func @nothing_to_do
func.func @nothing_to_do(%x: tensor<4xi32>) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}

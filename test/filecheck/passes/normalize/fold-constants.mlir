// RUN: ipu-opt %s --ipu-fold-constants --split-input-file | filecheck %s
// RUN: ipu-opt %s --ipu-fold-constants=most-bytes=8 --split-input-file | filecheck %s --check-prefix=SMALL

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @elementwise
// CHECK: %[[C:.*]] = arith.constant dense<[3.000000e+00, 5.000000e+00, 9.000000e+00]> : tensor<3xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[C]]
// SMALL-LABEL: func.func @elementwise
// SMALL: linalg.generic
func.func @elementwise() -> tensor<3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %ones : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %two : f32
    %s = arith.addf %m, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// One after the other: a transpose, a cast, a slice of that, and what it is joined with.
// CHECK-LABEL: func.func @chain
// CHECK: %[[C:.*]] = arith.constant dense<[1, 3, 5, 2, 4, 6, 9, 8]> : tensor<8xi16>
// CHECK: return %[[C]]
func.func @chain() -> tensor<8xi16> {
  %c = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %d = arith.constant dense<[[9, 0, 8]]> : tensor<1x3xi16>
  %e = tensor.empty() : tensor<2x3xi32>
  %t = linalg.transpose ins(%c : tensor<3x2xi32>) outs(%e : tensor<2x3xi32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<2x3xi16>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%t : tensor<2x3xi32>) outs(%f : tensor<2x3xi16>) {
  ^bb0(%a: i32, %o: i16):
    %m = arith.trunci %a : i32 to i16
    linalg.yield %m : i16
  } -> tensor<2x3xi16>
  %flat = tensor.collapse_shape %n [[0, 1]] : tensor<2x3xi16> into tensor<6xi16>
  %ends = tensor.extract_slice %d[0, 0] [1, 2] [1, 2] : tensor<1x3xi16> to tensor<2xi16>
  %y = tensor.concat dim(0) %flat, %ends : (tensor<6xi16>, tensor<2xi16>) -> tensor<8xi16>
  return %y : tensor<8xi16>
}

// -----

// CHECK-LABEL: func.func @gather
// CHECK: %[[C:.*]] = arith.constant dense<[4.000000e+00, 2.000000e+00, 4.000000e+00]> : tensor<3xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[C]]
func.func @gather() -> tensor<3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %i = arith.constant dense<[2, 1, 7]> : tensor<3xindex>
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : tensor<3xindex>) outs(%e : tensor<3xf32>) {
  ^bb0(%at: index, %o: f32):
    %v = tensor.extract %c[%at] : tensor<3xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// The first is exact in any order, the second one rounds.
// CHECK-LABEL: func.func @sums
// CHECK-DAG: arith.constant dense<[9.000000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK: %[[S:.*]] = linalg.reduce
// CHECK: return %{{.*}}, %[[S]]
func.func @sums() -> (tensor<2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[[1.0, 2.0, 4.0], [0.5, -0.5, -3.0]]> : tensor<2x3xf32>
  %d = arith.constant dense<[[0.1, 0.2, 0.3], [0.5, -0.5, -3.0]]> : tensor<2x3xf32>
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%two : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.reduce { arith.addf } ins(%c : tensor<2x3xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
  %z = linalg.reduce { arith.addf } ins(%d : tensor<2x3xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @what_is_alike_is_kept_once
// CHECK: arith.constant dense<true> : tensor<3xi1>
func.func @what_is_alike_is_kept_once() -> tensor<3xi1> {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xi1>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%e : tensor<3xi1>) {
  ^bb0(%a: f32, %o: i1):
    %v = arith.cmpf ord, %a, %a : f32
    linalg.yield %v : i1
  } -> tensor<3xi1>
  return %y : tensor<3xi1>
}

// -----

// A sum of all pairs takes more bytes than what it is made of; so do wider numbers.
// CHECK-LABEL: func.func @what_would_grow_stays
// CHECK-COUNT-2: linalg.generic
func.func @what_would_grow_stays() -> (tensor<3x3xf32>, tensor<3xf64>) {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c, %c : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  %f = tensor.empty() : tensor<3xf64>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%f : tensor<3xf64>) {
  ^bb0(%a: f32, %o: f64):
    %s = arith.extf %a : f32 to f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  return %y, %z : tensor<3x3xf32>, tensor<3xf64>
}

// -----

// Functions whose last bit depends on who computes them, what depends on an argument, and what MLIR leaves open.
// CHECK-LABEL: func.func @what_is_not_known_stays
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.fptosi
func.func @what_is_not_known_stays(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi8>) {
  %c = arith.constant dense<[1.0, 2.0, 400.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %f = tensor.empty() : tensor<3xi8>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%f : tensor<3xi8>) {
  ^bb0(%a: f32, %o: i8):
    %s = arith.fptosi %a : f32 to i8
    linalg.yield %s : i8
  } -> tensor<3xi8>
  return %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xi8>
}

// -----

// Products that are exact, and products that are rounded: added with them, they might be rounded only once.
// CHECK-LABEL: func.func @products
// CHECK-DAG: arith.constant dense<[7.000000e+00, 1.500000e+01]> : tensor<2xf32>
// CHECK-COUNT-1: linalg.matvec
// CHECK-NOT: linalg.matvec
func.func @products() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %c = arith.constant dense<[[1.1, 0.0], [0.0, 1.3]]> : tensor<2x2xf32>
  %d = arith.constant dense<[1.1, 1.7]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.matvec ins(%a, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.matvec ins(%c, %d : tensor<2x2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// A check that holds at all points goes with the constant; one that fails somewhere, or that is not reached everywhere,
// stays.
// CHECK-LABEL: func.func @checked
// CHECK-NOT: "small"
// CHECK: "large"
// CHECK: "small, there"
func.func @checked() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %three = arith.constant 3.0 : f32
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %ok = arith.cmpf olt, %a, %five : f32
    cf.assert %ok, "small"
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %ok = arith.cmpf olt, %a, %three : f32
    cf.assert %ok, "large"
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %large = arith.cmpf ogt, %a, %three : f32
    scf.if %large {
      %ok = arith.cmpf olt, %a, %three : f32
      cf.assert %ok, "small, there"
    }
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %x, %y, %z : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

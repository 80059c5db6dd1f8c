// RUN: ipu-opt %s --ipu-hoist-invariants | filecheck %s

#id = affine_map<(i) -> (i)>
#spread = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#last = affine_map<(i, j) -> (j)>

// What the op needs goes along; what others need as well stays.
// CHECK-LABEL: func.func @alike_in_every_round
// CHECK-SAME: (%[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[E:.*]] = linalg.generic {{.*}}ins(%[[W]] : tensor<4xf32>)
// CHECK: math.exp
// CHECK: scf.for {{.*}}iter_args(%[[A:.*]] = %{{.*}})
// CHECK: linalg.generic {{.*}}ins(%[[A]], %[[E]] : tensor<4xf32>, tensor<4xf32>)
func.func @alike_in_every_round(%w: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y) -> tensor<4xf32> {
    %o = tensor.empty() : tensor<4xf32>
    %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%w : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x = math.exp %in : f32
      linalg.yield %x : f32
    } -> tensor<4xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a, %e : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%l: f32, %m: f32, %out: f32):
      %x = arith.mulf %l, %m : f32
      linalg.yield %x : f32
    } -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Out of both loops, with the sum's start.
// CHECK-LABEL: func.func @product_in_two_loops
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: scf.for
// CHECK: scf.while
// CHECK-NOT: linalg.matmul
func.func @product_in_two_loops(%w: tensor<4x4xf32>, %y: tensor<4x4xf32>, %go: i1) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y) -> tensor<4x4xf32> {
    %q = scf.while (%b = %a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
      scf.condition(%go) %b : tensor<4x4xf32>
    } do {
    ^bb0(%b: tensor<4x4xf32>):
      %o = tensor.empty() : tensor<4x4xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
      %p = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
      %n = linalg.add ins(%b, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %n : tensor<4x4xf32>
    }
    scf.yield %q : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// A tensor that is larger than what it is made of would be held, and exchanged, for nothing; a branch may never run.
// CHECK-LABEL: func.func @larger_than_what_is_read_or_in_a_branch
// CHECK-NOT: linalg.generic
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: math.sqrt
func.func @larger_than_what_is_read_or_in_a_branch(%w: tensor<4xf32>, %y: tensor<4x8xf32>, %go: i1) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y) -> tensor<4x8xf32> {
    %o = tensor.empty() : tensor<4x8xf32>
    %e = linalg.generic {indexing_maps = [#spread, #all], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<4xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x = math.exp %in : f32
      linalg.yield %x : f32
    } -> tensor<4x8xf32>
    %s = scf.if %go -> tensor<4x8xf32> {
      %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%y : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
      ^bb0(%in: f32, %out: f32):
        %x = math.sqrt %in : f32
        linalg.yield %x : f32
      } -> tensor<4x8xf32>
      scf.yield %t : tensor<4x8xf32>
    } else {
      scf.yield %a : tensor<4x8xf32>
    }
    %n = linalg.add ins(%s, %e : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @op_that_only_checks_stays
// CHECK: scf.for
// CHECK: cf.assert
func.func @op_that_only_checks_stays(%w: tensor<4xi1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y) -> tensor<4xf32> {
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} ins(%w : tensor<4xi1>) {
    ^bb0(%holds: i1):
      cf.assert %holds, "w holds"
      linalg.yield
    }
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A transpose goes along with what is computed from it; a broadcast is larger than what is broadcast, and stays.
// CHECK-LABEL: func.func @transposed_in_the_loop
// CHECK-SAME: (%[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK: %[[T:.*]] = linalg.generic {{.*}}ins(%[[W]] : tensor<4x8xf32>)
// CHECK: %[[E:.*]] = linalg.generic {{.*}}ins(%[[T]] : tensor<8x4xf32>)
// CHECK: math.exp
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: %[[B:.*]] = linalg.generic {{.*}}ins(%{{.*}} : tensor<4xf32>)
// CHECK: linalg.generic {{.*}}ins(%[[B]] : tensor<8x4xf32>)
// CHECK: math.sqrt
func.func @transposed_in_the_loop(%w: tensor<4x8xf32>, %v: tensor<4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %y) -> tensor<8x4xf32> {
    %o = tensor.empty() : tensor<8x4xf32>
    %t = linalg.generic {indexing_maps = [#swap, #all], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<4x8xf32>) outs(%o : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%t : tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x = math.exp %in : f32
      linalg.yield %x : f32
    } -> tensor<8x4xf32>
    %b = linalg.generic {indexing_maps = [#last, #all], iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<4xf32>) outs(%o : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%b : tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x = math.sqrt %in : f32
      linalg.yield %x : f32
    } -> tensor<8x4xf32>
    %m = linalg.add ins(%e, %s : tensor<8x4xf32>, tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) -> tensor<8x4xf32>
    %n = linalg.add ins(%a, %m : tensor<8x4xf32>, tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// RUN: ipu-opt %s --convert-elementwise-to-linalg --ipu-generalize-ops --ipu-fuse-elementwise-ops | filecheck %s

// CHECK-LABEL: func.func @a_chain_is_one_op
// CHECK: math.exp
// CHECK-NEXT: math.tanh
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @a_chain_is_one_op(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = math.exp %x : tensor<8xf32>
  %t = math.tanh %e : tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK-LABEL: func.func @reshapes_are_no_obstacle
// CHECK: math.exp
// CHECK-NEXT: math.tanh
// CHECK-NEXT: linalg.yield
// CHECK-NOT: ipu.second_use
// CHECK: return
func.func @reshapes_are_no_obstacle(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %e = math.exp %x : tensor<2x4xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %t = math.tanh %c : tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK-LABEL: func.func @what_a_loop_reads_stays_before_it
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK-NEXT: math.tanh
// CHECK: return
func.func @what_a_loop_reads_stays_before_it(%x: tensor<8xf32>, %w: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = math.exp %w : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %m = arith.mulf %y, %e : tensor<8xf32>
    %t = math.tanh %m : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The reshape may not take the op that makes its operand along.
// CHECK-LABEL: func.func @neither_through_a_reshape
// CHECK: math.exp
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK: return
func.func @neither_through_a_reshape(%x: tensor<8xf32>, %w: tensor<2x4xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = math.exp %w : tensor<2x4xf32>
  %v = tensor.collapse_shape %e [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %m = arith.mulf %y, %v : tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Neither from the outer loop into the inner one, nor into a branch in it.
// CHECK-LABEL: func.func @neither_into_the_inner_loop
// CHECK: scf.for
// CHECK: math.exp
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: scf.if
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK: return
func.func @neither_into_the_inner_loop(%x: tensor<8xf32>, %n: index, %p: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %e = math.exp %y : tensor<8xf32>
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%z = %y) -> (tensor<8xf32>) {
      %b = scf.if %p -> (tensor<8xf32>) {
        %m = arith.mulf %z, %e : tensor<8xf32>
        scf.yield %m : tensor<8xf32>
      } else {
        scf.yield %z : tensor<8xf32>
      }
      scf.yield %b : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @neither_into_a_while
// CHECK: math.exp
// CHECK: scf.while
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK: return
func.func @neither_into_a_while(%x: tensor<8xf32>, %w: tensor<8xf32>, %p: tensor<8xi1>, %c0: index) -> tensor<8xf32> {
  %e = math.exp %w : tensor<8xf32>
  %r = scf.while (%y = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %c = tensor.extract %p[%c0] : tensor<8xi1>
    scf.condition(%c) %y : tensor<8xf32>
  } do {
  ^bb0(%y: tensor<8xf32>):
    %m = arith.mulf %y, %e : tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A branch runs at most once; where it does not run, the op is saved.
// CHECK-LABEL: func.func @into_a_branch
// CHECK-NOT: math.exp
// CHECK: scf.if
// CHECK: math.exp
// CHECK-NEXT: arith.mulf
// CHECK: return
func.func @into_a_branch(%x: tensor<8xf32>, %w: tensor<8xf32>, %p: i1) -> tensor<8xf32> {
  %e = math.exp %w : tensor<8xf32>
  %r = scf.if %p -> (tensor<8xf32>) {
    %m = arith.mulf %x, %e : tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A fill is a scalar to its readers, also to those in a loop.
// CHECK-LABEL: func.func @a_fill_is_a_scalar
// CHECK-NOT: linalg.fill
// CHECK: scf.for
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: return
func.func @a_fill_is_a_scalar(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %e = linalg.fill ins(%two : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<8xf32>) {
    %m = arith.mulf %y, %e : tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#two = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @a_factor_of_two_tensors_is_computed_once
// CHECK: %[[GATED:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: } -> tensor<4x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[GATED]], %{{.*}} : tensor<4x8xf32>, tensor<6x8xf32>)
func.func @a_factor_of_two_tensors_is_computed_once(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<6x8xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %gated = linalg.generic {indexing_maps = [#two, #two, #two], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32
  } -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%gated, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%o : tensor<4x6xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @a_cast_goes_with_the_product
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.extf
// CHECK: return
func.func @a_cast_goes_with_the_product(
    %x: tensor<4x8xf16>, %w: tensor<6x8xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %wide = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f16, %c: f32):
      %p = arith.extf %a : f16 to f32
      linalg.yield %p : f32
  } -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wide, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%o : tensor<4x6xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// One row of cosines for every batch, computed once; what takes less than a superstep is computed where it is read.
// CHECK-LABEL: func.func @a_function_is_not_computed_for_every_copy
// CHECK: math.cos
// CHECK-NEXT: linalg.yield
// CHECK: arith.mulf
// CHECK: return
#row = affine_map<(b, i) -> (i)>
#all = affine_map<(b, i) -> (b, i)>
func.func @a_function_is_not_computed_for_every_copy(%a: tensor<512xf32>, %x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %c = math.cos %a : tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#row, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%c, %x : tensor<512xf32>, tensor<64x512xf32>) outs(%x : tensor<64x512xf32>) {
  ^bb0(%in: f32, %x_in: f32, %out: f32):
    %m = arith.mulf %in, %x_in : f32
    linalg.yield %m : f32
  } -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}

// CHECK-LABEL: func.func @a_sum_is
// CHECK: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK: return
func.func @a_sum_is(%a: tensor<512xf32>, %x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %c = arith.addf %a, %a : tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#row, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%c, %x : tensor<512xf32>, tensor<64x512xf32>) outs(%x : tensor<64x512xf32>) {
  ^bb0(%in: f32, %x_in: f32, %out: f32):
    %m = arith.mulf %in, %x_in : f32
    linalg.yield %m : f32
  } -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}

// CHECK-LABEL: func.func @each_reader_repeats_by_itself
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @each_reader_repeats_by_itself(%a: tensor<512xf32>, %x: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf32>) {
  %r = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<512xf32>) outs(%x : tensor<64x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x512xf32>
  %s = arith.addf %r, %x : tensor<64x512xf32>
  %m = arith.mulf %r, %x : tensor<64x512xf32>
  return %s, %m : tensor<64x512xf32>, tensor<64x512xf32>
}

// CHECK-LABEL: func.func @products_repeat_a_factor_by_themselves
// CHECK-SAME: (%[[W:[a-z0-9]+]]: tensor<8x4xf32>, %[[X:[a-z0-9]+]]: tensor<3x8xf32>, %[[Y:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[W]]
// CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[W]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @products_repeat_a_factor_by_themselves(
    %w: tensor<8x4xf32>, %x: tensor<3x8xf32>, %y: tensor<3x4xf32>, %m: tensor<3x4xf32>, %n: tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x8xf32>) {
  %e = tensor.empty() : tensor<3x8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<8x4xf32>) outs(%e : tensor<3x8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x8x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, j)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %r : tensor<3x8xf32>, tensor<3x8x4xf32>) outs(%m : tensor<3x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %t = arith.mulf %a, %c : f32
    %s = arith.addf %out, %t : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %r : tensor<3x4xf32>, tensor<3x8x4xf32>) outs(%n : tensor<3x8xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %t = arith.mulf %a, %c : f32
    %s = arith.addf %out, %t : f32
    linalg.yield %s : f32
  } -> tensor<3x8xf32>
  return %p, %q : tensor<3x4xf32>, tensor<3x8xf32>
}

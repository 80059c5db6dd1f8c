// RUN: ipu-opt %s --ipu-merge-loops --split-input-file | filecheck %s

#id = affine_map<(d0) -> (d0)>

// The one that stores its rows as well comes in front of who reads the other one.
// CHECK-LABEL: func.func @the_loop_that_computes_more_stays
// CHECK: %[[BOTH:.*]]:2 = scf.for
// CHECK-NOT: scf.for
// CHECK: ins(%[[BOTH]]#0, %[[BOTH]]#0
// CHECK: return %{{.*}}, %[[BOTH]]#1
func.func @the_loop_that_computes_more_stays(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%r, %r : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %d, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @also_in_front_of_the_other
// CHECK: %[[BOTH:.*]]:2 = scf.for
// CHECK-NOT: scf.for
// CHECK: return %[[BOTH]]#0, %[[BOTH]]#1
func.func @also_in_front_of_the_other(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @another_start
// CHECK-COUNT-2: scf.for
func.func @another_start(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %y, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @another_step
// CHECK-COUNT-2: scf.for
func.func @another_step(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.addf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @another_operand
// CHECK-COUNT-2: scf.for
func.func @another_operand(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @one_waits_for_the_other
// CHECK-COUNT-2: scf.for
func.func @one_waits_for_the_other(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %r, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What the second loop needs waits for the first.
// CHECK-LABEL: func.func @its_rows_wait_for_the_other
// CHECK-COUNT-2: scf.for
func.func @its_rows_wait_for_the_other(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%r, %r : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %none = tensor.empty() : tensor<8x4xf32>
  %rows = tensor.insert_slice %d into %none[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @effects_happen_twice
// CHECK-COUNT-2: scf.for
func.func @effects_happen_twice(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
  }
  %rows = tensor.empty() : tensor<8x4xf32>
  %m:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x, %k = %rows) -> (tensor<4xf32>, tensor<8x4xf32>) {
      "ipu.print"(%h) {label = "h"} : (tensor<4xf32>) -> ()
      %put = tensor.insert_slice %h into %k[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%h, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.mulf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      scf.yield %n, %put : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r, %m#1 : tensor<4xf32>, tensor<8x4xf32>
}

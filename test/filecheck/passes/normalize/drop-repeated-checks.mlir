// RUN: ipu-opt %s --ipu-drop-repeated-checks | filecheck %s

#whole = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#vector = affine_map<(i) -> (i)>

// The second op asserts the same of every element, in other loops.
// CHECK-LABEL: func.func @of_the_same_elements
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: return
func.func @of_the_same_elements(%v: tensor<4xf32>, %x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%n: f32, %o: f32):
    %root = math.sqrt %n : f32
    %good = arith.cmpf one, %root, %zero : f32
    cf.assert %good, "no zero"
    linalg.yield %root : f32
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<4x5xf32>
  %b = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<4x5xf32>, tensor<4xf32>) outs(%f : tensor<4x5xf32>) {
  ^bb0(%m: f32, %n: f32, %o: f32):
    %root = math.sqrt %n : f32
    %good = arith.cmpf one, %root, %zero : f32
    cf.assert %good, "no zero here either"
    %y = arith.divf %m, %root : f32
    linalg.yield %y : f32
  } -> tensor<4x5xf32>
  return %a, %b : tensor<4xf32>, tensor<4x5xf32>
}

// CHECK-LABEL: func.func @in_a_loop_after_it
// CHECK: cf.assert %arg0
// CHECK: scf.for
// CHECK-NOT: cf.assert
// CHECK: return
func.func @in_a_loop_after_it(%good: i1, %n: index) {
  cf.assert %good, "first"
  scf.for %i = %n to %n step %n {
    cf.assert %good, "again"
  }
  return
}

// CHECK-LABEL: func.func @after_a_branch_that_may_not_run
// CHECK: scf.if
// CHECK: cf.assert %arg0
// CHECK: cf.assert %arg0
func.func @after_a_branch_that_may_not_run(%good: i1, %c: i1) {
  scf.if %c {
    cf.assert %good, "first"
  }
  cf.assert %good, "not sure yet"
  return
}

// Pairs of elements are other pairs, another condition or other elements are no repetition.
// CHECK-LABEL: func.func @of_other_elements
// CHECK-COUNT-4: cf.assert
// CHECK: return
func.func @of_other_elements(%x: tensor<5x5xf32>, %z: tensor<5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<5x5xf32>, tensor<5x5xf32>) {
  ^bb0(%m: f32, %n: f32):
    %less = arith.cmpf olt, %m, %n : f32
    cf.assert %less, "less"
    %good = arith.cmpf one, %m, %zero : f32
    cf.assert %good, "no zero"
    linalg.yield
  }
  linalg.generic {indexing_maps = [#whole, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<5x5xf32>, tensor<5x5xf32>) {
  ^bb0(%m: f32, %n: f32):
    %less = arith.cmpf olt, %m, %n : f32
    cf.assert %less, "less than another"
    %good = arith.cmpf one, %n, %zero : f32
    cf.assert %good, "no zero in z"
    linalg.yield
  }
  return
}

// An op that runs no iteration asserts nothing.
// CHECK-LABEL: func.func @after_an_op_that_runs_nothing
// CHECK-COUNT-2: cf.assert
func.func @after_an_op_that_runs_nothing(%v: tensor<4xf32>, %none: tensor<4x0xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%v, %none : tensor<4xf32>, tensor<4x0xf32>) {
  ^bb0(%m: f32, %n: f32):
    %good = arith.cmpf one, %m, %zero : f32
    cf.assert %good, "never asked"
    linalg.yield
  }
  linalg.generic {indexing_maps = [#vector], iterator_types = ["parallel"]} ins(%v : tensor<4xf32>) {
  ^bb0(%m: f32):
    %good = arith.cmpf one, %m, %zero : f32
    cf.assert %good, "asked"
    linalg.yield
  }
  return
}

// What a sum has come to is another number in each iteration.
// CHECK-LABEL: func.func @of_a_running_value
// CHECK-COUNT-2: cf.assert
func.func @of_a_running_value(%x: tensor<4x5xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%m: f32, %sum: f32):
    %good = arith.cmpf one, %sum, %zero : f32
    cf.assert %good, "no zero"
    %y = arith.addf %sum, %m : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%m: f32, %sum: f32):
    %good = arith.cmpf one, %sum, %zero : f32
    cf.assert %good, "no zero"
    %y = arith.mulf %sum, %m : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

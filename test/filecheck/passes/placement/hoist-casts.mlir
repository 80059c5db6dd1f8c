// RUN: ipu-opt %s --ipu-hoist-casts | filecheck %s

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @data_from_outside_moves_before_the_loop
// CHECK: tensor.cast
// CHECK: scf.for
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @data_from_outside_moves_before_the_loop(%x: tensor<4xf32, #a>, %y: tensor<4xf32, #b>, %n: index)
    -> tensor<4xf32, #b> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %y) -> tensor<4xf32, #b> {
    %moved = tensor.cast %x : tensor<4xf32, #a> to tensor<4xf32, #b>
    %s = linalg.add ins(%moved, %carried : tensor<4xf32, #b>, tensor<4xf32, #b>)
        outs(%carried : tensor<4xf32, #b>) -> tensor<4xf32, #b>
    scf.yield %s : tensor<4xf32, #b>
  }
  return %r : tensor<4xf32, #b>
}

// CHECK-LABEL: func.func @out_of_two_loops
// CHECK: tensor.cast
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @out_of_two_loops(%x: tensor<4xf32, #a>, %y: tensor<4xf32, #b>, %n: index) -> tensor<4xf32, #b> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%outer = %y) -> tensor<4xf32, #b> {
    %q = scf.for %j = %zero to %n step %one iter_args(%inner = %outer) -> tensor<4xf32, #b> {
      %moved = tensor.cast %x : tensor<4xf32, #a> to tensor<4xf32, #b>
      %s = linalg.add ins(%moved, %inner : tensor<4xf32, #b>, tensor<4xf32, #b>)
          outs(%inner : tensor<4xf32, #b>) -> tensor<4xf32, #b>
      scf.yield %s : tensor<4xf32, #b>
    }
    scf.yield %q : tensor<4xf32, #b>
  }
  return %r : tensor<4xf32, #b>
}

// CHECK-LABEL: func.func @carried_data_moves_in_every_iteration
// CHECK: scf.for
// CHECK: tensor.cast
func.func @carried_data_moves_in_every_iteration(%y: tensor<4xf32, #b>, %n: index) -> tensor<4xf32, #b> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %y) -> tensor<4xf32, #b> {
    %there = tensor.cast %carried : tensor<4xf32, #b> to tensor<4xf32, #a>
    %e = tensor.empty() : tensor<4xf32, #a>
    %s = linalg.exp ins(%there : tensor<4xf32, #a>) outs(%e : tensor<4xf32, #a>) -> tensor<4xf32, #a>
    %back = tensor.cast %s : tensor<4xf32, #a> to tensor<4xf32, #b>
    scf.yield %back : tensor<4xf32, #b>
  }
  return %r : tensor<4xf32, #b>
}

// A branch may never be taken: what only it needs does not move ahead of it.
// CHECK-LABEL: func.func @branch_keeps_its_cast
// CHECK: scf.if
// CHECK: tensor.cast
func.func @branch_keeps_its_cast(%x: tensor<4xf32, #a>, %y: tensor<4xf32, #b>, %c: i1) -> tensor<4xf32, #b> {
  %r = scf.if %c -> tensor<4xf32, #b> {
    %moved = tensor.cast %x : tensor<4xf32, #a> to tensor<4xf32, #b>
    scf.yield %moved : tensor<4xf32, #b>
  } else {
    scf.yield %y : tensor<4xf32, #b>
  }
  return %r : tensor<4xf32, #b>
}

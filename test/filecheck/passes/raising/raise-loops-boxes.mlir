// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// What lies inside of a frame: JAX writes x.at[1:-1, 1:-1].add(u) so. The guard says no more than the places do.
// CHECK-LABEL: func.func @inside_of_a_frame
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<6x5xf32>
// CHECK-NOT: arith.cmpi
// CHECK-NOT: library_call
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][1, 1] [4, 3] [1, 1]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} {{.*}}outs(%[[PART]] : tensor<4x3xf32>)
// CHECK: arith.addf
// CHECK: %[[ALL:.*]] = tensor.insert_slice %[[NEW]] into %[[X]][1, 1] [4, 3] [1, 1]
// CHECK: return %[[ALL]]
func.func @inside_of_a_frame(%x: tensor<6x5xf32>, %u: tensor<4x3xf32>) -> tensor<6x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> tensor<6x5xf32> {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> tensor<6x5xf32> {
      %a = arith.addi %i, %c1 : index
      %b = arith.addi %j, %c1 : index
      %above = arith.cmpi ult, %a, %c6 : index
      %left = arith.cmpi ult, %b, %c5 : index
      %inside = arith.andi %above, %left : i1
      %w = scf.if %inside -> tensor<6x5xf32> {
        %old = tensor.extract %t[%a, %b] : tensor<6x5xf32>
        %new = tensor.extract %u[%i, %j] : tensor<4x3xf32>
        %sum = arith.addf %old, %new : f32
        %v = tensor.insert %sum into %t[%a, %b] : tensor<6x5xf32>
        scf.yield %v : tensor<6x5xf32>
      } else {
        scf.yield %t : tensor<6x5xf32>
      }
      scf.yield %w : tensor<6x5xf32>
    }
    scf.yield %q : tensor<6x5xf32>
  }
  return %r : tensor<6x5xf32>
}

// A guard that asks for less than the places do takes some of them.
// CHECK-LABEL: func.func @half_a_column
// CHECK-NOT: library_call
// CHECK: tensor.extract_slice %{{.*}}[2, 4] [4, 1] [1, 1]
// CHECK: %[[GOES:.*]]: i1, %[[NEW:.*]]: f32, %[[OLD:.*]]: f32
// CHECK: arith.select %[[GOES]], %[[NEW]], %[[OLD]]
// CHECK: tensor.insert_slice
func.func @half_a_column(%x: tensor<6x5xf32>, %u: tensor<4xf32>) -> tensor<6x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x) -> tensor<6x5xf32> {
    %a = arith.addi %i, %c2 : index
    %goes = arith.cmpi ult, %a, %c4 : index
    %w = scf.if %goes -> tensor<6x5xf32> {
      %new = tensor.extract %u[%i] : tensor<4xf32>
      %v = tensor.insert %new into %t[%a, %c4] : tensor<6x5xf32>
      scf.yield %v : tensor<6x5xf32>
    } else {
      scf.yield %t : tensor<6x5xf32>
    }
    scf.yield %w : tensor<6x5xf32>
  }
  return %r : tensor<6x5xf32>
}

// Places outside, and places that several iterations have, are those of a scatter.
// CHECK-LABEL: func.func @beyond_the_end
// CHECK: library_call = "scatter_set"
func.func @beyond_the_end(%x: tensor<6xf32>, %u: tensor<4xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x) -> tensor<6xf32> {
    %a = arith.addi %i, %c3 : index
    %new = tensor.extract %u[%i] : tensor<4xf32>
    %v = tensor.insert %new into %t[%a] : tensor<6xf32>
    scf.yield %v : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @a_place_for_many
// CHECK: library_call = "scatter_add"
func.func @a_place_for_many(%x: tensor<6xf32>, %u: tensor<4x3xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> tensor<6xf32> {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> tensor<6xf32> {
      %old = tensor.extract %t[%i] : tensor<6xf32>
      %new = tensor.extract %u[%i, %j] : tensor<4x3xf32>
      %sum = arith.addf %old, %new : f32
      %v = tensor.insert %sum into %t[%i] : tensor<6xf32>
      scf.yield %v : tensor<6xf32>
    }
    scf.yield %q : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @the_diagonal
// CHECK: library_call = "scatter_set"
func.func @the_diagonal(%x: tensor<6x6xf32>, %u: tensor<4xf32>) -> tensor<6x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x) -> tensor<6x6xf32> {
    %new = tensor.extract %u[%i] : tensor<4xf32>
    %v = tensor.insert %new into %t[%i, %i] : tensor<6x6xf32>
    scf.yield %v : tensor<6x6xf32>
  }
  return %r : tensor<6x6xf32>
}

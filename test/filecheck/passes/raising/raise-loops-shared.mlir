// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// Column j comes from iteration j alone: parts may cut both together, and only the rows are looked for.
// CHECK-DAG: #[[UPDATE:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[ROW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-DAG: #[[COLUMN:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d2)>
// CHECK-LABEL: func.func @rows_of_a_table
// CHECK-NOT: scf.for
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[COLUMN]], #{{map[0-9]*}}, #[[UPDATE]],
// CHECK-SAME: iterator_types = ["reduction", "parallel", "parallel"], library_call = "scatter_add"}
func.func @rows_of_a_table(%x: tensor<8x3xf32>, %at: tensor<5xindex>, %v: tensor<5x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %r = scf.for %i = %zero to %five step %one iter_args(%t = %x) -> tensor<8x3xf32> {
    %s = scf.for %j = %zero to %three step %one iter_args(%u = %t) -> tensor<8x3xf32> {
      %row = tensor.extract %at[%i] : tensor<5xindex>
      %new = tensor.extract %v[%i, %j] : tensor<5x3xf32>
      %old = tensor.extract %u[%row, %j] : tensor<8x3xf32>
      %sum = arith.addf %old, %new : f32
      %w = tensor.insert %sum into %u[%row, %j] : tensor<8x3xf32>
      scf.yield %w : tensor<8x3xf32>
    }
    scf.yield %s : tensor<8x3xf32>
  }
  return %r : tensor<8x3xf32>
}

// Every element is where its own iteration puts it: nothing has to be looked for.
// CHECK-LABEL: func.func @element_by_element
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<5xi32>
// CHECK-NOT: library_call
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} {{.*}}outs(%[[X]] : tensor<5xi32>)
// CHECK: ^bb0(%[[GUARD:.*]]: i1, %[[NEW:.*]]: i32, %[[OLD:.*]]: i32):
// CHECK: %[[SUM:.*]] = arith.addi %[[OLD]], %[[NEW]]
// CHECK: arith.select %[[GUARD]], %[[SUM]], %[[OLD]]
func.func @element_by_element(%x: tensor<5xi32>, %v: tensor<5xi32>, %go: tensor<5xi1>) -> tensor<5xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %r = scf.for %i = %zero to %five step %one iter_args(%t = %x) -> tensor<5xi32> {
    %ok = tensor.extract %go[%i] : tensor<5xi1>
    %u = scf.if %ok -> tensor<5xi32> {
      %new = tensor.extract %v[%i] : tensor<5xi32>
      %old = tensor.extract %t[%i] : tensor<5xi32>
      %sum = arith.addi %old, %new : i32
      %w = tensor.insert %sum into %t[%i] : tensor<5xi32>
      scf.yield %w : tensor<5xi32>
    } else {
      scf.yield %t : tensor<5xi32>
    }
    scf.yield %u : tensor<5xi32>
  }
  return %r : tensor<5xi32>
}

// All loops are shared, but the tensor has a dimension more: the place is looked for, of one update for each column.
// CHECK-LABEL: func.func @one_row_of_several
// CHECK: iterator_types = ["reduction", "parallel", "parallel"], library_call = "scatter_set"
// CHECK-SAME: ins({{.*}} : tensor<1x1xindex>, tensor<5x1xindex>, tensor<1x1xi1>, tensor<5x1xf32>, tensor<4xindex>, tensor<5xindex>)
func.func @one_row_of_several(%x: tensor<4x5xf32>, %v: tensor<5xf32>, %row: index) -> tensor<4x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %r = scf.for %i = %zero to %five step %one iter_args(%t = %x) -> tensor<4x5xf32> {
    %new = tensor.extract %v[%i] : tensor<5xf32>
    %w = tensor.insert %new into %t[%row, %i] : tensor<4x5xf32>
    scf.yield %w : tensor<4x5xf32>
  }
  return %r : tensor<4x5xf32>
}

// So it is where each row has a place of its own, as of one scatter for each example of a batch.
// CHECK-LABEL: func.func @one_place_in_each_row
// CHECK: iterator_types = ["reduction", "parallel", "parallel"], library_call = "scatter_set"
// CHECK-SAME: ins({{.*}} : tensor<4x1xindex>, tensor<4x1xindex>, tensor<1x1xi1>, tensor<4x1xf32>, tensor<4xindex>, tensor<5xindex>)
func.func @one_place_in_each_row(%x: tensor<4x5xf32>, %v: tensor<4xf32>, %places: tensor<4xindex>) -> tensor<4x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<4x5xf32> {
    %new = tensor.extract %v[%i] : tensor<4xf32>
    %place = tensor.extract %places[%i] : tensor<4xindex>
    %w = tensor.insert %new into %t[%i, %place] : tensor<4x5xf32>
    scf.yield %w : tensor<4x5xf32>
  }
  return %r : tensor<4x5xf32>
}

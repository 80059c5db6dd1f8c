// RUN: ipu-opt %s --ipu-drop-idle-ops --canonicalize | filecheck %s

// CHECK-LABEL: func.func @element_wise_op_on_nothing
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<0x3xf32>
// CHECK-NEXT: return %[[E]]
func.func @element_wise_op_on_nothing(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %e = tensor.empty() : tensor<0x3xf32>
  %y = linalg.exp ins(%x : tensor<0x3xf32>) outs(%e : tensor<0x3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @reduction_over_nothing_is_its_initial_value
// CHECK-SAME: (%{{.*}}: tensor<3x0xf32>, %[[ACC:.*]]: tensor<3xf32>)
// CHECK-NEXT: return %[[ACC]]
func.func @reduction_over_nothing_is_its_initial_value(%x: tensor<3x0xf32>, %acc: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<3x0xf32>) outs(%acc : tensor<3xf32>) dimensions = [1]
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @insertion_of_nothing
// CHECK-SAME: (%{{.*}}: tensor<0xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @insertion_of_nothing(%x: tensor<0xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = tensor.insert_slice %x into %y[2] [0] [1] : tensor<0xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @constants_and_slices_without_elements
// CHECK-NOT: arith.constant
// CHECK-NOT: tensor.extract_slice
// CHECK-DAG: tensor.empty() : tensor<0xf32>
// CHECK-DAG: tensor.empty() : tensor<0x2xf32>
func.func @constants_and_slices_without_elements(%x: tensor<4x2xf32>) -> (tensor<0xf32>, tensor<0x2xf32>) {
  %c = arith.constant dense<> : tensor<0xf32>
  %s = tensor.extract_slice %x[1, 0] [0, 2] [1, 1] : tensor<4x2xf32> to tensor<0x2xf32>
  return %c, %s : tensor<0xf32>, tensor<0x2xf32>
}

// CHECK-LABEL: func.func @loop_that_carries_nothing
// CHECK: %[[E:.*]] = tensor.empty() : tensor<0xf32>
// CHECK: return %[[E]]
func.func @loop_that_carries_nothing(%x: tensor<0xf32>, %n: index) -> tensor<0xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> tensor<0xf32> {
    %e = tensor.empty() : tensor<0xf32>
    %y = linalg.exp ins(%t : tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
    scf.yield %y : tensor<0xf32>
  }
  return %r : tensor<0xf32>
}

// A roll by nothing is a concatenation with nothing.
// CHECK-LABEL: func.func @load_from_nothing
// CHECK-NOT: tensor<0xf32>
func.func @load_from_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %four = arith.constant 4 : index
  %none = tensor.extract_slice %x[0] [0] [1] : tensor<4xf32> to tensor<0xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %four : index
    %v = scf.if %first -> (f32) {
      %a = tensor.extract %x[%i] : tensor<4xf32>
      scf.yield %a : f32
    } else {
      %j = arith.subi %i, %four : index
      %b = tensor.extract %none[%j] : tensor<0xf32>
      scf.yield %b : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @op_that_runs_stays
// CHECK: linalg.exp
func.func @op_that_runs_stays(%x: tensor<1xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %y = linalg.exp ins(%x : tensor<1xf32>) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

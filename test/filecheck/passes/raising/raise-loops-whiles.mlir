// RUN: ipu-opt %s --ipu-raise-loops --canonicalize | filecheck %s

// Loops of XLA: a counter without dimensions, a state, and a tensor that takes a slice in each iteration.

#point = affine_map<() -> ()>
#row = affine_map<(c) -> (c)>

// CHECK-LABEL: func.func @running_sum
// CHECK-NOT: scf.while
// CHECK: library_call = "scan_add"
// CHECK: %[[ALL:.*]] = tensor.collapse_shape
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[ALL]][5] [1] [1] : tensor<6xf32> to tensor<f32>
// CHECK: return %[[LAST]], %[[ALL]]
func.func @running_sum(%x: tensor<6xf32>, %begin: tensor<f32>) -> (tensor<f32>, tensor<6xf32>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %six = arith.constant 6 : i32
  %start = arith.constant dense<0> : tensor<i32>
  %half = arith.constant 0.5 : f32
  %y = tensor.empty() : tensor<6xf32>
  %r:3 = scf.while (%i = %start, %s = %begin, %t = %y) : (tensor<i32>, tensor<f32>, tensor<6xf32>) -> (tensor<i32>, tensor<f32>, tensor<6xf32>) {
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %six : i32
    scf.condition(%goes) %i, %s, %t : tensor<i32>, tensor<f32>, tensor<6xf32>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>, %t: tensor<6xf32>):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %zero : index
    %at = arith.minsi %least, %five : index
    %own = tensor.extract_slice %x[%at] [1] [1] : tensor<6xf32> to tensor<f32>
    %room = tensor.empty() : tensor<f32>
    %sum = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
        ins(%s, %own : tensor<f32>, tensor<f32>) outs(%room : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<f32>
    %filled = tensor.insert_slice %sum into %t[%at] [1] [1] : tensor<f32> into tensor<6xf32>
    %counters = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%i : tensor<i32>) outs(%counters : tensor<i32>) {
    ^bb0(%a: i32, %out: i32):
      %v = arith.addi %a, %one : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<f32>, tensor<6xf32>
  }
  return %r#1, %r#2 : tensor<f32>, tensor<6xf32>
}

// The state is a row; what goes into the tensor is that of the iteration before.
// CHECK-LABEL: func.func @exclusive_rows
// CHECK-NOT: scf.while
// CHECK: library_call = "scan_max"
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %{{.*}} into tensor<6x4xf32>
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[ALL]][5, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[ALL]][0, 0] [5, 4] [1, 1]
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[FIRST]] into %{{.*}}[1, 0] [5, 4] [1, 1]
// CHECK: return %[[LAST]], %[[Y]]
func.func @exclusive_rows(%x: tensor<6x4xf32>, %begin: tensor<4xf32>) -> (tensor<4xf32>, tensor<6x4xf32>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %six = arith.constant 6 : i32
  %start = arith.constant dense<0> : tensor<i32>
  %half = arith.constant 0.5 : f32
  %y = tensor.empty() : tensor<6x4xf32>
  %r:3 = scf.while (%i = %start, %s = %begin, %t = %y) : (tensor<i32>, tensor<4xf32>, tensor<6x4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<6x4xf32>) {
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %six : i32
    scf.condition(%goes) %i, %s, %t : tensor<i32>, tensor<4xf32>, tensor<6x4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %t: tensor<6x4xf32>):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %zero : index
    %at = arith.minsi %least, %five : index
    %own = tensor.extract_slice %x[%at, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %room = tensor.empty() : tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%s, %own : tensor<4xf32>, tensor<4xf32>) outs(%room : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %v = arith.maximumf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<4xf32>
    %filled = tensor.insert_slice %s into %t[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    %counters = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%i : tensor<i32>) outs(%counters : tensor<i32>) {
    ^bb0(%a: i32, %out: i32):
      %v = arith.addi %a, %one : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<4xf32>, tensor<6x4xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<6x4xf32>
}

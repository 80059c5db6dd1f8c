// RUN: ipu-opt %s --ipu-raise-loops --canonicalize | filecheck %s

// Each of these differs in one thing from running sums in an `scf.while`, and stays as it is.

#point = affine_map<() -> ()>
#row = affine_map<(c) -> (c)>


// A recurrence.
// CHECK-LABEL: func.func @recurrence
// CHECK: scf.while
// CHECK-NOT: scf.for
// CHECK-NOT: library_call
func.func @recurrence(%x: tensor<6xf32>, %begin: tensor<f32>) -> (tensor<f32>, tensor<6xf32>) {
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
      %h = arith.mulf %a, %half : f32
      %v = arith.addf %h, %b : f32
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

// Every other element.
// CHECK-LABEL: func.func @steps_of_two
// CHECK: scf.while
// CHECK-NOT: scf.for
// CHECK-NOT: library_call
func.func @steps_of_two(%x: tensor<6xf32>, %begin: tensor<f32>) -> (tensor<f32>, tensor<6xf32>) {
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
      %v = arith.addi %a, %two : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<f32>, tensor<6xf32>
  }
  return %r#1, %r#2 : tensor<f32>, tensor<6xf32>
}

// One iteration more than there are elements: the last one is added twice.
// CHECK-LABEL: func.func @one_too_many
// CHECK: scf.while
// CHECK-NOT: scf.for
// CHECK-NOT: library_call
func.func @one_too_many(%x: tensor<6xf32>, %begin: tensor<f32>) -> (tensor<f32>, tensor<6xf32>) {
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
    %goes = arith.cmpi sle, %n, %six : i32
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

// The state is what was read.
// CHECK-LABEL: func.func @no_sum
// CHECK: scf.while
// CHECK-NOT: scf.for
// CHECK-NOT: library_call
func.func @no_sum(%x: tensor<6xf32>, %begin: tensor<f32>) -> (tensor<f32>, tensor<6xf32>) {
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
    scf.yield %next, %own, %filled : tensor<i32>, tensor<f32>, tensor<6xf32>
  }
  return %r#1, %r#2 : tensor<f32>, tensor<6xf32>
}

// RUN: ipu-opt %s --ipu-raise-loops --canonicalize | filecheck %s

// What is rounded in each iteration of an `scf.while` stays a loop; a maximum is never rounded.

#point = affine_map<() -> ()>

// CHECK-LABEL: func.func @rounded_sum
// CHECK: scf.while
// CHECK-NOT: library_call
// CHECK: return
func.func @rounded_sum(%x: tensor<6xf16>, %begin: tensor<f16>) -> (tensor<f16>, tensor<6xf16>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %six = arith.constant 6 : i32
  %start = arith.constant dense<0> : tensor<i32>
  %half = arith.constant 0.5 : f16
  %y = tensor.empty() : tensor<6xf16>
  %r:3 = scf.while (%i = %start, %s = %begin, %t = %y) : (tensor<i32>, tensor<f16>, tensor<6xf16>) -> (tensor<i32>, tensor<f16>, tensor<6xf16>) {
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %six : i32
    scf.condition(%goes) %i, %s, %t : tensor<i32>, tensor<f16>, tensor<6xf16>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f16>, %t: tensor<6xf16>):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %zero : index
    %at = arith.minsi %least, %five : index
    %own = tensor.extract_slice %x[%at] [1] [1] : tensor<6xf16> to tensor<f16>
    %room = tensor.empty() : tensor<f16>
    %sum = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
        ins(%s, %own : tensor<f16>, tensor<f16>) outs(%room : tensor<f16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %v = arith.addf %a, %b : f16
      linalg.yield %v : f16
    } -> tensor<f16>
    %filled = tensor.insert_slice %sum into %t[%at] [1] [1] : tensor<f16> into tensor<6xf16>
    %counters = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%i : tensor<i32>) outs(%counters : tensor<i32>) {
    ^bb0(%a: i32, %out: i32):
      %v = arith.addi %a, %one : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<f16>, tensor<6xf16>
  }
  return %r#1, %r#2 : tensor<f16>, tensor<6xf16>
}

// CHECK-LABEL: func.func @rounded_product
// CHECK: scf.while
// CHECK-NOT: library_call
// CHECK: return
func.func @rounded_product(%x: tensor<6xf8E4M3FN>, %begin: tensor<f8E4M3FN>) -> (tensor<f8E4M3FN>, tensor<6xf8E4M3FN>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %six = arith.constant 6 : i32
  %start = arith.constant dense<0> : tensor<i32>
  %half = arith.constant 0.5 : f8E4M3FN
  %y = tensor.empty() : tensor<6xf8E4M3FN>
  %r:3 = scf.while (%i = %start, %s = %begin, %t = %y) : (tensor<i32>, tensor<f8E4M3FN>, tensor<6xf8E4M3FN>) -> (tensor<i32>, tensor<f8E4M3FN>, tensor<6xf8E4M3FN>) {
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %six : i32
    scf.condition(%goes) %i, %s, %t : tensor<i32>, tensor<f8E4M3FN>, tensor<6xf8E4M3FN>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f8E4M3FN>, %t: tensor<6xf8E4M3FN>):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %zero : index
    %at = arith.minsi %least, %five : index
    %own = tensor.extract_slice %x[%at] [1] [1] : tensor<6xf8E4M3FN> to tensor<f8E4M3FN>
    %room = tensor.empty() : tensor<f8E4M3FN>
    %sum = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
        ins(%s, %own : tensor<f8E4M3FN>, tensor<f8E4M3FN>) outs(%room : tensor<f8E4M3FN>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %out: f8E4M3FN):
      %v = arith.mulf %a, %b : f8E4M3FN
      linalg.yield %v : f8E4M3FN
    } -> tensor<f8E4M3FN>
    %filled = tensor.insert_slice %sum into %t[%at] [1] [1] : tensor<f8E4M3FN> into tensor<6xf8E4M3FN>
    %counters = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%i : tensor<i32>) outs(%counters : tensor<i32>) {
    ^bb0(%a: i32, %out: i32):
      %v = arith.addi %a, %one : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<f8E4M3FN>, tensor<6xf8E4M3FN>
  }
  return %r#1, %r#2 : tensor<f8E4M3FN>, tensor<6xf8E4M3FN>
}

// CHECK-LABEL: func.func @running_maximum
// CHECK-NOT: scf.while
// CHECK: library_call = "scan_max"
func.func @running_maximum(%x: tensor<6xbf16>, %begin: tensor<bf16>) -> (tensor<bf16>, tensor<6xbf16>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %six = arith.constant 6 : i32
  %start = arith.constant dense<0> : tensor<i32>
  %half = arith.constant 0.5 : bf16
  %y = tensor.empty() : tensor<6xbf16>
  %r:3 = scf.while (%i = %start, %s = %begin, %t = %y) : (tensor<i32>, tensor<bf16>, tensor<6xbf16>) -> (tensor<i32>, tensor<bf16>, tensor<6xbf16>) {
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %six : i32
    scf.condition(%goes) %i, %s, %t : tensor<i32>, tensor<bf16>, tensor<6xbf16>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<bf16>, %t: tensor<6xbf16>):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %zero : index
    %at = arith.minsi %least, %five : index
    %own = tensor.extract_slice %x[%at] [1] [1] : tensor<6xbf16> to tensor<bf16>
    %room = tensor.empty() : tensor<bf16>
    %sum = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
        ins(%s, %own : tensor<bf16>, tensor<bf16>) outs(%room : tensor<bf16>) {
    ^bb0(%a: bf16, %b: bf16, %out: bf16):
      %v = arith.maximumf %a, %b : bf16
      linalg.yield %v : bf16
    } -> tensor<bf16>
    %filled = tensor.insert_slice %sum into %t[%at] [1] [1] : tensor<bf16> into tensor<6xbf16>
    %counters = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#point, #point], iterator_types = []} ins(%i : tensor<i32>) outs(%counters : tensor<i32>) {
    ^bb0(%a: i32, %out: i32):
      %v = arith.addi %a, %one : i32
      linalg.yield %v : i32
    } -> tensor<i32>
    scf.yield %next, %sum, %filled : tensor<i32>, tensor<bf16>, tensor<6xbf16>
  }
  return %r#1, %r#2 : tensor<bf16>, tensor<6xbf16>
}

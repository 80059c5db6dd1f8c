// RUN: ipu-opt %s --ipu-raise-loops --canonicalize --cse | filecheck %s

// A nest that sorts rows of keys, and values with them, is a scatter of each; the ranks are counted once.
// CHECK-LABEL: func.func @keys_and_values
// CHECK-SAME: (%{{.*}}: tensor<2x4xi32>, %{{.*}}: tensor<2x4xf32>, %[[A:.*]]: tensor<2x4xi32>, %[[B:.*]]: tensor<2x4xf32>)
// CHECK-NOT: scf.for
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: "reduction"{{.*}}"parallel", "parallel", "reduction"
// CHECK: %[[K:.*]] = linalg.generic {{.*}}library_call = "scatter_set"
// CHECK-SAME: outs(%[[A]]
// CHECK: %[[V:.*]] = linalg.generic {{.*}}library_call = "scatter_set"
// CHECK-SAME: outs(%[[B]]
// CHECK: return %[[K]], %[[V]]
func.func @keys_and_values(%k: tensor<2x4xi32>, %v: tensor<2x4xf32>, %a: tensor<2x4xi32>, %b: tensor<2x4xf32>)
    -> (tensor<2x4xi32>, tensor<2x4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %r:2 = scf.for %row = %zero to %two step %one iter_args(%s = %a, %t = %b) -> (tensor<2x4xi32>, tensor<2x4xf32>) {
    %q:2 = scf.for %i = %zero to %four step %one iter_args(%u = %s, %w = %t) -> (tensor<2x4xi32>, tensor<2x4xf32>) {
      %mine = tensor.extract %k[%row, %i] : tensor<2x4xi32>
      %value = tensor.extract %v[%row, %i] : tensor<2x4xf32>
      %rank = scf.for %j = %zero to %four step %one iter_args(%n = %zero) -> index {
        %other = tensor.extract %k[%row, %j] : tensor<2x4xi32>
        %less = arith.cmpi slt, %other, %mine : i32
        %more = arith.addi %n, %one : index
        %count = arith.select %less, %more, %n : index
        scf.yield %count : index
      }
      %u1 = tensor.insert %mine into %u[%row, %rank] : tensor<2x4xi32>
      %w1 = tensor.insert %value into %w[%row, %rank] : tensor<2x4xf32>
      scf.yield %u1, %w1 : tensor<2x4xi32>, tensor<2x4xf32>
    }
    scf.yield %q#0, %q#1 : tensor<2x4xi32>, tensor<2x4xf32>
  }
  return %r#0, %r#1 : tensor<2x4xi32>, tensor<2x4xf32>
}

// What goes into one tensor depends on the other: the loop stays.
// CHECK-LABEL: func.func @one_reads_the_other
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @one_reads_the_other(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %r:2 = scf.for %i = %zero to %four step %one iter_args(%s = %a, %t = %b) -> (tensor<4xi32>, tensor<4xi32>) {
    %x = tensor.extract %t[%zero] : tensor<4xi32>
    %s1 = tensor.insert %x into %s[%i] : tensor<4xi32>
    %y = tensor.extract %s[%zero] : tensor<4xi32>
    %t1 = tensor.insert %y into %t[%i] : tensor<4xi32>
    scf.yield %s1, %t1 : tensor<4xi32>, tensor<4xi32>
  }
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}

// A loop that computes whole tensors is not computed twice.
// CHECK-LABEL: func.func @whole_tensors
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @whole_tensors(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %r:2 = scf.for %i = %zero to %four step %one iter_args(%s = %a, %t = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s1 = linalg.exp ins(%s : tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
    %t1 = linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s1, %t1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// Under a condition: each tensor has its own.
// CHECK-LABEL: func.func @the_first_two
// CHECK-SAME: (%{{.*}}: tensor<4xindex>, %{{.*}}: tensor<4xf32>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xindex>)
// CHECK-NOT: scf.for
// CHECK: %[[V:.*]] = linalg.generic {{.*}}library_call = "scatter_set"
// CHECK-SAME: outs(%[[A]]
// CHECK: %[[P:.*]] = linalg.generic {{.*}}library_call = "scatter_set"
// CHECK-SAME: outs(%[[B]]
// CHECK: return %[[V]], %[[P]]
func.func @the_first_two(%rank: tensor<4xindex>, %v: tensor<4xf32>, %a: tensor<2xf32>, %b: tensor<2xindex>)
    -> (tensor<2xf32>, tensor<2xindex>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %r:2 = scf.for %i = %zero to %four step %one iter_args(%s = %a, %t = %b) -> (tensor<2xf32>, tensor<2xindex>) {
    %value = tensor.extract %v[%i] : tensor<4xf32>
    %at = tensor.extract %rank[%i] : tensor<4xindex>
    %kept = arith.cmpi ult, %at, %two : index
    %q:2 = scf.if %kept -> (tensor<2xf32>, tensor<2xindex>) {
      %x = tensor.insert %value into %s[%at] : tensor<2xf32>
      %y = tensor.insert %i into %t[%at] : tensor<2xindex>
      scf.yield %x, %y : tensor<2xf32>, tensor<2xindex>
    } else {
      scf.yield %s, %t : tensor<2xf32>, tensor<2xindex>
    }
    scf.yield %q#0, %q#1 : tensor<2xf32>, tensor<2xindex>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xindex>
}

// RUN: ipu-opt %s --ipu-raise-choices | filecheck %s

#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
#both = affine_map<(d0, d1) -> (d0, d1)>

// The counter is an index of the tensor: nothing is left to compare, and what is put there is sliced alike.
// CHECK-LABEL: func.func @at_the_counter
// CHECK-SAME: (%[[X:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6xf32>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[OLD:.*]] = %[[X]])
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[NEW:.*]] = tensor.extract_slice %[[V]][%[[AT]]] [1] [1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[OLD]][%[[AT]], 0] [1, 4] [1, 1]
// CHECK: %[[ROW:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NEW]], %[[PART]] : {{.*}}) outs(%{{.*}} : tensor<1x4xf32>)
// CHECK-NOT: arith.cmpi
// CHECK: tensor.insert_slice %[[ROW]] into %[[OLD]][%[[AT]], 0] [1, 4] [1, 1]
func.func @at_the_counter(%x: tensor<6x4xf32>, %v: tensor<6xf32>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%old = %x) -> (tensor<6x4xf32>) {
    %n = arith.index_cast %i : index to i32
    %at = tensor.from_elements %n : tensor<i32>
    %e = tensor.empty() : tensor<6x4xf32>
    %new = linalg.generic {indexing_maps = [#none, #row, #both, #both], iterator_types = ["parallel", "parallel"]}
        ins(%at, %v, %old : tensor<i32>, tensor<6xf32>, tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%a: i32, %b: f32, %c: f32, %o: f32):
      %d = linalg.index 0 : index
      %m = arith.index_cast %d : index to i32
      %is = arith.cmpi eq, %m, %a : i32
      %twice = arith.addf %b, %b : f32
      %s = arith.select %is, %twice, %c : f32
      linalg.yield %s : f32
    } -> tensor<6x4xf32>
    scf.yield %new : tensor<6x4xf32>
  }
  return %r : tensor<6x4xf32>
}

// One element, at indices that the program computes: they are limited, and the choice remains.
// CHECK-LABEL: func.func @at_any_indices
// CHECK: scf.for {{.*}} iter_args(%[[OLD:.*]] =
// CHECK: %[[P:.*]] = arith.minsi
// CHECK: %[[Q:.*]] = arith.minsi
// CHECK: tensor.extract_slice %[[OLD]][%[[P]], %[[Q]]] [1, 1] [1, 1]
// CHECK: linalg.generic
// CHECK: arith.cmpi eq, %[[P]]
// CHECK: arith.cmpi eq, %[[Q]]
// CHECK: tensor.insert_slice %{{.*}} into %[[OLD]][%[[P]], %[[Q]]] [1, 1] [1, 1]
func.func @at_any_indices(%x: tensor<6x4xf32>, %p: tensor<9x2xindex>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%old = %x) -> (tensor<6x4xf32>) {
    %a = tensor.extract %p[%i, %c0] : tensor<9x2xindex>
    %b = tensor.extract %p[%i, %c1] : tensor<9x2xindex>
    %e = tensor.empty() : tensor<6x4xf32>
    %new = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
        ins(%old : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%c: f32, %o: f32):
      %m = linalg.index 0 : index
      %n = linalg.index 1 : index
      %first = arith.cmpi eq, %m, %a : index
      %second = arith.cmpi eq, %n, %b : index
      %is = arith.andi %first, %second : i1
      %s = arith.select %is, %one, %c : f32
      linalg.yield %s : f32
    } -> tensor<6x4xf32>
    scf.yield %new : tensor<6x4xf32>
  }
  return %r : tensor<6x4xf32>
}

// What others read as well, an index that differs from element to element, and a choice of the others stay.
// CHECK-LABEL: func.func @others_stay
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @others_stay(%x: tensor<6x4xf32>, %p: tensor<6xindex>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %r:4 = scf.for %i = %c0 to %c4 step %c1 iter_args(%q = %x, %s = %x, %t = %x, %n = %one) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, f32) {
    %seen = tensor.extract %q[%c0, %c0] : tensor<6x4xf32>
    %a = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%c: f32, %o: f32):
      %d = linalg.index 0 : index
      %is = arith.cmpi eq, %d, %i : index
      %new = arith.select %is, %one, %c : f32
      linalg.yield %new : f32
    } -> tensor<6x4xf32>
    %b = linalg.generic {indexing_maps = [#row, #both, #both], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<6xindex>, tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%k: index, %c: f32, %o: f32):
      %d = linalg.index 1 : index
      %is = arith.cmpi eq, %d, %k : index
      %new = arith.select %is, %one, %c : f32
      linalg.yield %new : f32
    } -> tensor<6x4xf32>
    %z = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%c: f32, %o: f32):
      %d = linalg.index 0 : index
      %is = arith.cmpi ne, %d, %i : index
      %new = arith.select %is, %one, %c : f32
      linalg.yield %new : f32
    } -> tensor<6x4xf32>
    scf.yield %a, %b, %z, %seen : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, f32
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, f32
}

// RUN: ipu-opt %s --ipu-raise-loads | filecheck %s
// RUN: ipu-opt %s --ipu-raise-loads --canonicalize | filecheck %s --check-prefix=CLEAN

#id = affine_map<(i, j) -> (i, j)>

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @transposed
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[T]], #[[ID]]]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<3x4xf32>, tensor<4x3xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NOT: tensor.extract
// CHECK: arith.subf %[[X]], %[[Y]]
func.func @transposed(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %b = tensor.extract %y[%j, %i] : tensor<4x3xf32>
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @only_loads
// CLEAN-LABEL: func.func @only_loads
// CLEAN-NEXT: return %arg0
func.func @only_loads(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %b = tensor.extract %x[%i, %j] : tensor<3x4xf32>
    linalg.yield %b : f32
  } -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// One that reads another part, one at an index that was computed, and one that is read only where a condition holds.
// CHECK-LABEL: func.func @other_loads_stay
// CHECK-COUNT-3: tensor.extract
func.func @other_loads_stay(%x: tensor<3x5xf32>, %n: tensor<3x4xindex>, %c: tensor<3x4xi1>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%n, %c : tensor<3x4xindex>, tensor<3x4xi1>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%k: index, %holds: i1, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = tensor.extract %x[%i, %j] : tensor<3x5xf32>
    %b = tensor.extract %x[%i, %k] : tensor<3x5xf32>
    %d = scf.if %holds -> f32 {
      %f = tensor.extract %x[%i, %j] : tensor<3x5xf32>
      scf.yield %f : f32
    } else {
      scf.yield %zero : f32
    }
    %1 = arith.addf %a, %b : f32
    %2 = arith.addf %1, %d : f32
    linalg.yield %2 : f32
  } -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

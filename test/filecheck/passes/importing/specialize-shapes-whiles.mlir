// RUN: ipu-opt %s --ipu-specialize-shapes=sizes=6 | filecheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<6x4xf32>, %{{.*}}: i32) -> tensor<6x4xf32>
// CHECK-NOT: ?
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[X]]) : (i32, tensor<6x4xf32>) -> (i32, tensor<6x4xf32>)
func.func @main(%x: tensor<?x4xf32>, %end: i32) -> tensor<?x4xf32> {
  %zero = arith.constant 0 : index
  %start = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  %r:2 = scf.while (%i = %start, %s = %x) : (i32, tensor<?x4xf32>) -> (i32, tensor<?x4xf32>) {
    %goes = arith.cmpi slt, %i, %end : i32
    scf.condition(%goes) %i, %s : i32, tensor<?x4xf32>
  } do {
  ^bb0(%i: i32, %s: tensor<?x4xf32>):
    %next = arith.addi %i, %one : i32
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %t = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%s, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<?x4xf32>
    scf.yield %next, %t : i32, tensor<?x4xf32>
  }
  return %r#1 : tensor<?x4xf32>
}

// RUN: ipu-opt %s --ipu-raise-recurrences | filecheck %s
// RUN: ipu-opt %s --ipu-raise-recurrences='memory-proportion=0.1' | filecheck %s --check-prefix=MORE
// 384 bytes for the products of all steps are more than a sixteenth of what a single tile of 4,096 bytes has.
#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 4096}>} {
// MORE:        linalg.generic {{.*}} outs(%{{.*}} : tensor<3x2x16xf32>)
// MORE:        scf.for
// CHECK-LABEL: func.func @no_memory_for_all_products(
// CHECK-NOT:   linalg.generic
// CHECK:       scf.for
// CHECK:       } {ipu.recurrence = "lstm"}
func.func @no_memory_for_all_products(%x: tensor<3x2x5xf32>, %w: tensor<5x16xf32>, %u: tensor<4x16xf32>, %h0: tensor<2x4xf32>, %c0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %end = arith.constant 3 : index
  %wide = tensor.empty() : tensor<2x16xf32>
  %narrow = tensor.empty() : tensor<2x4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x16xf32>) -> tensor<2x16xf32>
  %r:2 = scf.for %t = %begin to %end step %step iter_args(%h = %h0, %c = %c0) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %row = tensor.extract_slice %x[%t, 0, 0] [1, 2, 5] [1, 1, 1] : tensor<3x2x5xf32> to tensor<2x5xf32>
    %given = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%row, %w : tensor<2x5xf32>, tensor<5x16xf32>) outs(%nothing : tensor<2x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x16xf32>
    %own = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%h, %u : tensor<2x4xf32>, tensor<4x16xf32>) outs(%nothing : tensor<2x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x16xf32>
    %gates = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%given, %own : tensor<2x16xf32>, tensor<2x16xf32>) outs(%wide : tensor<2x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x16xf32>
    %i = tensor.extract_slice %gates[0, 0] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
    %f = tensor.extract_slice %gates[0, 4] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
    %g = tensor.extract_slice %gates[0, 8] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
    %out = tensor.extract_slice %gates[0, 12] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
    %c_new = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i, %f, %g, %c : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%i_: f32, %f_: f32, %g_: f32, %c_: f32, %o: f32):
      %n0 = arith.negf %i_ : f32
      %e0 = math.exp %n0 : f32
      %d0 = arith.addf %e0, %one : f32
      %s0 = arith.divf %one, %d0 : f32
      %n1 = arith.negf %f_ : f32
      %e1 = math.exp %n1 : f32
      %d1 = arith.addf %e1, %one : f32
      %s1 = arith.divf %one, %d1 : f32
      %th = math.tanh %g_ : f32
      %a = arith.mulf %s1, %c_ : f32
      %b = arith.mulf %s0, %th : f32
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x4xf32>
    %h_new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out, %c_new : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%o_: f32, %c_: f32, %o: f32):
      %n0 = arith.negf %o_ : f32
      %e0 = math.exp %n0 : f32
      %d0 = arith.addf %e0, %one : f32
      %s0 = arith.divf %one, %d0 : f32
      %th = math.tanh %c_ : f32
      %r = arith.mulf %s0, %th : f32
      linalg.yield %r : f32
    } -> tensor<2x4xf32>
    scf.yield %h_new, %c_new : tensor<2x4xf32>, tensor<2x4xf32>
  }
  return %r#0 : tensor<2x4xf32>
}
}

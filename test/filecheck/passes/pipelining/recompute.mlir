// RUN: ipu-opt %s --split-input-file --ipu-recompute='cycles=0.3' | filecheck %s
// RUN: ipu-opt %s --split-input-file --ipu-recompute='cycles=0.3' --cse --ipu-drop-barriers | filecheck %s --check-prefix=STAYS
// RUN: ipu-opt %s --split-input-file --ipu-recompute | filecheck %s --check-prefix=NOTHING

// What waits where most is held, the absolute value and the negative, is computed again from the product, which is not.
// CHECK-LABEL: func.func @cheap_values_are_computed_again(
// CHECK:       %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 :
// CHECK:       math.absf
// CHECK:       arith.negf
// CHECK:       arith.addf
// CHECK:       math.floor
// CHECK:       %[[ANEW:.*]] = "ipu.barrier"(%[[PRODUCT]])
// CHECK:       %[[LESS:.*]] = linalg.generic {{.*}} ins(%[[ANEW]] :
// CHECK:       arith.negf
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[LESS]] :
// CHECK:       arith.minimumf
// CHECK:       %[[SIZE:.*]] = linalg.generic {{.*}} ins(%[[ANEW]] :
// CHECK:       math.absf
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[SIZE]] :
// CHECK:       arith.subf
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[PRODUCT]] :

// Barriers keep the two apart.
// STAYS-LABEL: func.func @cheap_values_are_computed_again(
// STAYS-NOT:   ipu.barrier
// STAYS:       math.absf
// STAYS:       math.floor
// STAYS:       math.absf

// NOTHING-LABEL: func.func @cheap_values_are_computed_again(
// NOTHING-COUNT-1: math.absf
// NOTHING-NOT:     math.absf

#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j, k) -> (i, k)>
#column = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
func.func @cheap_values_are_computed_again(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %size = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %less = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %loss = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%size, %less : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %more = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%loss : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.floor %a : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %first = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%more, %less : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.minimumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %second = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%first, %size : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %slope = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%second, %product : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %slope : tensor<64x64xf32>
}

// -----

// What is placed is only copied again: here the whole of a tensor that is stored a half on each tile.
// CHECK-LABEL: func.func @copies_are_copied_again(
// CHECK-SAME:  %[[X:.*]]: tensor<8xf32
// CHECK:       %[[FIRST:.*]] = tensor.cast %[[X]]
// CHECK:       ins(%[[FIRST]] :
// CHECK:       %[[SECOND:.*]] = tensor.cast %[[X]]
// CHECK:       ins(%{{.*}}, %[[SECOND]] :
// NOTHING-LABEL: func.func @copies_are_copied_again(
// NOTHING-COUNT-2: tensor.cast
// NOTHING-NOT:     tensor.cast
#line = affine_map<(i) -> (i)>
#halves = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>
#both = #ipu.mapping<8, [[1, 2, 0, 1], [8, 8, 1, 0]], 0, 0>
func.func @copies_are_copied_again(%x: tensor<8xf32, #halves>) -> tensor<8xf32, #halves> {
  %e = tensor.empty() : tensor<8xf32, #halves>
  %first = tensor.cast %x : tensor<8xf32, #halves> to tensor<8xf32, #both>
  %a = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%first : tensor<8xf32, #both>) outs(%e : tensor<8xf32, #halves>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.sin %v : f32
    linalg.yield %r : f32
  } -> tensor<8xf32, #halves>
  %other = tensor.cast %a : tensor<8xf32, #halves> to tensor<8xf32, #both>
  %b = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%other : tensor<8xf32, #both>) outs(%e : tensor<8xf32, #halves>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.sin %v : f32
    linalg.yield %r : f32
  } -> tensor<8xf32, #halves>
  %c = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%b, %first : tensor<8xf32, #halves>, tensor<8xf32, #both>) outs(%e : tensor<8xf32, #halves>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.mulf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<8xf32, #halves>
  return %c : tensor<8xf32, #halves>
}

// RUN: ipu-opt %s --ipu-batch-iterations --split-input-file | filecheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (0, d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>

// Each iteration makes a row of its own; the places go from the last row to the first.
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1, d2) -> (-d0 + 5, d1, d2)>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: memref<9x4xf32>, %[[OUT:.*]]: memref<8x4xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[NUMBERS:.*]] = memref.alloc() : memref<6xindex>
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<6x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[NUMBERS]] : memref<6xindex>) outs(%[[ROWS]] : memref<6x4xf32>)
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %{{.*}}: f32):
// CHECK-NEXT: %[[J:.*]] = linalg.index 1
// CHECK-NEXT: memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT: math.exp
// CHECK: %[[SLICES:.*]] = memref.reinterpret_cast %[[ROWS]] to offset: [0], sizes: [6, 1, 4]
// CHECK: %[[PLACES:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [8], sizes: [6, 1, 4], strides: [4, 4, 1]
// CHECK: linalg.generic {indexing_maps = [#[[BACK]], #{{.*}}]{{.*}} ins(%[[SLICES]] {{.*}} outs(%[[PLACES]]
func.func @rows(%x: memref<9x4xf32>, %out: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c1 to %c7 step %c1 {
    %row = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%row : memref<4xf32>) {
    ^bb0(%o: f32):
      %j = linalg.index 0 : index
      %e = memref.load %x[%i, %j] : memref<9x4xf32>
      %y = math.exp %e : f32
      linalg.yield %y : f32
    }
    %back = arith.subi %c8, %i : index
    %low = arith.maxsi %back, %c0 : index
    %at = arith.minsi %low, %c7 : index
    %slice = memref.expand_shape %row [[0, 1]] output_shape [1, 4] : memref<4xf32> into memref<1x4xf32>
    linalg.generic {indexing_maps = [#none, #none, #row, #both], iterator_types = ["parallel", "parallel"], library_call = "update_slice"}
        ins(%at, %c0, %slice : index, index, memref<1x4xf32>) outs(%out : memref<8x4xf32>) {
    ^bb0(%a: index, %b: index, %c: f32, %o: f32):
      linalg.yield %o : f32
    }
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
#one = affine_map<() -> ()>

// What is carried becomes a reduction; a value that differs from iteration to iteration is one more operand. The sum in
// which each iteration begins with zeros stays one for each.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[AXIS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:.*]]: memref<6x4xf32>, %[[START:.*]]: memref<4xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[TOTALS:.*]] = memref.alloc() : memref<3xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[TOTALS]] : memref<3xf32>)
// CHECK: %[[RESULT:.*]] = memref.alloc() : memref<4xf32>
// CHECK: linalg.copy ins(%[[START]] : memref<4xf32>) outs(%[[RESULT]] : memref<4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[AXIS]], #[[ROW]]], iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : memref<3xf32>) outs(%[[RESULT]] : memref<4xf32>)
// CHECK-NEXT: ^bb0(%[[T:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK-NEXT: %[[E:.*]] = math.tanh %[[T]]
// CHECK-NEXT: arith.addf %[[OLD]], %[[E]]
// CHECK: return %[[RESULT]]
func.func @sums(%x: memref<6x4xf32>, %start: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %found = scf.for %i = %c0 to %c6 step %c2 iter_args(%old = %start) -> (memref<4xf32>) {
    %row = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%row : memref<4xf32>) {
    ^bb0(%o: f32):
      %j = linalg.index 0 : index
      %e = memref.load %x[%i, %j] : memref<6x4xf32>
      linalg.yield %e : f32
    }
    %total = memref.alloc() : memref<f32>
    linalg.fill ins(%zero : f32) outs(%total : memref<f32>)
    linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%row : memref<4xf32>) outs(%total : memref<f32>) {
    ^bb0(%e: f32, %o: f32):
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
    %number = memref.load %total[] : memref<f32>
    %new = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%old : memref<4xf32>) outs(%new : memref<4xf32>) {
    ^bb0(%e: f32, %o: f32):
      %t = math.tanh %number : f32
      %s = arith.addf %e, %t : f32
      linalg.yield %s : f32
    }
    scf.yield %new : memref<4xf32>
  }
  return %found : memref<4xf32>
}

// -----

#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0) -> (d0)>

// The updates of all iterations are one scatter, in their order, into a copy if the loop has made one.
// CHECK-DAG: #[[GIVEN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1, d2) -> (0, d1)>
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @scatters
// CHECK-SAME: (%{{.*}}: memref<5x8xindex>, %[[GUARD:.*]]: memref<8xi1>, %{{.*}}, %{{.*}}, %[[X:.*]]: memref<64xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[RESULT:.*]] = memref.alloc() : memref<64xf32>
// CHECK: linalg.copy ins(%[[X]] : memref<64xf32>) outs(%[[RESULT]] : memref<64xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[GIVEN]], #[[SAME]], #[[SAME]], #[[OWN]], #[[OWN]]], iterator_types = ["reduction", "reduction", "parallel"], library_call = "scatter_add"} {{.*}} outs(%[[RESULT]] : memref<64xf32>)
// CHECK: return %[[RESULT]]
func.func @scatters(%p: memref<5x8xindex>, %guard: memref<8xi1>, %v: memref<8xf32>, %own: memref<64xindex>, %x: memref<64xf32>) -> memref<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %found = scf.for %i = %c0 to %c5 step %c1 iter_args(%old = %x) -> (memref<64xf32>) {
    %places = memref.alloc() : memref<8xindex>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%places : memref<8xindex>) {
    ^bb0(%o: index):
      %j = linalg.index 0 : index
      %e = memref.load %p[%i, %j] : memref<5x8xindex>
      linalg.yield %e : index
    }
    %new = memref.alloc() : memref<64xf32>
    memref.copy %old, %new : memref<64xf32> to memref<64xf32>
    linalg.generic {indexing_maps = [#first, #first, #first, #second, #second], iterator_types = ["reduction", "parallel"], library_call = "scatter_add"}
        ins(%places, %guard, %v, %own : memref<8xindex>, memref<8xi1>, memref<8xf32>, memref<64xindex>) outs(%new : memref<64xf32>) {
    ^bb0(%a: index, %b: i1, %c: f32, %d: index, %o: f32):
      linalg.yield %o : f32
    }
    scf.yield %new : memref<64xf32>
  }
  return %found : memref<64xf32>
}

// RUN: ipu-opt %s --ipu-merge-scatters --split-input-file | filecheck %s

#first = affine_map<(p, k, n) -> (p, 0)>
#update = affine_map<(p, k, n) -> (p, k)>
#block = affine_map<(p, k, n) -> (p)>
#own = affine_map<(p, k, n) -> (n)>
#out = affine_map<(p, k, n) -> (p, n)>
#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#behind = affine_map<(i, j) -> (j, i)>
#kept = affine_map<(i, j) -> (i)>

// All updates go to the result.
// CHECK: #[[UPDATE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #[[OWN:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @histogram
// CHECK-SAME: (%[[AT:.*]]: memref<8x125xindex>, %[[GUARD:.*]]: memref<8x125xi1>, %[[UPDATES:.*]]: memref<8x125xf32>, %[[OWNED:.*]]: memref<50xindex>, %[[INTO:.*]]: memref<50xf32>)
// CHECK-NOT: memref<8x50xf32>
// CHECK: linalg.generic {indexing_maps = [#[[UPDATE]], #[[UPDATE]], #[[UPDATE]], #[[OWN]], #[[OWN]]], iterator_types = ["reduction", "reduction", "parallel"], library_call = "scatter_add"}
// CHECK-SAME: ins(%[[AT]], %[[GUARD]], %[[UPDATES]], %[[OWNED]] : {{.*}}) outs(%[[INTO]] : memref<50xf32>)
// CHECK-NOT: arith.addf
func.func @histogram(%at: memref<8x125xindex>, %guard: memref<8x125xi1>, %updates: memref<8x125xf32>, %own: memref<50xindex>,
                     %into: memref<50xf32>) {
  %nought = arith.constant -0.0 : f32
  %block = memref.alloc() : memref<8x1xindex>
  linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%block : memref<8x1xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %blocks = memref.alloc() : memref<8xindex>
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%blocks : memref<8xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %partials = memref.alloc() : memref<8x50xf32>
  linalg.fill ins(%nought : f32) outs(%partials : memref<8x50xf32>)
  linalg.generic {indexing_maps = [#first, #update, #update, #update, #block, #own, #out],
                  iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"}
      ins(%block, %at, %guard, %updates, %blocks, %own : memref<8x1xindex>, memref<8x125xindex>, memref<8x125xi1>,
          memref<8x125xf32>, memref<8xindex>, memref<50xindex>) outs(%partials : memref<8x50xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [#behind, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%partials : memref<8x50xf32>) outs(%into : memref<50xf32>) {
  ^bb0(%x: f32, %o: f32):
    %sum = arith.addf %o, %x : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#first = affine_map<(p, k, n) -> (p, 0)>
#update = affine_map<(p, k, n) -> (p, k)>
#block = affine_map<(p, k, n) -> (p)>
#own = affine_map<(p, k, n) -> (n)>
#out = affine_map<(p, k, n) -> (p, n)>
#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#behind = affine_map<(i, j) -> (j, i)>
#kept = affine_map<(i, j) -> (i)>

// Partial results begin with 1.
// CHECK-LABEL: func.func @begins_with_one
// CHECK-COUNT-2: memref<8x50xf32>
// CHECK: arith.addf
func.func @begins_with_one(%at: memref<8x125xindex>, %guard: memref<8x125xi1>, %updates: memref<8x125xf32>, %own: memref<50xindex>,
                     %into: memref<50xf32>) {
  %nought = arith.constant 1.0 : f32
  %block = memref.alloc() : memref<8x1xindex>
  linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%block : memref<8x1xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %blocks = memref.alloc() : memref<8xindex>
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%blocks : memref<8xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %partials = memref.alloc() : memref<8x50xf32>
  linalg.fill ins(%nought : f32) outs(%partials : memref<8x50xf32>)
  linalg.generic {indexing_maps = [#first, #update, #update, #update, #block, #own, #out],
                  iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"}
      ins(%block, %at, %guard, %updates, %blocks, %own : memref<8x1xindex>, memref<8x125xindex>, memref<8x125xi1>,
          memref<8x125xf32>, memref<8xindex>, memref<50xindex>) outs(%partials : memref<8x50xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [#behind, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%partials : memref<8x50xf32>) outs(%into : memref<50xf32>) {
  ^bb0(%x: f32, %o: f32):
    %sum = arith.addf %o, %x : f32
    linalg.yield %sum : f32
  }
  return
}

// The numbers of the blocks are arguments, of which nothing is known.
// CHECK-LABEL: func.func @numbered_by_others
// CHECK-COUNT-2: memref<8x50xf32>
// CHECK: arith.addf
func.func @numbered_by_others(%at: memref<8x125xindex>, %guard: memref<8x125xi1>, %updates: memref<8x125xf32>, %own: memref<50xindex>,
               %into: memref<50xf32>, %blocks: memref<8xindex>, %block: memref<8x1xindex>) {
  %nought = arith.constant -0.0 : f32
  %partials = memref.alloc() : memref<8x50xf32>
  linalg.fill ins(%nought : f32) outs(%partials : memref<8x50xf32>)
  linalg.generic {indexing_maps = [#first, #update, #update, #update, #block, #own, #out],
                  iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"}
      ins(%block, %at, %guard, %updates, %blocks, %own : memref<8x1xindex>, memref<8x125xindex>, memref<8x125xi1>,
          memref<8x125xf32>, memref<8xindex>, memref<50xindex>) outs(%partials : memref<8x50xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [#behind, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%partials : memref<8x50xf32>) outs(%into : memref<50xf32>) {
  ^bb0(%x: f32, %o: f32):
    %sum = arith.addf %o, %x : f32
    linalg.yield %sum : f32
  }
  return
}

// Updates are written to before the combination.
// CHECK-LABEL: func.func @changed
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[PARTIALS:.*]] : memref<8x50xf32>)
// CHECK: library_call = "scatter_add"} {{.*}} outs(%[[PARTIALS]]
// CHECK: linalg.fill ins(%{{.*}}) outs(%{{.*}} : memref<8x125xf32>)
// CHECK: ins(%[[PARTIALS]]
func.func @changed(%at: memref<8x125xindex>, %guard: memref<8x125xi1>, %updates: memref<8x125xf32>, %own: memref<50xindex>,
                   %into: memref<50xf32>) {
  %nought = arith.constant -0.0 : f32
  %block = memref.alloc() : memref<8x1xindex>
  linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%block : memref<8x1xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %blocks = memref.alloc() : memref<8xindex>
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%blocks : memref<8xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %partials = memref.alloc() : memref<8x50xf32>
  linalg.fill ins(%nought : f32) outs(%partials : memref<8x50xf32>)
  linalg.generic {indexing_maps = [#first, #update, #update, #update, #block, #own, #out],
                  iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"}
      ins(%block, %at, %guard, %updates, %blocks, %own : memref<8x1xindex>, memref<8x125xindex>, memref<8x125xi1>,
          memref<8x125xf32>, memref<8xindex>, memref<50xindex>) outs(%partials : memref<8x50xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  linalg.fill ins(%nought : f32) outs(%updates : memref<8x125xf32>)
  linalg.generic {indexing_maps = [#behind, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%partials : memref<8x50xf32>) outs(%into : memref<50xf32>) {
  ^bb0(%x: f32, %o: f32):
    %sum = arith.addf %o, %x : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#first = affine_map<(p, k, n) -> (p, 0)>
#update = affine_map<(p, k, n) -> (p, k)>
#block = affine_map<(p, k, n) -> (p)>
#own = affine_map<(p, k, n) -> (n)>
#out = affine_map<(p, k, n) -> (p, n)>
#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#behind = affine_map<(i, j) -> (j, i)>
#kept = affine_map<(i, j) -> (i)>
#left = affine_map<(k, n) -> (k)>
#right = affine_map<(k, n) -> (n)>

// What is left of equal parts went first.
// CHECK-LABEL: func.func @all_at_once
// CHECK-SAME: (%[[AT:.*]]: memref<1001xindex>, %[[GUARD:.*]]: memref<i1>, %[[UPDATES:.*]]: memref<1001xf32>, %[[OWNED:.*]]: memref<50xindex>, %[[INTO:.*]]: memref<50xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"], library_call = "scatter_add"}
// CHECK-SAME: ins(%[[AT]], %[[GUARD]], %[[UPDATES]], %[[OWNED]] : {{.*}}) outs(%[[INTO]] : memref<50xf32>)
// CHECK-NOT: scatter_add
func.func @all_at_once(%at: memref<1001xindex>, %guard: memref<i1>, %updates: memref<1001xf32>, %own: memref<50xindex>,
                       %into: memref<50xf32>) {
  %nought = arith.constant -0.0 : f32
  %block = memref.alloc() : memref<8x1xindex>
  linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%block : memref<8x1xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %blocks = memref.alloc() : memref<8xindex>
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%blocks : memref<8xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  %at0 = memref.subview %at[0] [1] [1] : memref<1001xindex> to memref<1xindex, strided<[1]>>
  %updates0 = memref.subview %updates[0] [1] [1] : memref<1001xf32> to memref<1xf32, strided<[1]>>
  %at1 = memref.subview %at[1] [1000] [1] : memref<1001xindex> to memref<1000xindex, strided<[1], offset: 1>>
  %updates1 = memref.subview %updates[1] [1000] [1] : memref<1001xf32> to memref<1000xf32, strided<[1], offset: 1>>
  %at2 = memref.expand_shape %at1 [[0, 1]] output_shape [8, 125]
      : memref<1000xindex, strided<[1], offset: 1>> into memref<8x125xindex, strided<[125, 1], offset: 1>>
  %updates2 = memref.expand_shape %updates1 [[0, 1]] output_shape [8, 125]
      : memref<1000xf32, strided<[1], offset: 1>> into memref<8x125xf32, strided<[125, 1], offset: 1>>
  linalg.generic {indexing_maps = [#left, affine_map<(k, n) -> ()>, #left, #right, #right],
                  iterator_types = ["reduction", "parallel"], library_call = "scatter_add"}
      ins(%at0, %guard, %updates0, %own : memref<1xindex, strided<[1]>>, memref<i1>, memref<1xf32, strided<[1]>>,
          memref<50xindex>) outs(%into : memref<50xf32>) {
  ^bb0(%b: index, %c: i1, %d: f32, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  %partials = memref.alloc() : memref<8x50xf32>
  linalg.fill ins(%nought : f32) outs(%partials : memref<8x50xf32>)
  linalg.generic {indexing_maps = [#first, #update, affine_map<(p, k, n) -> ()>, #update, #block, #own, #out],
                  iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"}
      ins(%block, %at2, %guard, %updates2, %blocks, %own : memref<8x1xindex>, memref<8x125xindex, strided<[125, 1], offset: 1>>,
          memref<i1>, memref<8x125xf32, strided<[125, 1], offset: 1>>, memref<8xindex>, memref<50xindex>)
      outs(%partials : memref<8x50xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  linalg.generic {indexing_maps = [#behind, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%partials : memref<8x50xf32>) outs(%into : memref<50xf32>) {
  ^bb0(%x: f32, %o: f32):
    %sum = arith.addf %o, %x : f32
    linalg.yield %sum : f32
  }
  return
}

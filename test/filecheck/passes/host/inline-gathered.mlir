// RUN: ipu-opt %s --ipu-inline-gathered --split-input-file | filecheck %s

#id = affine_map<(d0) -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>

// A row of each block, and then the row of one block: only that is looked for.
// CHECK-LABEL: func.func @one_block_of_four
// CHECK-SAME: (%[[TABLE:.*]]: memref<4x8xf32>, %[[BLOCK:.*]]: memref<5xindex>, %[[ROW:.*]]: memref<5xi32>)
// CHECK-NOT: memref<4x5xf32>
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[B:.*]] = memref.load %[[BLOCK]][%[[I]]]
// CHECK: %[[R:.*]] = memref.load %[[ROW]][%[[I]]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[R]]
// CHECK: %[[X:.*]] = memref.load %[[TABLE]][%[[B]], %[[AT]]]
// CHECK: linalg.yield %[[X]]
// CHECK-NOT: linalg.generic
func.func @one_block_of_four(%table: memref<4x8xf32>, %block: memref<5xindex>, %row: memref<5xi32>) -> memref<5xf32> {
  %found = memref.alloc() : memref<4x5xf32>
  linalg.generic {indexing_maps = [#second, #both], iterator_types = ["parallel", "parallel"]}
      ins(%row : memref<5xi32>) outs(%found : memref<4x5xf32>) {
  ^bb0(%r: i32, %out: f32):
    %b = linalg.index 0 : index
    %at = arith.index_cast %r : i32 to index
    %x = memref.load %table[%b, %at] : memref<4x8xf32>
    linalg.yield %x : f32
  }
  %picked = memref.alloc() : memref<5xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%picked : memref<5xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %b = memref.load %block[%i] : memref<5xindex>
    %x = memref.load %found[%b, %i] : memref<4x5xf32>
    linalg.yield %x : f32
  }
  return %picked : memref<5xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// As many are picked as there are; another op reads them, too; what they are made of is overwritten.
// CHECK-LABEL: func.func @made_before
// CHECK-COUNT-6: linalg.generic
func.func @made_before(%x: memref<9xf32>, %y: memref<9xf32>, %at: memref<9xindex>, %few: memref<3xf32>, %all: memref<9xf32>) {
  %a = memref.alloc() : memref<9xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<9xf32>) outs(%a : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : memref<9xindex>) outs(%all : memref<9xf32>) {
  ^bb0(%i: index, %out: f32):
    %e = memref.load %a[%i] : memref<9xf32>
    linalg.yield %e : f32
  }
  %b = memref.alloc() : memref<9xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<9xf32>) outs(%b : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%few : memref<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = memref.load %at[%i] : memref<9xindex>
    %e = memref.load %b[%j] : memref<9xf32>
    linalg.yield %e : f32
  }
  memref.copy %b, %y : memref<9xf32> to memref<9xf32>
  %c = memref.alloc() : memref<9xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<9xf32>) outs(%c : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  }
  memref.copy %y, %x : memref<9xf32> to memref<9xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%few : memref<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = memref.load %at[%i] : memref<9xindex>
    %e = memref.load %c[%j] : memref<9xf32>
    linalg.yield %e : f32
  }
  return
}

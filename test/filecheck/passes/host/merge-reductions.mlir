// RUN: ipu-opt %s --ipu-merge-reductions --split-input-file | filecheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#blocks = affine_map<(m, n, k) -> (k floordiv 3, m, n)>
#partials = affine_map<(m, n, s) -> (s, m, n)>

// CHECK-LABEL: func.func @halves_of_a_product(
// CHECK-SAME: %[[X:.*]]: memref<2x7xf32>, %[[W:.*]]: memref<7x4xf32>, %[[Y:.*]]: memref<2x4xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%[[X]], %[[W]] : memref<2x7xf32>, memref<7x4xf32>) outs(%[[Y]] : memref<2x4xf32>) {
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK-NOT: ipu.
func.func @halves_of_a_product(%x: memref<2x7xf32>, %w: memref<7x4xf32>, %y: memref<2x4xf32>) {
  %nothing = arith.constant -0.0 : f32
  %p = memref.alloc() : memref<3x2x4xf32>
  linalg.fill ins(%nothing : f32) outs(%p : memref<3x2x4xf32>)
  linalg.generic {indexing_maps = [#x, #w, #blocks], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<2x7xf32>, memref<7x4xf32>) outs(%p : memref<3x2x4xf32>)
    attrs = {ipu.partials = array<i64: 2, 3>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#partials, #y], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%p : memref<3x2x4xf32>) outs(%y : memref<2x4xf32>) attrs = {ipu.combines = array<i64: 2, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Every block of one iteration is a partial result, so that the first half reduces nothing. The other half was split
// again, into sums of two and of what is left.
#x = affine_map<(k) -> (k)>
#pair = affine_map<(s) -> (s floordiv 2)>
#pairs = affine_map<(t) -> (t)>
#total = affine_map<(t) -> ()>
// CHECK-LABEL: func.func @halves_of_a_half(
// CHECK-SAME: %[[X:.*]]: memref<5xf32>, %[[Y:.*]]: memref<f32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction"]} ins(%[[X]] : memref<5xf32>) outs(%[[Y]] : memref<f32>) {
// CHECK: math.exp
// CHECK-NOT: linalg.generic
func.func @halves_of_a_half(%x: memref<5xf32>, %y: memref<f32>) {
  %nothing = arith.constant -0.0 : f32
  %p = memref.alloc() : memref<5xf32>
  %q = memref.alloc() : memref<3xf32>
  linalg.fill ins(%nothing : f32) outs(%p : memref<5xf32>)
  linalg.fill ins(%nothing : f32) outs(%q : memref<3xf32>)
  linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel"]}
    ins(%x : memref<5xf32>) outs(%p : memref<5xf32>) attrs = {ipu.partials = array<i64: 0, 1>} {
  ^bb0(%a: f32, %c: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#x, #pair], iterator_types = ["reduction"]}
    ins(%p : memref<5xf32>) outs(%q : memref<3xf32>)
    attrs = {ipu.combines = array<i64: 0, 1>, ipu.partials = array<i64: 0, 2>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#pairs, #total], iterator_types = ["reduction"]}
    ins(%q : memref<3xf32>) outs(%y : memref<f32>) attrs = {ipu.combines = array<i64: 0, 2>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(m, k) -> (m, k)>
#w = affine_map<(m, k) -> (k)>
#y = affine_map<(m, k) -> (m)>
// Three steps over columns 1 to 6 of 8.
// CHECK-LABEL: func.func @steps_in_a_row(
// CHECK-SAME: %[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<5xf32>, %[[Y:.*]]: memref<4xf32>)
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[X]] to offset: [1], sizes: [4, 5], strides: [8, 1]
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[PART]], %[[W]] : memref<4x5xf32, strided<[8, 1], offset: 1>>, memref<5xf32>) outs(%[[Y]] : memref<4xf32>) {
// CHECK-NOT: linalg.generic
// CHECK-NOT: memref.subview
func.func @steps_in_a_row(%x: memref<4x8xf32>, %w: memref<5xf32>, %y: memref<4xf32>) {
  %x0 = memref.subview %x[0, 1] [4, 2] [1, 1] : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1], offset: 1>>
  %w0 = memref.subview %w[0] [2] [1] : memref<5xf32> to memref<2xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
    ins(%x0, %w0 : memref<4x2xf32, strided<[8, 1], offset: 1>>, memref<2xf32, strided<[1]>>) outs(%y : memref<4xf32>)
    attrs = {ipu.step = array<i64: 1, 0>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  %x1 = memref.subview %x[0, 3] [4, 2] [1, 1] : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1], offset: 3>>
  %w1 = memref.subview %w[2] [2] [1] : memref<5xf32> to memref<2xf32, strided<[1], offset: 2>>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
    ins(%x1, %w1 : memref<4x2xf32, strided<[8, 1], offset: 3>>, memref<2xf32, strided<[1], offset: 2>>)
    outs(%y : memref<4xf32>) attrs = {ipu.step = array<i64: 1, 2>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  %x2 = memref.subview %x[0, 5] [4, 1] [1, 1] : memref<4x8xf32> to memref<4x1xf32, strided<[8, 1], offset: 5>>
  %w2 = memref.subview %w[4] [1] [1] : memref<5xf32> to memref<1xf32, strided<[1], offset: 4>>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
    ins(%x2, %w2 : memref<4x1xf32, strided<[8, 1], offset: 5>>, memref<1xf32, strided<[1], offset: 4>>)
    outs(%y : memref<4xf32>) attrs = {ipu.step = array<i64: 1, 4>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#x = affine_map<(m, k) -> (m, k)>
#blocks = affine_map<(m, k) -> (k floordiv 3, m)>
#partials = affine_map<(m, s) -> (s, m)>
#y = affine_map<(m, s) -> (m)>

// Two steps leave their partial results in one memory, and one op combines them: each step is whole, then both are one.
// CHECK-LABEL: func.func @steps_that_are_combined_once(
// CHECK-SAME: %[[X:.*]]: memref<2x12xf32>, %[[Y:.*]]: memref<2xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<2x12xf32>) outs(%[[Y]] : memref<2xf32>) {
// CHECK-NOT: linalg.generic
// CHECK-NOT: ipu.
func.func @steps_that_are_combined_once(%x: memref<2x12xf32>, %y: memref<2xf32>) {
  %nothing = arith.constant -0.0 : f32
  %p = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%nothing : f32) outs(%p : memref<2x2xf32>)
  %first = memref.subview %x[0, 0] [2, 6] [1, 1] : memref<2x12xf32> to memref<2x6xf32, strided<[12, 1]>>
  linalg.generic {indexing_maps = [#x, #blocks], iterator_types = ["parallel", "reduction"]}
    ins(%first : memref<2x6xf32, strided<[12, 1]>>) outs(%p : memref<2x2xf32>)
    attrs = {ipu.partials = array<i64: 1, 3>, ipu.step = array<i64: 1, 0>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  %second = memref.subview %x[0, 6] [2, 6] [1, 1] : memref<2x12xf32> to memref<2x6xf32, strided<[12, 1], offset: 6>>
  linalg.generic {indexing_maps = [#x, #blocks], iterator_types = ["parallel", "reduction"]}
    ins(%second : memref<2x6xf32, strided<[12, 1], offset: 6>>) outs(%p : memref<2x2xf32>)
    attrs = {ipu.partials = array<i64: 1, 3>, ipu.step = array<i64: 1, 6>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#partials, #y], iterator_types = ["parallel", "reduction"]}
    ins(%p : memref<2x2xf32>) outs(%y : memref<2xf32>) attrs = {ipu.combines = array<i64: 1, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

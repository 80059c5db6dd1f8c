// RUN: ipu-opt %s --ipu-skip-gaps --split-input-file | filecheck %s

#window = affine_map<(o, k) -> (o + k)>
#weight = affine_map<(o, k) -> (k)>
#result = affine_map<(o, k) -> (o)>

// Elements 2 apart, from 1 on: even results meet odd weights, odd ones meet even weights.
// CHECK-LABEL: func.func @every_second
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[W:.*]]: memref<3xf32>, %[[Z:.*]]: memref<7xf32>)
// CHECK: %[[SIDE:.*]] = memref.alloc() : memref<4xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SIDE]]
// CHECK: %[[WHOLE:.*]] = memref.subview %[[SIDE]][0] [4] [1]
// CHECK: memref.copy %[[X]], %[[WHOLE]]
// CHECK: %[[E:.*]] = memref.subview %[[SIDE]][0] [4] [1]
// CHECK: %[[ODD:.*]] = memref.subview %[[W]][1] [1] [2]
// CHECK: %[[EVEN_RESULTS:.*]] = memref.subview %[[Z]][0] [4] [2]
// CHECK: linalg.generic {{.*}} ins(%[[E]], %[[ODD]] : {{.*}}) outs(%[[EVEN_RESULTS]]
// CHECK: %[[O:.*]] = memref.subview %[[SIDE]][0] [4] [1]
// CHECK: %[[EVEN:.*]] = memref.subview %[[W]][0] [2] [2]
// CHECK: %[[ODD_RESULTS:.*]] = memref.subview %[[Z]][1] [3] [2]
// CHECK: linalg.generic {{.*}} ins(%[[O]], %[[EVEN]] : {{.*}}) outs(%[[ODD_RESULTS]]
// CHECK-NOT: linalg.generic
// CHECK-NOT: memref<9xf32>
func.func @every_second(%x: memref<4xf32>, %w: memref<3xf32>, %z: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %apart = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%apart : memref<9xf32>)
  %view = memref.subview %apart[1] [4] [2] : memref<9xf32> to memref<4xf32, strided<[2], offset: 1>>
  memref.copy %x, %view : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%apart, %w : memref<9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#window = affine_map<(o, k) -> (o + k)>
#weight = affine_map<(o, k) -> (k)>
#result = affine_map<(o, k) -> (o)>

// Fewer weights than remainders: some results stay what they are.
// CHECK-LABEL: func.func @one_weight
// CHECK: memref.subview %{{.*}}[0] [2] [3]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
func.func @one_weight(%x: memref<2xf32>, %w: memref<1xf32>, %z: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %apart = memref.alloc() : memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%apart : memref<5xf32>)
  %view = memref.subview %apart[0] [2] [3] : memref<5xf32> to memref<2xf32, strided<[3]>>
  memref.copy %x, %view : memref<2xf32> to memref<2xf32, strided<[3]>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%apart, %w : memref<5xf32>, memref<1xf32>) outs(%z : memref<5xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %p, %sum : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#window = affine_map<(o, k) -> (o + k)>
#weight = affine_map<(o, k) -> (k)>
#result = affine_map<(o, k) -> (o)>

// The largest of each window is no sum of products: a gap counts.
// CHECK-LABEL: func.func @largest
// CHECK: memref.subview %{{.*}}[1] [4] [2]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<9xf32>
func.func @largest(%x: memref<4xf32>, %w: memref<3xf32>, %z: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %apart = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%apart : memref<9xf32>)
  %view = memref.subview %apart[1] [4] [2] : memref<9xf32> to memref<4xf32, strided<[2], offset: 1>>
  memref.copy %x, %view : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%apart, %w : memref<9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %most: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.maximumf %most, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#window = affine_map<(o, k) -> (o + k)>
#weight = affine_map<(o, k) -> (k)>
#result = affine_map<(o, k) -> (o)>

// What is between the elements is no zero, is written later, or is read elsewhere.
// CHECK-LABEL: func.func @no_gaps
// CHECK-COUNT-3: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<9xf32>
func.func @no_gaps(%x: memref<4xf32>, %w: memref<3xf32>, %y: memref<9xf32>, %z: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ones = memref.alloc() : memref<9xf32>
  linalg.fill ins(%one : f32) outs(%ones : memref<9xf32>)
  %in_ones = memref.subview %ones[1] [4] [2] : memref<9xf32> to memref<4xf32, strided<[2], offset: 1>>
  memref.copy %x, %in_ones : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%ones, %w : memref<9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  %later = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%later : memref<9xf32>)
  %in_later = memref.subview %later[1] [4] [2] : memref<9xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%later, %w : memref<9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  memref.copy %x, %in_later : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  %read = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%read : memref<9xf32>)
  %in_read = memref.subview %read[1] [4] [2] : memref<9xf32> to memref<4xf32, strided<[2], offset: 1>>
  memref.copy %x, %in_read : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%read, %w : memref<9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  memref.copy %read, %y : memref<9xf32> to memref<9xf32>
  return
}

// -----

#window = affine_map<(o, k) -> (0, o + k)>
#weight = affine_map<(o, k) -> (k)>
#result = affine_map<(o, k) -> (o)>

// A view without one of the dimensions stays as it is.
// CHECK-LABEL: func.func @view_of_fewer_dimensions
// CHECK: memref.subview %{{.*}}[0, 1] [1, 4] [1, 2]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
func.func @view_of_fewer_dimensions(%x: memref<4xf32>, %w: memref<3xf32>, %z: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %apart = memref.alloc() : memref<1x9xf32>
  linalg.fill ins(%zero : f32) outs(%apart : memref<1x9xf32>)
  %view = memref.subview %apart[0, 1] [1, 4] [1, 2] : memref<1x9xf32> to memref<4xf32, strided<[2], offset: 1>>
  memref.copy %x, %view : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.generic {indexing_maps = [#window, #weight, #result], iterator_types = ["parallel", "reduction"]}
      ins(%apart, %w : memref<1x9xf32>, memref<3xf32>) outs(%z : memref<7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

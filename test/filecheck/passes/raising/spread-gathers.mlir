// RUN: ipu-opt %s --ipu-spread-gathers --canonicalize | filecheck %s
// RUN: ipu-opt %s --ipu-spread-gathers=largest=6400 --canonicalize | filecheck %s --check-prefix=LARGE

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=8, bytes_per_tile=16000}>} {
// LARGE-LABEL: func.func @rows
// LARGE-NOT: tensor<8x100x2xf32>
// A block of rows for each tile, since one tile has all columns of a row.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[TABLE:.*]]: tensor<800x2xf32>, %{{.*}}: tensor<5xi32>)
// CHECK: %[[NEAREST:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<5xi32>) outs(%{{.*}} : tensor<5xi32>)
// CHECK: %[[INSIDE:.*]] = linalg.generic {{.*}} ins(%[[NEAREST]] : tensor<5xi32>) outs(%{{.*}} : tensor<8x5xi32>)
// CHECK: arith.subi
// CHECK: arith.minsi %{{.*}}, %c99_i32
// CHECK: linalg.yield
// CHECK: %[[BLOCK:.*]] = linalg.generic {{.*}} ins(%[[NEAREST]] : tensor<5xi32>)
// CHECK: arith.divui %{{.*}}, %c100_i32
// CHECK: %[[BLOCKS:.*]] = tensor.expand_shape %[[TABLE]] {{\[\[}}0, 1], [2]] output_shape [8, 100, 2]
// CHECK: %[[FOUND:.*]] = linalg.generic {{.*}} ins(%[[INSIDE]] : tensor<8x5xi32>) outs(%{{.*}} : tensor<8x5x2xf32>)
// CHECK: tensor.extract %[[BLOCKS]]
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK: %[[AT:.*]] = tensor.extract %[[BLOCK]][%{{.*}}] : tensor<5xi32>
// CHECK: %[[B:.*]] = arith.index_cast %[[AT]]
// CHECK: tensor.extract %[[FOUND]][%[[B]], %{{.*}}, %{{.*}}]
// CHECK: arith.addf
func.func @rows(%table: tensor<800x2xf32>, %ids: tensor<5xi32>) -> tensor<5x2xf32> {
  %e = tensor.empty() : tensor<5x2xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%id: i32, %o: f32):
    %j = linalg.index 1 : index
    %at = arith.index_cast %id : i32 to index
    %x = tensor.extract %table[%at, %j] : tensor<800x2xf32>
    %sum = arith.addf %x, %x : f32
    linalg.yield %sum : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Both indices are within their dimensions before they are one.
// CHECK-LABEL: func.func @two_dimensions
// CHECK-SAME: (%[[TABLE:.*]]: tensor<3x40x40xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[TABLE]] {{\[\[}}0], [1, 2]] : tensor<3x40x40xf32> into tensor<3x1600xf32>
// CHECK: linalg.generic
// CHECK: %[[Y0:.*]] = arith.maxsi
// CHECK: %[[Y:.*]] = arith.minsi %[[Y0]], %c39
// CHECK: %[[LINE:.*]] = arith.muli %[[Y]], %c40
// CHECK: %[[X0:.*]] = arith.maxsi
// CHECK: %[[X:.*]] = arith.minsi %[[X0]], %c39
// CHECK: arith.addi %[[LINE]], %[[X]]
// CHECK: tensor.expand_shape %[[FLAT]]
func.func @two_dimensions(%table: tensor<3x40x40xf32>, %y: tensor<5xi32>, %x: tensor<5xi32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#second, #second, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : tensor<5xi32>, tensor<5xi32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %c = linalg.index 0 : index
    %row = arith.index_cast %a : i32 to index
    %column = arith.index_cast %b : i32 to index
    %found = tensor.extract %table[%c, %row, %column] : tensor<3x40x40xf32>
    linalg.yield %found : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// The dimensions are not side by side.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: tensor.collapse_shape
func.func @apart(%table: tensor<40x3x40xf32>, %y: tensor<5xi32>, %x: tensor<5xi32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#second, #second, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : tensor<5xi32>, tensor<5xi32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %c = linalg.index 0 : index
    %row = arith.index_cast %a : i32 to index
    %column = arith.index_cast %b : i32 to index
    %found = tensor.extract %table[%row, %c, %column] : tensor<40x3x40xf32>
    linalg.yield %found : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// No more than an eighth of a tile.
// CHECK-LABEL: func.func @small
// CHECK-NOT: tensor.expand_shape
func.func @small(%table: tensor<250x2xf32>, %ids: tensor<5xi32>) -> tensor<5x2xf32> {
  %e = tensor.empty() : tensor<5x2xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%id: i32, %o: f32):
    %j = linalg.index 1 : index
    %at = arith.index_cast %id : i32 to index
    %x = tensor.extract %table[%at, %j] : tensor<250x2xf32>
    linalg.yield %x : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// The number of rows is prime: the last block has a row that nobody asks for.
// CHECK-LABEL: func.func @prime
// CHECK-SAME: (%[[TABLE:.*]]: tensor<797x2xf32>
// CHECK: %[[WHOLE:.*]] = tensor.insert_slice %[[TABLE]] into %{{.*}}[0, 0] [797, 2] [1, 1] {{.*}} into tensor<798x2xf32>
// CHECK: tensor.expand_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] output_shape [7, 114, 2]
func.func @prime(%table: tensor<797x2xf32>, %ids: tensor<5xi32>) -> tensor<5x2xf32> {
  %e = tensor.empty() : tensor<5x2xf32>
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%id: i32, %o: f32):
    %j = linalg.index 1 : index
    %at = arith.index_cast %id : i32 to index
    %x = tensor.extract %table[%at, %j] : tensor<797x2xf32>
    linalg.yield %x : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// One row, whose number is a constant.
// CHECK-LABEL: func.func @columns
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[BLOCKS:.*]] = tensor.expand_shape %{{.*}} output_shape [1, 8, 200]
// CHECK: %[[BLOCK:.*]] = linalg.index 0
// CHECK: tensor.extract %[[BLOCKS]][%[[ZERO]], %[[BLOCK]], %{{.*}}]
func.func @columns(%table: tensor<1x1600xf32>, %ids: tensor<5xi32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<5xi32>) outs(%e : tensor<5xf32>) {
  ^bb0(%id: i32, %o: f32):
    %zero = arith.constant 0 : index
    %at = arith.index_cast %id : i32 to index
    %x = tensor.extract %table[%zero, %at] : tensor<1x1600xf32>
    linalg.yield %x : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}
}

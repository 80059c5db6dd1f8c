// RUN: ipu-opt %s --ipu-raise-scans | filecheck %s

#slide1 = affine_map<(i, k) -> (i + k)>
#result1 = affine_map<(i, k) -> (i)>
#window1 = affine_map<(i, k) -> (k)>
#slide = affine_map<(i, j, k) -> (i + k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
#window = affine_map<(i, j, k) -> (k)>

// CHECK-LABEL: func.func @cumulative_sum
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>)
// CHECK: %[[IN:.*]] = tensor.expand_shape %[[X]] {{.*}} tensor<6xf32> into tensor<1x6x1xf32>
// CHECK: %[[OUT:.*]] = tensor.empty() : tensor<1x6x1xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"], library_call = "scan_add"} ins(%[[IN]] : tensor<1x6x1xf32>) outs(%[[OUT]] : tensor<1x6x1xf32>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[SUMS]] {{.*}} into tensor<6xf32>
// CHECK: return %[[Y]]
func.func @cumulative_sum(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide1, #window1, #result1], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// From the end, along the first of two dimensions, of integers, padded with the largest.
// CHECK-LABEL: func.func @cumulative_minimum_from_the_end
// CHECK: tensor.expand_shape %{{.*}} {{.*}} tensor<6x4xi32> into tensor<1x6x4xi32>
// CHECK: library_call = "scan_min_from_end"
func.func @cumulative_minimum_from_the_end(%x: tensor<6x4xi32>) -> tensor<6x4xi32> {
  %most = arith.constant 2147483647 : i32
  %padded = tensor.pad %x low[0, 0] high[5, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %most : i32
  } : tensor<6x4xi32> to tensor<11x4xi32>
  %shape = tensor.empty() : tensor<6xi32>
  %empty = tensor.empty() : tensor<6x4xi32>
  %start = linalg.fill ins(%most : i32) outs(%empty : tensor<6x4xi32>) -> tensor<6x4xi32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %shape : tensor<11x4xi32>, tensor<6xi32>) outs(%start : tensor<6x4xi32>) {
  ^bb0(%a: i32, %unused: i32, %old: i32):
    %s = arith.minsi %a, %old : i32
    linalg.yield %s : i32
  } -> tensor<6x4xi32>
  return %y : tensor<6x4xi32>
}

// Elements of 16 bits that are added up in f32 are widened first. Other dimensions before and behind become one each.
// CHECK-LABEL: func.func @widened
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3x5x6xf16>) outs(%{{.*}} : tensor<2x3x5x6xf32>)
// CHECK: arith.extf
// CHECK: %[[IN:.*]] = tensor.collapse_shape %[[WIDE]] {{\[\[}}0, 1], [2], [3]] : tensor<2x3x5x6xf32> into tensor<6x5x6xf32>
// CHECK: library_call = "scan_add"} ins(%[[IN]] : tensor<6x5x6xf32>)
// CHECK: tensor.expand_shape %{{.*}} tensor<6x5x6xf32> into tensor<2x3x5x6xf32>
func.func @widened(%x: tensor<2x3x5x6xf16>) -> tensor<2x3x5x6xf32> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 0, 4, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<2x3x5x6xf16> to tensor<2x3x9x6xf16>
  %wide = arith.constant 0.0 : f32
  %shape = tensor.empty() : tensor<5xf32>
  %empty = tensor.empty() : tensor<2x3x5x6xf32>
  %start = linalg.fill ins(%wide : f32) outs(%empty : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d, k) -> (a, b, c + k, d)>, affine_map<(a, b, c, d, k) -> (k)>,
                       affine_map<(a, b, c, d, k) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%padded, %shape : tensor<2x3x9x6xf16>, tensor<5xf32>) outs(%start : tensor<2x3x5x6xf32>) {
  ^bb0(%a: f16, %unused: f32, %sum: f32):
    %e = arith.extf %a : f16 to f32
    %s = arith.addf %sum, %e : f32
    linalg.yield %s : f32
  } -> tensor<2x3x5x6xf32>
  return %y : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @logaddexp
// CHECK: library_call = "scan_logaddexp"
func.func @logaddexp(%x: tensor<6xf32>) -> tensor<6xf32> {
  %least = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %least : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%least : f32) outs(%shape : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide1, #window1, #result1], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %0 = arith.maximumf %old, %a : f32
    %1 = arith.subf %old, %a : f32
    %2 = arith.cmpf une, %1, %1 : f32
    %3 = arith.addf %old, %a : f32
    %4 = math.absf %1 : f32
    %5 = arith.negf %4 : f32
    %6 = math.exp %5 : f32
    %7 = math.log1p %6 : f32
    %8 = arith.addf %0, %7 : f32
    %9 = arith.select %2, %3, %8 : f32
    linalg.yield %9 : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Without the own element: one more is padded, and the first window holds neutral elements only.
// CHECK-LABEL: func.func @exclusive_sum
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>)
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<7xf32>
// CHECK: library_call = "scan_add"
// CHECK: %[[SUMS:.*]] = tensor.collapse_shape %{{.*}} into tensor<6xf32>
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[SUMS]] into %[[ZEROS]][1] [6] [1] : tensor<6xf32> into tensor<7xf32>
// CHECK: return %[[Y]]
func.func @exclusive_sum(%x: tensor<6xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[6] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<12xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#slide1, #window1, #result1], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<12xf32>, tensor<6xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// And from the end: the last window.
// CHECK-LABEL: func.func @exclusive_product_from_the_end
// CHECK: library_call = "scan_mul_from_end"
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0] [6] [1] : tensor<6xi32> into tensor<7xi32>
func.func @exclusive_product_from_the_end(%x: tensor<6xi32>) -> tensor<7xi32> {
  %one = arith.constant 1 : i32
  %padded = tensor.pad %x low[0] high[6] {
  ^bb0(%i: index):
    tensor.yield %one : i32
  } : tensor<6xi32> to tensor<12xi32>
  %shape = tensor.empty() : tensor<6xi32>
  %empty = tensor.empty() : tensor<7xi32>
  %start = linalg.fill ins(%one : i32) outs(%empty : tensor<7xi32>) -> tensor<7xi32>
  %y = linalg.generic {indexing_maps = [#slide1, #window1, #result1], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<12xi32>, tensor<6xi32>) outs(%start : tensor<7xi32>) {
  ^bb0(%a: i32, %unused: i32, %old: i32):
    %s = arith.muli %a, %old : i32
    linalg.yield %s : i32
  } -> tensor<7xi32>
  return %y : tensor<7xi32>
}

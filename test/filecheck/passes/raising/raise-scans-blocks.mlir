// RUN: ipu-opt %s --ipu-raise-scans=longest=5 | filecheck %s

#slide = affine_map<(i, k) -> (i + k)>
#window = affine_map<(i, k) -> (k)>
#result = affine_map<(i, k) -> (i)>

// Seven elements and two zeros in three blocks of three; the last two begin with what the blocks before end with.
// CHECK-LABEL: func.func @seven
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [1, 7, 1] [1, 1, 1] : tensor<1x7x1xf32> into tensor<1x9x1xf32>
// CHECK: %[[SCANS:.*]] = linalg.generic {{.*}} library_call = "scan_mul"} ins(%{{.*}} : tensor<3x3x1xf32>)
// CHECK: %[[BLOCKS:.*]] = tensor.expand_shape %[[SCANS]] {{.*}} into tensor<1x3x3x1xf32>
// CHECK: %[[ENDS:.*]] = tensor.extract_slice %[[BLOCKS]][0, 0, 2, 0] [1, 3, 1, 1]
// CHECK: %[[LAST:.*]] = tensor.collapse_shape %[[ENDS]]
// CHECK: %[[BEFORE:.*]] = linalg.generic {{.*}} library_call = "scan_mul"} ins(%[[LAST]] : tensor<1x3x1xf32>)
// CHECK: %[[START:.*]] = tensor.extract_slice %[[BEFORE]][0, 0, 0] [1, 2, 1]
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[BLOCKS]][0, 1, 0, 0] [1, 2, 3, 1]
// CHECK: %[[JOINED:.*]] = linalg.generic {{.*}} ins(%[[START]], %[[REST]]
// CHECK: arith.mulf
// CHECK: tensor.insert_slice %[[JOINED]] into %[[BLOCKS]][0, 1, 0, 0] [1, 2, 3, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 7, 1]
func.func @seven(%x: tensor<7xf32>) -> tensor<7xf32> {
  %one = arith.constant 1.0 : f32
  %padded = tensor.pad %x low[6] high[0] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<7xf32> to tensor<13xf32>
  %shape = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%one : f32) outs(%shape : tensor<7xf32>) -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<13xf32>, tensor<7xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%a: f32, %unused: f32, %product: f32):
    %s = arith.mulf %product, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// From the end the zeros lie before the elements, and the first two blocks begin with those behind them.
// CHECK-LABEL: func.func @five_are_short_enough
// CHECK: library_call = "scan_add_from_end"} ins(%{{.*}} : tensor<1x5x1xf32>)
// CHECK-LABEL: func.func @seven_from_end
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 2, 0] [1, 7, 1] [1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 3, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [1, 2, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 3, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 0] [1, 2, 3, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 2, 0] [1, 7, 1]
func.func @five_are_short_enough(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0] high[4] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<5xf32> to tensor<9xf32>
  %shape = tensor.empty() : tensor<5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<5xf32>) -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<9xf32>, tensor<5xf32>) outs(%start : tensor<5xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}
func.func @seven_from_end(%x: tensor<7xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0] high[6] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<7xf32> to tensor<13xf32>
  %shape = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<7xf32>) -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<13xf32>, tensor<7xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

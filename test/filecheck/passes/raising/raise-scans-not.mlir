// RUN: ipu-opt %s --ipu-raise-scans | filecheck %s

// Each of these differs in one thing from a cumulative sum, and stays as it is.

#slide = affine_map<(i, k) -> (i + k)>
#window = affine_map<(i, k) -> (k)>
#result = affine_map<(i, k) -> (i)>

// CHECK-NOT: library_call

// A window of four: a moving sum.
func.func @shorter_window(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<9xf32>
  %shape = tensor.empty() : tensor<4xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<9xf32>, tensor<4xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Centred: elements before and after.
func.func @pads_on_both_sides(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[3] high[2] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// The elements around are ones.
func.func @pads_something_else(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 1.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// One is added to every sum.
func.func @starts_from_something_else(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 1.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Every second element.
func.func @goes_down(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[10] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<16xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + 2 * k)>, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<16xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// No combination of the elements alone.
func.func @subtracts(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.subf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// More than the elements.
func.func @squares(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0.0 : f32
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %old, %q : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Not what the codelet makes of NaN.
func.func @numbers_win_over_nan(%x: tensor<6xf32>) -> tensor<6xf32> {
  %pad = arith.constant 0xFF800000 : f32
  %neutral = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.maxnumf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// A scan would round in every step, and add on.
func.func @sums_of_16_bits(%x: tensor<6xf16>) -> tensor<6xf16> {
  %pad = arith.constant 0.0 : f16
  %neutral = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : f16
  } : tensor<6xf16> to tensor<11xf16>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf16>
  %start = linalg.fill ins(%neutral : f16) outs(%empty : tensor<6xf16>) -> tensor<6xf16>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf16>, tensor<6xf32>) outs(%start : tensor<6xf16>) {
  ^bb0(%a: f16, %unused: f32, %old: f16):
    %s = arith.addf %old, %a : f16
    linalg.yield %s : f16
  } -> tensor<6xf16>
  return %y : tensor<6xf16>
}

// Sums of i1 are modulo two.
func.func @one_bit(%x: tensor<6xi1>) -> tensor<6xi1> {
  %pad = arith.constant false
  %neutral = arith.constant false
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %pad : i1
  } : tensor<6xi1> to tensor<11xi1>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xi1>
  %start = linalg.fill ins(%neutral : i1) outs(%empty : tensor<6xi1>) -> tensor<6xi1>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xi1>, tensor<6xf32>) outs(%start : tensor<6xi1>) {
  ^bb0(%a: i1, %unused: f32, %old: i1):
    %s = arith.addi %old, %a : i1
    linalg.yield %s : i1
  } -> tensor<6xi1>
  return %y : tensor<6xi1>
}

// A window of five over six elements, as many results as an exclusive sum has.
func.func @shorter_window_with_more_results(%x: tensor<6xf32>) -> tensor<7xf32> {
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %neutral : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<5xf32>
  %empty = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<5xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// A cumulative sum that checks what it adds.
func.func @with_a_check(%x: tensor<6xf32>) -> tensor<6xf32> {
  %neutral = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[5] high[0] {
  ^bb0(%i: index):
    tensor.yield %neutral : f32
  } : tensor<6xf32> to tensor<11xf32>
  %shape = tensor.empty() : tensor<6xf32>
  %empty = tensor.empty() : tensor<6xf32>
  %start = linalg.fill ins(%neutral : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#slide, #window, #result], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %shape : tensor<11xf32>, tensor<6xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %ok = arith.cmpf oge, %a, %neutral : f32
    cf.assert %ok, "a is negative"
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

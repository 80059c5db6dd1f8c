// RUN: ipu-opt %s --ipu-reuse-operands | filecheck %s

#id = affine_map<(i) -> (i)>
#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @dying_operand_is_written_over
// CHECK: %[[Y:.*]] = linalg.exp
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[Y]], %{{.*}}) outs(%[[Y]] :
func.func @dying_operand_is_written_over(%x: tensor<4xf32, #home>) -> tensor<4xf32, #home> {
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%x : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%y, %x : tensor<4xf32, #home>, tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, #home>
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @operand_that_is_read_again_stays
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[Y:.*]] = linalg.exp {{.*}} outs(%[[E]]
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[F]]
func.func @operand_that_is_read_again_stays(%x: tensor<4xf32, #home>)
    -> (tensor<4xf32, #home>, tensor<4xf32, #home>) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%x : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, #home>
  return %y, %z : tensor<4xf32, #home>, tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @argument_is_never_written
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[F]]
func.func @argument_is_never_written(%x: tensor<4xf32, #home>) -> tensor<4xf32, #home> {
  %f = tensor.empty() : tensor<4xf32, #home>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, #home>
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @operand_in_another_mapping_stays
// CHECK: %[[F:.*]] = tensor.empty() : tensor<4xf32, #[[HOME:.*]]>
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[F]]
#other = #ipu.mapping<4, [[1, 2, 0, 1], [4, 4, 1, 0]], 0, 0>
func.func @operand_in_another_mapping_stays(%x: tensor<4xf32, #other>) -> tensor<4xf32, #home> {
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%x : tensor<4xf32, #other>) outs(%x : tensor<4xf32, #other>) -> tensor<4xf32, #other>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32, #other>) outs(%f : tensor<4xf32, #home>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, #home>
  return %z : tensor<4xf32, #home>
}

// A reversed read would meet what was written already.
// CHECK-LABEL: func.func @operand_read_in_another_order_stays
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[F]]
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @operand_read_in_another_order_stays(%x: tensor<2x2xf32, #one>) -> tensor<2x2xf32, #one> {
  %e = tensor.empty() : tensor<2x2xf32, #one>
  %f = tensor.empty() : tensor<2x2xf32, #one>
  %y = linalg.exp ins(%x : tensor<2x2xf32, #one>) outs(%e : tensor<2x2xf32, #one>) -> tensor<2x2xf32, #one>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<2x2xf32, #one>) outs(%f : tensor<2x2xf32, #one>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x2xf32, #one>
  return %z : tensor<2x2xf32, #one>
}

// CHECK-LABEL: func.func @one_operand_is_given_to_one_of_two_results
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[Y:.*]] = linalg.exp
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[Y]] : {{.*}}) outs(%[[Y]], %{{[0-9]+}} :
func.func @one_operand_is_given_to_one_of_two_results(%x: tensor<4xf32, #home>)
    -> (tensor<4xf32, #home>, tensor<4xf32, #home>) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %g = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%x : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32, #home>) outs(%f, %g : tensor<4xf32, #home>, tensor<4xf32, #home>) {
  ^bb0(%a: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %a : f32
    %t = arith.mulf %a, %a : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4xf32, #home>, tensor<4xf32, #home>)
  return %z#0, %z#1 : tensor<4xf32, #home>, tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @reduction_keeps_its_accumulator
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<2xf32
#two = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
func.func @reduction_keeps_its_accumulator(%x: tensor<2x2xf32, #one>) -> tensor<2xf32, #two> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32, #two>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32, #two>) -> tensor<2xf32, #two>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x2xf32, #one>) outs(%f : tensor<2xf32, #two>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2xf32, #two>
  return %z : tensor<2xf32, #two>
}

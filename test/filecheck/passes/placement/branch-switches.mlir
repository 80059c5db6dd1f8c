// RUN: ipu-opt %s --ipu-branch-switches | filecheck %s

// CHECK-LABEL: func.func @cases_are_tested_one_after_another
// CHECK-SAME: (%[[K:.*]]: index, %[[X:.*]]: tensor<2xf32>)
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %[[THREE]] : index
// CHECK: %[[R:.*]] = scf.if %[[FIRST]] -> (tensor<2xf32>) {
// CHECK: math.exp
// CHECK: } else {
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[K]], %[[SEVEN]] : index
// CHECK: %[[S:.*]] = scf.if %[[SECOND]] -> (tensor<2xf32>) {
// CHECK: math.log
// CHECK: } else {
// CHECK: scf.yield %[[X]]
// CHECK: scf.yield %[[S]]
// CHECK: return %[[R]]
func.func @cases_are_tested_one_after_another(%k: index, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = scf.index_switch %k -> tensor<2xf32>
  case 3 {
    %y = math.exp %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  case 7 {
    %y = math.log %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  default {
    scf.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @numbers_stay
// CHECK: scf.index_switch
func.func @numbers_stay(%k: index, %x: f32) -> f32 {
  %r = scf.index_switch %k -> f32
  case 3 {
    %y = math.exp %x : f32
    scf.yield %y : f32
  }
  default {
    scf.yield %x : f32
  }
  return %r : f32
}

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

// The numbers are two runs of neighbours: -1 to 2, and 9.
// CHECK-LABEL: func.func @more_cases_are_halved
// CHECK-SAME: (%[[K:.*]]: index, %[[X:.*]]: tensor<2xf32>)
// CHECK: %[[FROM:.*]] = arith.subi %[[K]], %{{.*}} : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[FROM]], %[[C4]] : index
// CHECK: %[[SECOND:.*]] = arith.cmpi ult,
// CHECK: %[[ANY:.*]] = arith.ori %[[FIRST]], %[[SECOND]] : i1
// CHECK: scf.if %[[ANY]] -> (tensor<2xf32>) {
// CHECK:   %[[C1:.*]] = arith.constant 1 : index
// CHECK:   %[[LOW:.*]] = arith.cmpi slt, %[[K]], %[[C1]] : index
// CHECK:   scf.if %[[LOW]] -> (tensor<2xf32>) {
// CHECK:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:     arith.cmpi slt, %[[K]], %[[C0]] : index
// CHECK:       math.exp
// CHECK:     } else {
// CHECK:       math.sin
// CHECK:   } else {
// CHECK:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:     arith.cmpi slt, %[[K]], %[[C2]] : index
// CHECK:       math.cos
// CHECK:     } else {
// CHECK:       %[[C9:.*]] = arith.constant 9 : index
// CHECK:       arith.cmpi slt, %[[K]], %[[C9]] : index
// CHECK:         math.tanh
// CHECK:       } else {
// CHECK:         math.log
// CHECK: } else {
// CHECK:   scf.yield %[[X]]
func.func @more_cases_are_halved(%k: index, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = scf.index_switch %k -> tensor<2xf32>
  case 9 {
    %y = math.log %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  case -1 {
    %y = math.exp %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  case 0 {
    %y = math.sin %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  case 1 {
    %y = math.cos %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  case 2 {
    %y = math.tanh %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  default {
    scf.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

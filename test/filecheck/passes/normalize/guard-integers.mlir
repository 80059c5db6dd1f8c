// RUN: ipu-opt %s --ipu-guard-integers | filecheck %s

// CHECK-LABEL: func.func @divisor_may_be_zero
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<4xi32>)
// CHECK: %[[ZERO:.*]] = arith.constant dense<0>
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[Y]], %[[ZERO]]
// CHECK: %[[OTHER:.*]] = arith.select %[[IS]], %{{.*}}, %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[OTHER]]
// CHECK: arith.select %[[IS]], %[[ZERO]], %[[Q]]
func.func @divisor_may_be_zero(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = arith.divsi %x, %y : tensor<4xi32>
  return %z : tensor<4xi32>
}

// CHECK-LABEL: func.func @shift_may_be_wide
// CHECK: %[[MOST:.*]] = arith.constant 7 : i8
// CHECK: %[[BY:.*]] = arith.minui %[[N:.*]], %[[MOST]]
// CHECK: arith.shrsi %{{.*}}, %[[BY]]
func.func @shift_may_be_wide(%x: i8, %n: i8) -> i8 {
  %z = arith.shrsi %x, %n : i8
  return %z : i8
}

// CHECK-LABEL: func.func @what_is_known_stays
// CHECK-NOT: arith.minui
// CHECK: arith.divui %{{.*}}, %c5
// CHECK-NEXT: arith.shrsi
// CHECK-NEXT: return
func.func @what_is_known_stays(%x: index) -> index {
  %c5 = arith.constant 5 : index
  %y = arith.divui %x, %c5 : index
  %z = arith.shrsi %y, %c5 : index
  return %z : index
}

// CHECK-LABEL: func.func @what_is_guarded_stays
// CHECK-COUNT-1: arith.cmpi
// CHECK-NOT: arith.cmpi
// CHECK: return
func.func @what_is_guarded_stays(%x: i32, %y: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %is = arith.cmpi eq, %y, %zero : i32
  %other = arith.select %is, %one, %y : i32
  %z = arith.divsi %x, %other : i32
  return %z : i32
}

// CHECK-LABEL: func.func @remainders_fold_right
// CHECK-NOT: arith.cmpi
// CHECK: return
func.func @remainders_fold_right(%x: i32, %y: i32) -> i32 {
  %z = arith.remsi %x, %y : i32
  return %z : i32
}

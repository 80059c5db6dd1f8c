// RUN: ipu-opt %s --ipu-expand-powers --canonicalize | filecheck %s

// CHECK-LABEL: func.func @small_exponents
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[AGAIN:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[CUBE:.*]] = arith.mulf %[[AGAIN]], %[[X]] : f32
// CHECK: %[[OVER:.*]] = arith.divf %[[ONE]], %[[X]] : f32
// CHECK: return %[[ONE]], %[[X]], %[[SQUARE]], %[[CUBE]], %[[OVER]]
func.func @small_exponents(%x: f32) -> (f32, f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3 : i32
  %minus = arith.constant -1.0 : f32
  %0 = math.powf %x, %zero : f32
  %1 = math.powf %x, %one : f32
  %2 = math.powf %x, %two : f32
  %3 = math.fpowi %x, %three : f32, i32
  %4 = math.powf %x, %minus : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// The root of -0 would be -0, and that of minus infinity no number.
// CHECK-LABEL: func.func @roots
// CHECK-SAME: (%[[X:.*]]: f16)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f16
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant 0xFC00 : f16
// CHECK-DAG: %[[HIGHEST:.*]] = arith.constant 0x7C00 : f16
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[ZERO]] : f16
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SUM]] : f16
// CHECK: %[[IS_LOWEST:.*]] = arith.cmpf oeq, %[[X]], %[[LOWEST]] : f16
// CHECK: arith.select %[[IS_LOWEST]], %[[HIGHEST]], %[[ROOT]] : f16
// CHECK: %[[OVER:.*]] = arith.divf
// CHECK: return %{{.*}}, %[[OVER]]
func.func @roots(%x: f16) -> (f16, f16) {
  %half = arith.constant 0.5 : f16
  %minus = arith.constant -0.5 : f16
  %0 = math.powf %x, %half : f16
  %1 = math.powf %x, %minus : f16
  return %0, %1 : f16, f16
}

// CHECK-LABEL: func.func @integers
// CHECK-SAME: (%[[X:.*]]: i32)
// CHECK: %[[TWO:.*]] = arith.muli %[[X]], %[[X]] : i32
// CHECK: %[[FOUR:.*]] = arith.muli %[[TWO]], %[[TWO]] : i32
// CHECK: %[[FIVE:.*]] = arith.muli %[[FOUR]], %[[X]] : i32
// CHECK: return %[[FIVE]]
func.func @integers(%x: i32) -> i32 {
  %five = arith.constant 5 : i32
  %0 = math.ipowi %x, %five : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} : f32
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SUM]] : f32
// CHECK: %[[POWER:.*]] = arith.mulf %[[SUM]], %[[ROOT]] : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[POWER]] : f32
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SUM:.*]] : f32
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[SUM]], %[[SUM]] : f32
// CHECK: %[[OVER:.*]] = arith.divf %{{.*}}, %[[SQUARE]] : f32
// CHECK: arith.divf %[[OVER]], %[[ROOT]] : f32
// CHECK-NOT: powf
func.func @halves(%x: f32) -> (f32, f32) {
  %part = arith.constant 1.5 : f32
  %less = arith.constant -2.5 : f32
  %0 = math.powf %x, %part : f32
  %1 = math.powf %x, %less : f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func.func @twelve
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: mulf
// CHECK: return
func.func @twelve(%x: f64) -> f64 {
  %twelve = arith.constant 12.0 : f64
  %0 = math.powf %x, %twelve : f64
  return %0 : f64
}

// Four factors would be more than one ulp of f16 from the power, and squares overflow; exponents may be too large, no
// multiple of a half, or not known.
// CHECK-LABEL: func.func @others_stay
// CHECK-COUNT-5: math.powf
// CHECK: math.ipowi
// CHECK-NOT: mul
func.func @others_stay(%x: f32, %y: f32, %h: f16, %n: i32) -> (f16, f16, f32, f32, f32, i32) {
  %four = arith.constant 4.0 : f16
  %minus = arith.constant -2.0 : f16
  %many = arith.constant 13.0 : f32
  %part = arith.constant 1.25 : f32
  %less = arith.constant -2 : i32
  %0 = math.powf %h, %four : f16
  %1 = math.powf %h, %minus : f16
  %2 = math.powf %x, %many : f32
  %3 = math.powf %x, %part : f32
  %4 = math.powf %x, %y : f32
  %5 = math.ipowi %n, %less : i32
  return %0, %1, %2, %3, %4, %5 : f16, f16, f32, f32, f32, i32
}

// CHECK-LABEL: func.func @by_a_power_of_two
// CHECK-SAME: (%[[X:.*]]: i32)
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
// CHECK: arith.shrui %[[X]], %[[TWO]] : i32
// CHECK: arith.andi %[[X]], %[[THREE]] : i32
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[X]], %{{.*}} : i32
// CHECK: %[[ROUNDING:.*]] = arith.andi %[[SIGN]], %{{.*}} : i32
// CHECK: %[[ABOVE:.*]] = arith.addi %[[X]], %[[ROUNDING]] : i32
// CHECK: arith.shrsi %[[ABOVE]], %{{.*}} : i32
// CHECK: arith.subi %[[X]], %{{.*}} : i32
// CHECK: arith.shrsi %[[X]], %{{.*}} : i32
func.func @by_a_power_of_two(%x: i32) -> (i32, i32, i32, i32, i32) {
  %four = arith.constant 4 : i32
  %0 = arith.divui %x, %four : i32
  %1 = arith.remui %x, %four : i32
  %2 = arith.divsi %x, %four : i32
  %3 = arith.remsi %x, %four : i32
  %4 = arith.floordivsi %x, %four : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @by_other_numbers
// CHECK: arith.divsi
// CHECK: arith.divui
// CHECK: arith.remsi
func.func @by_other_numbers(%x: i32, %y: i32) -> (i32, i32, i32) {
  %six = arith.constant 6 : i32
  %lowest = arith.constant -2147483648 : i32
  %0 = arith.divsi %x, %six : i32
  %1 = arith.divui %x, %y : i32
  %2 = arith.remsi %x, %lowest : i32
  return %0, %1, %2 : i32, i32, i32
}

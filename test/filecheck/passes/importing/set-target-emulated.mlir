// RUN: ipu-opt %s --ipu-set-target=emulated | filecheck %s

// The target that the module names stays as it is, but is emulated.
// CHECK: emulated = true
// CHECK-SAME: tiles_per_ipu = 4
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {}

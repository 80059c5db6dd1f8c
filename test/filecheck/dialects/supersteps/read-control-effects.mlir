// RUN: ipu-opt %s --canonicalize --cse | filecheck %s

#point = #ipu.mapping<1, [], 0, 2>

// What lies there may change between two reads, and each costs a sync: none goes and none is merged.
// CHECK-LABEL: func.func @reads_stay
// CHECK-COUNT-2: "ipu.read_control"
func.func @reads_stay(%flag: memref<i32, #point>) -> i32 {
  %c = "ipu.read_control"(%flag) : (memref<i32, #point>) -> i32
  %d = "ipu.read_control"(%flag) : (memref<i32, #point>) -> i32
  return %d : i32
}

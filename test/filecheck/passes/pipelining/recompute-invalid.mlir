// RUN: not ipu-opt %s --ipu-recompute='cycles=-1' 2>&1 | filecheck %s
// RUN: not ipu-opt %s --ipu-recompute='cycles=much' 2>&1 | filecheck %s --check-prefix=WORD

// CHECK: ipu-opt: error: pass 'ipu-recompute' has cycles=-1.0; it is a share of cycles, a number from 0 on
// WORD: ipu-opt: error: option 'cycles' of pass 'ipu-recompute' takes a number, got 'much'
func.func @unread() {
  return
}

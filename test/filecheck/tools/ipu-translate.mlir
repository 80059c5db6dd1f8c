// RUN: ipu-translate --to-numpy --compile %s | filecheck %s
// RUN: ipu-opt %s --ipu-compile | ipu-translate --to-numpy | filecheck %s
// RUN: ipu-translate --to-numpy --compile %s -o %t | filecheck %s --check-prefix=SILENT --allow-empty
// RUN: filecheck %s < %t
// RUN: not ipu-translate %s 2>&1 | filecheck %s --check-prefix=WHAT
// RUN: not ipu-translate --to-numpy %s 2>&1 | filecheck %s --check-prefix=TENSORS
// RUN: not ipu-translate --to-numpy --entry nobody %s 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not ipu-translate --to-numpy %S/Inputs/wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: def build(memory):
// CHECK: def main(
// CHECK: add(
// SILENT-NOT: def
// TENSORS: @main takes or gives tensor<{{.*}}>, and is not compiled yet; add --compile
// WHAT: ipu-translate: error: say what to translate to: --to-numpy, --to-kernels or --to-llvm; see ipu-translate --help
// ENTRY: ipu-translate: error: {{.*}}nobody
// WRONG: wrong.mlir:2:3: error: 'func.return' op has 0 operands
func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %y = linalg.add ins(%x, %x : tensor<5x3xf32>, tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

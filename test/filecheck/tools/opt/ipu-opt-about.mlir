// What ipu-opt says about itself, without a program.
// RUN: ipu-opt --version | filecheck %s --check-prefix=VERSION
// VERSION: ipu-opt (ipu-mlir) {{[0-9]+\.[0-9]+}}
// VERSION-NEXT: MLIR of torch-mlir {{[0-9]+}} (LLVM {{[0-9]+}}.
// RUN: ipu-run --version | filecheck %s --check-prefix=RUN-VERSION
// RUN-VERSION: ipu-run (ipu-mlir)

// RUN: ipu-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: {{.*}}affine,{{.*}}ipu,{{.*}}linalg,{{.*}}vector

// RUN: ipu-opt --completion bash | filecheck %s --check-prefix=BASH
// BASH: --canonicalize {{.*}}--ipu-compile {{.*}}--mlir-timing {{.*}}--split-input-file
// BASH: complete {{.*}} ipu-opt
// RUN: ipu-run --completion zsh | filecheck %s --check-prefix=ZSH
// ZSH: #compdef ipu-run
// ZSH: --print-values
// RUN: ipu-sweep --completion fish | filecheck %s --check-prefix=FISH
// FISH: complete -c ipu-sweep -l chip -d 'ipu1, ipu2 or ipu21
// RUN: not ipu-opt --completion tcsh 2>&1 | filecheck %s --check-prefix=TCSH
// TCSH: ipu-opt: error: argument --completion: expected one of bash, zsh, fish, got 'tcsh'

// RUN: not ipu-opt %s --canonicaliez 2>&1 | filecheck %s --check-prefix=NEAR
// NEAR: there is no option and no pass '--canonicaliez'; did you mean '--canonicalize'?
// RUN: ipu-opt --list-passes | filecheck %s --check-prefix=LIST
// LIST: Every pass of upstream MLIR works too
// LIST: {{^  canonicalize$}}
// LIST: {{^  cse$}}

// RUN: ipu-opt --cse -- %s | filecheck %s --check-prefix=FILE
// RUN: not ipu-opt -- --cse 2>&1 | filecheck %s --check-prefix=DASHES
// RUN: not ipu-opt -- a b 2>&1 | filecheck %s --check-prefix=TWO
// FILE: func.func @f
// DASHES: --cse: error: cannot read the file
// TWO: ipu-opt: error: expected one file, got a, b
func.func @f() {
  return
}

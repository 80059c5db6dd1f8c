// RUN: ipu-opt --help | filecheck %s
// RUN: ipu-run --help | filecheck %s --check-prefix=RUN-TOOL
// RUN: ipu-translate --help | filecheck %s --check-prefix=TRANSLATE
// RUN: not ipu-opt %s --pass-pipelin=cse 2>&1 | filecheck %s --check-prefix=SHORT

// CHECK: usage: ipu-opt
// CHECK: --pass-pipeline TEXT
// CHECK: exit status: 0 done
// RUN-TOOL: usage: ipu-run
// TRANSLATE: usage: ipu-translate
// SHORT: ipu-opt: error: there is no option and no pass '--pass-pipelin'; did you mean '--pass-pipeline'?

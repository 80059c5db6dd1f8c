// Each line is wrong usage in a way of its own; nothing is written to stdout.
// RUN: not ipu-opt %s --pass-pipeline='builtin.module(canonicalise)' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: ipu-opt: error: there is no pass or pipeline 'canonicalise'

// RUN: not ipu-opt %s --ipu-compil 2>&1 | filecheck %s --check-prefix=NEAR
// NEAR: ipu-opt: error: there is no option and no pass '--ipu-compil'; did you mean '--ipu-compile'?

// RUN: not ipu-opt %s --debug-counter 2>&1 | filecheck %s --check-prefix=OPTION-UNKNOWN
// OPTION-UNKNOWN: ipu-opt: error: there is no option and no pass '--debug-counter'; --list-passes names the passes

// RUN: not ipu-opt %s --ipu-set-target='tyles=4' 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: ipu-opt: error: pass 'ipu-set-target' has no option 'tyles'; its options: chip, tiles

// RUN: not ipu-opt %s --ipu-set-target='tiles=many' 2>&1 | filecheck %s --check-prefix=TYPE
// TYPE: ipu-opt: error: option 'tiles' of pass 'ipu-set-target' takes an integer, got 'many'

// RUN: not ipu-opt %s --pass-pipeline='builtin.module(cse{colour=red})' 2>&1 | filecheck %s --check-prefix=UPSTREAM
// UPSTREAM: ipu-opt: error: pass 'cse' does not take these options: 'cse{colour=red}'

// RUN: not ipu-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: ipu-opt: error: pipeline 'builtin.module(cse', column 15: '(' is never closed

// RUN: not ipu-opt %s --pass-pipeline='builtin.module(cse,,cse)' 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: ipu-opt: error: pipeline 'builtin.module(cse,,cse)', column 20: expected the name of a pass, found nothing

// RUN: not ipu-opt %s --pass-pipeline='builtin.module(func.func(ipu-compile))' 2>&1 | filecheck %s --check-prefix=DEEP
// DEEP: ipu-opt: error: pipeline 'ipu-compile' runs on builtin.module, not inside func.func(...)

// RUN: not ipu-opt %s --cse --pass-pipeline='builtin.module(cse)' 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: ipu-opt: error: --pass-pipeline and --cse exclude each other

func.func @f() {
  return
}

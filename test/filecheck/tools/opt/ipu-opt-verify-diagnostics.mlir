// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @below() -> i32 {
  // expected-error @below {{has 0 operands, but enclosing function (@below) returns 1}}
  return
}

// -----

func.func @same_line() -> i32 {
  return // expected-error {{has 0 operands}}
}

// -----

func.func @two_lines_up() -> i32 {
  return
}
// expected-error @-2 {{has 0 operands}}

// -----

func.func @above() -> i32 {
  return
  // expected-error @above {{has 0 operands}}
}

// -----

// expected-error-re @+2 {{has {{[0-9]}} operands}}
func.func @pattern() -> i32 {
  return
}

// -----

func.func @nothing_is_wrong() {
  return
}

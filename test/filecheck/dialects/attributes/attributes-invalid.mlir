// RUN: ipu-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.array'}}
func.func private @mapping_without_elements(memref<4xf32, #ipu.mapping<[[2, 4, 1, 1]], [], 0, 0>>)

// -----

// expected-error @below {{expected 4 type arguments, but had 3}}
func.func private @mapping_without_first_tile(memref<4xf32, #ipu.mapping<4, [[2, 4, 1, 1]], 0>>)

// -----

// expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.string'}}
func.func private @parts_on_a_named_tile() attributes {ipu.parts = #ipu.parts<[[2, 4, 1]], "zero">}

// -----

// expected-error @below {{expected base attribute 'builtin.dictionary' but got 'builtin.string'}}
func.func private @target_by_name() attributes {ipu.target = #ipu.target<"ipu2">}

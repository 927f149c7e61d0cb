package cli

import "github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"

// Streams are the terminal and the environment of one run.
type Streams = run.Streams

// Build is what the linker was told about the program.
type Build = run.Build

// Terminal are the streams of the process.
func Terminal() Streams { return run.Terminal() }

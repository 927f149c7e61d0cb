package source

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// DumpFlags name dumps of proxies.
type DumpFlags struct{ Paths []string }

// AddFlag adds --dataplane; what says what it is for.
func (q *DumpFlags) AddFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringArrayVar(&q.Paths, "dataplane", nil, what+": a file, or - for standard input (repeatable)")
}

// Audit compares the input with the dumps; nil if the flags name none.
func (q *DumpFlags) Audit(s *Session, kinds []model.GroupKind) (*audit.Report, error) {
	if len(q.Paths) == 0 {
		return nil, nil
	}
	proxies, err := q.readDumps(s.Streams)
	if err != nil {
		return nil, err
	}
	return s.Audit(proxies, kinds, nil, nil), nil
}

// CheckInput refuses an input that cannot be read beside dumps: standard input as both, and one without values.
func (q *DumpFlags) CheckInput(input *Flags) error {
	if input.Redact && len(q.Paths) > 0 {
		return failure.Usage("drop one of the two", "--redact leaves out the values that --dataplane compares")
	}
	if slices.Contains(q.Paths, "-") && slices.Contains(input.Files, "-") {
		return failure.Usage("write one of them to a file", "standard input cannot be the dump and the manifests")
	}
	return nil
}

// Open reads the input and the dumps, which may be large, at the same time. Only one
// of them may be standard input.
func (q *DumpFlags) Open(ctx context.Context, env run.Environment, input *Flags) (*Session, []*dataplane.Proxy, error) {
	if err := q.CheckInput(input); err != nil {
		return nil, nil, err
	}
	type read struct {
		proxies []*dataplane.Proxy
		err     error
	}
	dumps := make(chan read, 1)
	go func() {
		proxies, err := q.readDumps(env.Streams)
		dumps <- read{proxies, err}
	}()
	session, err := input.Open(ctx, env)
	found := <-dumps
	if found.err != nil {
		return nil, nil, found.err
	}
	return session, found.proxies, err
}

// readDumps reads the dumps that the flags name.
func (q *DumpFlags) readDumps(s run.Streams) ([]*dataplane.Proxy, error) {
	var out []*dataplane.Proxy
	for _, name := range q.Paths {
		data, err := readDump(name, s.In)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading the dump: %s", err),
				"give a file, or - for standard input")
		}
		found, err := dataplane.ReadDump(name, data)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading the dump %s: %s", name, err),
				"get one from the admin port of the proxy: curl localhost:19000/config_dump (docs/audit.md)")
		}
		out = append(out, found...)
	}
	return out, nil
}

// readDump reads a dump; bounded like everything that is read.
func readDump(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := input.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return localfile.ReadLimited(in, name, dataplane.MaxDumpBytes)
}

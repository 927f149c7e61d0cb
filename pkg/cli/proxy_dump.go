package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// dumpFlags name dumps of proxies.
type dumpFlags struct{ dumps []string }

// addDumpFlag adds --dataplane; what says what it is for.
func (q *dumpFlags) addDumpFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringArrayVar(&q.dumps, "dataplane", nil, what+": a file, or - for standard input (repeatable)")
}

// auditDumps compares the input with the dumps; nil if the flags name none.
func (q *dumpFlags) auditDumps(s *session, kinds []model.GroupKind) (*audit.Report, error) {
	if len(q.dumps) == 0 {
		return nil, nil
	}
	proxies, err := q.readDumps(s.streams)
	if err != nil {
		return nil, err
	}
	return s.Audit(proxies, kinds, nil, nil), nil
}

// checkStdin refuses standard input as both.
func (q *dumpFlags) checkStdin(input *sourceFlags) error {
	if slices.Contains(q.dumps, "-") && slices.Contains(input.files, "-") {
		return newUsageError("write one of them to a file", "standard input cannot be the dump and the manifests")
	}
	return nil
}

// readInputAndDumps reads the input and the dumps, which may be large, at the same time. Only one
// of them may be standard input.
func (q *dumpFlags) readInputAndDumps(ctx context.Context, env environment, input *sourceFlags) (*session, []*dataplane.Proxy, error) {
	if err := q.checkStdin(input); err != nil {
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
	session, err := input.openInput(ctx, env)
	found := <-dumps
	if found.err != nil {
		return nil, nil, found.err
	}
	return session, found.proxies, err
}

// readDumps reads the dumps that the flags name.
func (q *dumpFlags) readDumps(s Streams) ([]*dataplane.Proxy, error) {
	var out []*dataplane.Proxy
	for _, name := range q.dumps {
		data, err := readDump(name, s.In)
		if err != nil {
			return nil, newNoAnswerError(fmt.Sprintf("reading the dump: %s", err), "give a file, or - for standard input")
		}
		found, err := dataplane.ReadDump(name, data)
		if err != nil {
			return nil, newNoAnswerError(fmt.Sprintf("reading the dump %s: %s", name, err), "get one from the admin port of the proxy: curl localhost:19000/config_dump (docs/audit.md)")
		}
		out = append(out, found...)
	}
	return out, nil
}

// readDump reads a dump; bounded like everything that is read.
func readDump(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return readLimited(in, name, dataplane.MaxDumpBytes)
}

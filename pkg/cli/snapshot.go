package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// snapshotOptions say where a snapshot goes, and what is left out of it.
type snapshotOptions struct {
	Environment environment
	Source      sourceFlags
	File        string
	Redact      bool
	Strict      bool // write nothing if not everything could be read
}

// newSnapshotCommand makes the command.
func newSnapshotCommand(env environment) *cobra.Command {
	f := &snapshotOptions{Environment: env}
	f.Source.reports, f.Source.allNamespaces = true, true // what answers to anything may need
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Save the parts of a cluster that answers depend on to one file",
		Long: `Save the parts of a cluster that answers depend on to one file: the served kinds, what could not be read, and the objects without
Secrets and managed fields. Every command gives the same answer with -f FILE as with the cluster.

The file name selects the format: .yaml, .json or .tgz (compressed). "-" writes YAML to standard output.

` + redactedHelp,
		Example: `  # save a cluster, and use it later or elsewhere
  kubectl dopolicy snapshot -o cluster.tgz
  kubectl dopolicy effective -A -f cluster.tgz

  # for someone who must not see limits and keys
  kubectl dopolicy snapshot --redact -o cluster.yaml`,
		Args: checkArgumentCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSnapshot(cmd.Context(), f) },
	}
	f.Source.addClusterSource(cmd)
	cmd.Flags().StringVarP(&f.File, "output", "o", "", "file to write, ending in .yaml, .json or .tgz; - for standard output")
	cmd.Flags().BoolVar(&f.Redact, "redact", false, "leave out the values of policy settings, headers, annotations and more")
	cmd.Flags().BoolVar(&f.Strict, "strict", false, "write nothing and exit with 3 if not everything could be read")
	return cmd
}

// chooseSnapshotForm returns the form that the name of a file asks for.
func chooseSnapshotForm(file string) (render.SnapshotForm, error) {
	switch name := strings.ToLower(file); {
	case file == "":
		return "", newUsageError("write to a file: -o cluster.yaml, .json or .tgz; or -o - for standard output", "-o FILE is required")
	case file == "-", strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return render.SnapshotYAML, nil
	case strings.HasSuffix(name, ".json"):
		return render.SnapshotJSON, nil
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return render.SnapshotArchive, nil
	}
	return "", newUsageError("the name must end in .yaml, .json or .tgz", "unknown snapshot format %q", file)
}

// runSnapshot reads the cluster and writes the file.
func runSnapshot(ctx context.Context, f *snapshotOptions) error {
	s := f.Environment.Streams
	form, err := chooseSnapshotForm(f.File)
	if err != nil {
		return err
	}
	session, err := f.Source.openInput(ctx, f.Environment)
	if err != nil {
		return err
	}
	in := session.Snapshot
	if err := render.WriteProblems(s.Err, in.Problems, render.ProblemOptions{}); err != nil {
		return err
	}
	if f.Strict && slices.ContainsFunc(in.Problems, model.Problem.IsIncomplete) {
		return newNoAnswerError("not everything could be read: no snapshot was written", "the problems above say what is missing")
	}
	header := model.NewHeader(in)
	if f.Redact {
		in = redactSession(session).Snapshot
		header = model.NewHeader(in)
		header.Redacted = true
	}
	objects := make([]any, len(in.Objects))
	for i, o := range in.Objects {
		objects[i] = o.Body
	}
	if f.File == "-" {
		return render.WriteSnapshot(s.Out, form, header, objects)
	}
	if err := writeFileAtomically(f.File, func(w io.Writer) error { return render.WriteSnapshot(w, form, header, objects) }); err != nil {
		return newNoAnswerError(fmt.Sprintf("writing %s: %s", f.File, err), "check the folder and its permissions")
	}
	fmt.Fprintf(s.Err, "wrote %d objects of cluster %s to %s; use it with -f %s\n", len(objects), render.Escape(in.Cluster.Context), render.Escape(f.File), render.Escape(f.File))
	return nil
}

// writeFileAtomically writes a file whole or not at all.
func writeFileAtomically(name string, write func(io.Writer) error) error {
	t, err := os.CreateTemp(filepath.Dir(name), ".snapshot-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	if err := write(t); err != nil {
		_ = t.Close()
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), name)
}

package snapshot

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/redaction"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// Options say where a snapshot goes, and what is left out of it.
type Options struct {
	Environment run.Environment
	Source      source.Flags
	File        string
	Redact      bool
	Strict      bool // write nothing if not everything could be read
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env}
	f.Source.Reports, f.Source.AllNamespaces = true, true // what answers to anything may need
	cmd := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Save the parts of a cluster that answers depend on to one file",
		Long: `Save the parts of a cluster that answers depend on to one file: the served kinds, what could not be read, and the objects without
Secrets and managed fields; definitions of kinds come without descriptions. Every command gives the same answer with -f FILE as with the cluster.

The file name selects the format: .yaml, .json or .tgz (compressed). "-" writes YAML to standard output.

` + redaction.Help,
		Example: `  # save a cluster, and use it later or elsewhere
  kubectl dopolicy snapshot -o cluster.tgz
  kubectl dopolicy effective -A -f cluster.tgz

  # for someone who must not see limits and keys
  kubectl dopolicy snapshot --redact -o cluster.yaml`,
		Args: command.CheckArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), f) },
	}
	f.Source.AddClusterFlags(cmd)
	cmd.Flags().StringVarP(&f.File, "output", "o", "",
		"file to write, ending in .yaml, .json or .tgz; - for standard output")
	cmd.Flags().BoolVar(&f.Redact, "redact", false, redaction.FlagUsage)
	cmd.Flags().BoolVar(&f.Strict, "strict", false, "write nothing and exit with 3 if not everything could be read")
	return cmd
}

// chooseSnapshotForm returns the form that the name of a file asks for.
func chooseSnapshotForm(file string) (render.SnapshotForm, error) {
	switch name := strings.ToLower(file); {
	case file == "":
		return "", failure.Usage("write to a file: -o cluster.yaml, .json or .tgz; or -o - for standard output",
			"-o FILE is required")
	case file == "-", strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return render.SnapshotYAML, nil
	case strings.HasSuffix(name, ".json"):
		return render.SnapshotJSON, nil
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return render.SnapshotArchive, nil
	}
	return "", failure.Usage("the name must end in .yaml, .json or .tgz", "unknown snapshot format %q", file)
}

// Run reads the cluster and writes the file.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	form, err := chooseSnapshotForm(f.File)
	if err != nil {
		return err
	}
	f.Source.AllNamespaces = true
	session, err := f.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	in := session.Snapshot
	if err := render.WriteProblems(s.Err, in.Problems,
		render.ProblemOptions{Forbidden: session.Forbidden(false)}); err != nil {
		return err
	}
	if f.Strict && slices.ContainsFunc(in.Problems, model.Problem.IsIncomplete) {
		return failure.NoAnswer("not everything could be read: no snapshot was written",
			"the problems above say what is missing")
	}
	header := model.NewHeader(in)
	if f.Redact {
		in = redaction.Redact(session.Input).Snapshot
		header = model.NewHeader(in)
		header.Redacted = true
	}
	objects := make([]any, len(in.Objects))
	for i, o := range in.Objects {
		objects[i] = o.Body
		if o.Ref.GroupKind() == model.DefinitionKind() { // most of it is text for people
			body := o.Body.Value()
			schema.RemoveDescriptions(model.Get(body, "spec"))
			objects[i] = body
		}
	}
	if f.File == "-" {
		return render.WriteSnapshot(s.Out, form, header, objects)
	}
	if err := localfile.WriteAtomically(f.File, func(w io.Writer) error {
		return render.WriteSnapshot(w, form, header,
			objects)
	}); err != nil {
		return failure.NoAnswer(fmt.Sprintf("writing %s: %s", f.File, err), "check the folder and its permissions")
	}
	fmt.Fprintf(s.Err, "wrote %d objects of cluster %s to %s; use it with -f %s\n", len(objects),
		escape.Escape(in.Cluster.Context), escape.Escape(f.File), escape.Escape(f.File))
	return nil
}

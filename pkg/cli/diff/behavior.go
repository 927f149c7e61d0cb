package diff

import (
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
)

// Behavior are those of `diff --behavior`.
type Behavior struct {
	Enabled, NoNewAccess bool
	Weights              string
	Protect              []string
}

func (f *Behavior) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Enabled, "behavior", false,
		"compare what every request gets instead: rule, backends, filters, policies and verdict, whatever the names of routes, rules and policies")
	fs.BoolVar(&f.NoNewAccess, "no-new-access", false,
		"with --behavior: exit with 1 only if requests get access that they did not have, or lose authentication, authorization, a client certificate or an address list, and with 3 if that is not known")
	fs.StringVar(&f.Weights, "weights", "",
		"with --behavior: an access log (Envoy's JSON or text, or combined log format), or - for standard input, to say what share of the traffic each change touches")
	fs.StringSliceVar(&f.Protect, "protect", nil,
		"with --behavior: policy kind that keeps requests out by being there, instead of what policies do (repeatable)")
}

// checkFlags refuses flags that do not go together.
func (f *Behavior) checkFlags(format string) error {
	switch {
	case f.Enabled && (format == "name" || format == "unified"):
		return failure.Usage("use table, wide, markdown, yaml, json or ndjson", "--behavior has no output format %q",
			format)
	case f.Enabled:
		return nil
	case f.NoNewAccess:
		return failure.Usage("add --behavior", "--no-new-access compares what requests get")
	case f.Weights != "":
		return failure.Usage("add --behavior", "--weights compares what requests get")
	case len(f.Protect) > 0:
		return failure.Usage("add --behavior", "--protect compares what requests get")
	}
	return nil
}

// compareBehavior answers `diff --behavior`.
func (f *Options) compareBehavior(before, after *source.Session, kinds []model.GroupKind) error {
	s := f.Environment.Streams
	q := behavior.Query{Kinds: kinds, Namespace: f.Sides.ComparedNamespace()}
	for _, name := range f.Behavior.Protect {
		found := append(before.FindPolicyKinds(name), after.FindPolicyKinds(name)...)
		if len(found) == 0 {
			return after.UnknownPolicyKind(name)
		}
		for _, k := range found {
			q.Protects = append(q.Protects, k.ResolvedKind().GroupKind)
		}
	}
	var err error
	if q.Log, err = f.Behavior.readAccessLog(s); err != nil {
		return err
	}
	out, err := dopolicy.Behavior(before.Input, after.Input, q)
	if err != nil {
		return err
	}
	told := out.Envelope
	if !f.Output.Verbose && f.Sides.Source.Cluster.Verbosity == 0 {
		told.Problems = out.News()
	}
	if err := f.Output.Write(s, after, "", out, &told); err != nil {
		return err
	}
	switch {
	case out.Opened > 0, !f.Behavior.NoNewAccess && out.HasChanges():
		return failure.ErrFindings
	case f.Behavior.NoNewAccess && !out.IsAccessCertain():
		return errAccessUnknown
	}
	return nil
}

// readAccessLog reads the access log that --weights names; nil if it names none.
func (f *Behavior) readAccessLog(s run.Streams) (*behavior.AccessLog, error) {
	if f.Weights == "" {
		return nil, nil
	}
	in := s.In
	if f.Weights != "-" {
		file, err := input.Open(f.Weights)
		if err != nil {
			return nil, failure.Usage("name an access log", "--weights: %s", err)
		}
		defer file.Close()
		in = file
	}
	return behavior.ReadAccessLog(in)
}

// errAccessUnknown is what `diff --no-new-access` returns where nothing is known to get access, and
// not everything is known.
var errAccessUnknown = failure.NoAnswer("not known whether requests get access that they did not have",
	"the answer says what is not known")

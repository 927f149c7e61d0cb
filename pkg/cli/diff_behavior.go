package cli

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// behaviorFlags are those of `diff --behavior`.
type behaviorFlags struct {
	enabled, noNewAccess bool
	weights              string
	protect              []string
}

func (f *behaviorFlags) addBehaviorFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.enabled, "behavior", false, "compare what every request gets instead: rule, backends, filters, policies and verdict, whatever the names of routes, rules and policies")
	fs.BoolVar(&f.noNewAccess, "no-new-access", false, "with --behavior: exit with 1 only if requests get access that they did not have, or lose authentication, authorization, a client certificate or an address list, and with 3 if that is not known")
	fs.StringVar(&f.weights, "weights", "", "with --behavior: an access log (Envoy's JSON or text, or combined log format), or - for standard input, to say what share of the traffic each change touches")
	fs.StringSliceVar(&f.protect, "protect", nil, "with --behavior: policy kind that keeps requests out by being there, instead of what policies do (repeatable)")
}

// checkBehavior refuses flags that do not go together.
func (f *behaviorFlags) checkBehavior(format string) error {
	switch {
	case f.enabled && (format == "name" || format == "unified"):
		return newUsageError("use table, wide, markdown, yaml, json or ndjson", "--behavior has no output format %q", format)
	case f.enabled:
		return nil
	case f.noNewAccess:
		return newUsageError("add --behavior", "--no-new-access compares what requests get")
	case f.weights != "":
		return newUsageError("add --behavior", "--weights compares what requests get")
	case len(f.protect) > 0:
		return newUsageError("add --behavior", "--protect compares what requests get")
	}
	return nil
}

// compareBehavior answers `diff --behavior`.
func (f *diffOptions) compareBehavior(before, after *session, kinds []model.GroupKind) error {
	s := f.Environment.Streams
	q := view.BehaviorQuery{Kinds: kinds, Namespace: f.Sides.comparedNamespace()}
	for _, name := range f.Behavior.protect {
		found := append(before.findPolicyKinds(name), after.findPolicyKinds(name)...)
		if len(found) == 0 {
			return after.unknownPolicyKind(name)
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
	if !f.Output.verbose && f.Sides.Source.cluster.verbosity == 0 {
		told.Problems = out.News()
	}
	if err := f.Output.writeWithProblems(s, after, "", out, &told); err != nil {
		return err
	}
	switch {
	case out.Opened > 0, !f.Behavior.noNewAccess && out.HasChanges():
		return errFindings
	case f.Behavior.noNewAccess && !out.IsAccessCertain():
		return errAccessUnknown
	}
	return nil
}

// readAccessLog reads the access log that --weights names; nil if it names none.
func (f *behaviorFlags) readAccessLog(s Streams) (*view.AccessLog, error) {
	if f.weights == "" {
		return nil, nil
	}
	in := s.In
	if f.weights != "-" {
		file, err := os.Open(f.weights)
		if err != nil {
			return nil, newUsageError("name an access log", "--weights: %s", err)
		}
		defer file.Close()
		in = file
	}
	return view.ReadAccessLog(in)
}

// errAccessUnknown is what `diff --no-new-access` returns where nothing is known to get access, and not everything is known.
var errAccessUnknown = newNoAnswerError("not known whether requests get access that they did not have", "the answer says what is not known")

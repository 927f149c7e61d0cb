package diff

import (
	"strings"

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

	// Of a comparison with the proxy of Ingresses:
	Live         bool // both sides are in the cluster
	RequestsFile string
	Also         []string

	Before, After string // the proxy of a side that has several, as ingress:CLASS or gateway:NAMESPACE/NAME
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

// addIngressFlags adds the flags of a comparison with the proxy of Ingresses.
func (f *Behavior) addIngressFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Live, "live", false,
		"with --behavior ingress:CLASS gateway:NAMESPACE/NAME: compare the two in the cluster")
	fs.StringVar(&f.Before, "before", "",
		"with --behavior: what of the first side is compared, as ingress:CLASS or gateway:NAMESPACE/NAME (default: its Gateways, else its Ingresses)")
	fs.StringVar(&f.After, "after", "", "the same of the second side")
	fs.StringVar(&f.RequestsFile, "requests-file", "",
		"with --behavior and Ingresses: file with requests to compare as well, one per line as in 'request', or - for standard input")
	fs.StringSliceVar(&f.Also, "also", nil,
		"with --behavior and Ingresses: settings that have to be the same as well: "+
			strings.Join(behavior.AlsoSettings(), ", ")+" (repeatable)")
}

// checkFlags refuses flags that do not go together.
func (f *Behavior) checkFlags(format string) error {
	switch {
	case f.Enabled && (format == "name" || format == "unified"):
		return failure.Usage("use table, wide, markdown, yaml, json or ndjson", "--behavior has no output format %q",
			format)
	case f.Enabled:
		return f.checkIngressFlags()
	case f.Before+f.After != "":
		return failure.Usage("add --behavior", "--before and --after compare what requests get")
	case f.Live, f.RequestsFile != "", len(f.Also) > 0:
		return failure.Usage("add --behavior", "--live, --requests-file and --also compare what requests get")
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
	ends, across, err := f.chooseEndpoints(before, after)
	if err != nil {
		return err
	}
	if across {
		return f.compareAcross(before, after, ends, q)
	}
	if f.Behavior.RequestsFile != "" || len(f.Behavior.Also) > 0 {
		return failure.Usage("drop it, or name a side that has Ingresses and no Gateway",
			"--requests-file and --also compare with the proxy of Ingresses, and neither side is one")
	}
	if q.Log, err = f.Behavior.readAccessLog(s); err != nil {
		return err
	}
	out, err := dopolicy.Behavior(before.Input, after.Input, q)
	if err != nil {
		return err
	}
	f.noteIngresses(before, after, out)
	if err := f.writeBehavior(after, out); err != nil {
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

// writeBehavior writes the answer.
func (f *Options) writeBehavior(after *source.Session, out *behavior.BehaviorDiff) error {
	shown := out.Envelope
	if !f.Output.Verbose && f.Sides.Source.Cluster.Verbosity == 0 {
		shown.Problems = out.News()
	}
	return f.Output.Write(f.Environment.Streams, after, "", out, &shown)
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

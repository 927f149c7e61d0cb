package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/redaction"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// Flags are the flags shared by all commands that read objects.
type Flags struct {
	Cluster        ClusterFlags
	Limits         LimitFlags
	Files          []string
	Recursive      bool
	Helm           bool
	Destination    string
	Rendering      RenderingFlags
	OverLive       bool
	Cache          *cluster.Cache // of lists that were read before
	Kustomization  string
	Namespace      string
	NamespaceGiven bool // it is not only that of the kubeconfig
	AllNamespaces  bool
	PolicyKinds    []string
	FoundKinds     []string // the same, named by another file
	OnlyKinds      []string
	Settings       []string
	AssumeComplete bool     // what is not in the manifests does not exist
	Assumptions    []string // of what the input does not tell
	Reports        bool     // published reports are read where policies may not be
	Schemas        SchemaFlags
	NoSchemas      bool              // kinds without a schema are not asked about
	Workloads      bool              // pods are asked about, whether or not there are policies about them
	Points         bool              // what judges requests behind their Gateways is asked about
	ClusterScoped  []model.GroupKind // known beside those of the catalogue
	Redact         bool              // answers are without the values of settings
	AllKinds       bool              // how every kind is read is asked about, whether or not there are policies of it
}

// AddFlags adds the flags of files and of a cluster.
func (f *Flags) AddFlags(cmd *cobra.Command) {
	f.AddClusterFlags(cmd)
	fs := cmd.Flags()
	fs.StringSliceVarP(&f.Files, "filename", "f", nil,
		"file or folder with manifests, or - for standard input (repeatable)")
	fs.BoolVarP(&f.Recursive, "recursive", "R", false,
		"also read sub-folders, and render what they hold: kustomizations, Flux Kustomizations, Argo CD Applications")
	fs.BoolVar(&f.Helm, "enable-helm", false,
		"with -R and -k: render charts of the input with the helm program (off by default: it is a program that runs on the input)")
	fs.StringVar(&f.Destination, "destination", "",
		"with -R: only what is deployed to this cluster, by its name or address in Applications, the name of the Secret with its kubeconfig, or the folder that begins it")
	f.Rendering.AddFlags(fs)
	fs.BoolVar(&f.OverLive, "live", false, "answer for the cluster as if the files had been applied to it")
	fs.StringVarP(&f.Kustomization, "kustomize", "k", "", "folder with a kustomization, built offline (instead of -f)")
	fs.BoolVar(&f.AssumeComplete, "complete", false,
		"treat objects that are not in the files as not existing (default: they may exist elsewhere)")
	fs.StringArrayVar(&f.Assumptions, "assume", nil,
		"what to assume of services that are asked for authorization: external=authentication, that they refuse anonymous clients")
	fs.StringSliceVar(&f.OnlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, "include all namespaces")
	f.AddRedactFlag(fs)
}

// AddRedactFlag adds --redact.
func (f *Flags) AddRedactFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Redact, "redact", false, redaction.FlagUsage)
}

// AddClusterFlags adds the flags that reading a cluster takes.
func (f *Flags) AddClusterFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.Cluster.AddFlags(fs)
	f.Limits.addFlags(fs)
	f.Schemas.addFlags(cmd)
	fs.StringVarP(&f.Namespace, "namespace", "n", "",
		"namespace to look in (default: the kubeconfig's; with -f, all), and the namespace of objects in files without one")
	fs.StringArrayVar(&f.PolicyKinds, "policy-kinds", nil,
		"file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.Settings, "vendor-setting", nil,
		"vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
}

// Session is one loaded and resolved input, and how it was asked for.
type Session struct {
	Flags *Flags
	*dopolicy.Input
	Streams run.Streams
}

// Open loads what the flags name and resolves it.
func (f *Flags) Open(ctx context.Context, env run.Environment) (*Session, error) {
	engine, err := f.Engine(ctx, env)
	if err != nil {
		return nil, err
	}
	if err := f.checkSources(); err != nil {
		return nil, err
	}
	in, err := f.readInput(ctx, engine, env.Streams)
	if err != nil {
		return nil, err
	}
	if f.Cluster.PrintRights { // of a snapshot
		return nil, f.NewSession(engine.Resolve(in), env.Streams).printRights(ctx)
	}
	in.Problems = append(in.Problems, f.Schemas.problems...)
	session := f.NewSession(engine.Resolve(in), env.Streams)
	if err := session.CheckSize(); err != nil {
		return nil, err
	}
	return session, nil
}

// NewSession makes the session of an input that these flags name; with --redact of what is left of it.
func (f *Flags) NewSession(in *dopolicy.Input, s run.Streams) *Session {
	if f.Redact {
		in = redaction.Redact(in)
	}
	return &Session{f, in, s}
}

// Engine is what the flags say about vendors and policy kinds. Runs of one command line share the
// catalogue.
func (f *Flags) Engine(ctx context.Context, env run.Environment) (*dopolicy.Engine, error) {
	o, err := f.engineOptions(ctx)
	if err != nil {
		return nil, err
	}
	catalog, err := env.Catalog.Get(func() (*descriptor.Catalog, error) {
		return plugin.NewCatalog(env.Plugins, o.PolicyKinds, o.Settings)
	})
	if err != nil {
		return nil, err
	}
	engine, err := dopolicy.NewWithCatalog(env.Plugins, catalog, o)
	var unknown *schema.ReleaseError
	if errors.As(err, &unknown) {
		return nil, failure.Usage("there are: "+strings.Join(unknown.Known, ", "), "%s", unknown.Message)
	}
	return engine, err
}

// engineOptions are the user's policy kinds and settings.
func (f *Flags) engineOptions(ctx context.Context) (dopolicy.Options, error) {
	o := dopolicy.Options{Settings: f.Settings, Workloads: f.Workloads, Points: f.Points,
		ExternalAuthenticates: slices.Contains(f.Assumptions, externalAuthenticates)}
	var err error
	if o.Schemas, err = f.Schemas.readOptions(ctx, f.Limits.Values()); err != nil {
		return o, err
	}
	if o.Versions, err = f.Schemas.chosenVersions(); err != nil {
		return o, err
	}
	if err = f.Rendering.Prepare(); err != nil {
		return o, err
	}
	f.ClusterScoped = load.ClusterScopedKinds(o.Schemas.Definitions)
	for i, name := range slices.Concat(f.FoundKinds, f.PolicyKinds) {
		text, err := localfile.Read(name, i >= len(f.FoundKinds))
		if err != nil {
			return o, failure.NoAnswer(fmt.Sprintf("reading policy kinds: %s", err),
				"give a file with PolicyKind documents")
		}
		o.PolicyKinds = append(o.PolicyKinds, form.Source{Name: name, Text: text})
	}
	return o, nil
}

// readInput reads manifests if the flags name any, else the cluster.
func (f *Flags) readInput(ctx context.Context, engine *dopolicy.Engine, s run.Streams) (*model.Snapshot, error) {
	if f.OverLive || len(f.Files) == 0 && f.Kustomization == "" {
		c, err := f.Cluster.Find()
		if err != nil {
			return nil, err
		}
		f.NamespaceGiven = f.NamespaceGiven || f.Namespace != ""
		f.Namespace = cmp.Or(f.Namespace, c.Namespace)
		return f.ReadCluster(ctx, c, engine, s)
	}
	in, err := engine.ReadFiles(ctx, f.loadOptions(s))
	if in != nil {
		in.Exhaustive = f.AssumeComplete
	}
	return in, ReportReadError(s, in, err)
}

// externalAuthenticates is the one thing that can be assumed.
const externalAuthenticates = "external=authentication"

// CutAssumptions takes the assumptions that are not about the input out of the flags, and returns them.
func (f *Flags) CutAssumptions() []string {
	var others []string
	f.Assumptions = slices.DeleteFunc(slices.Clone(f.Assumptions), func(what string) bool {
		if what == externalAuthenticates {
			return false
		}
		others = append(others, what)
		return true
	})
	return others
}

// checkAssumptions refuses what cannot be assumed.
func (f *Flags) checkAssumptions() error {
	for _, what := range f.Assumptions {
		if what != externalAuthenticates {
			return failure.Usage("write --assume "+externalAuthenticates, "cannot assume %q", what)
		}
	}
	return nil
}

// ReportReadError returns the error of reading manifests. If no document was readable, what is
// wrong with them is printed before.
func ReportReadError(s run.Streams, in *model.Snapshot, err error) error {
	if in != nil && errors.Is(err, load.ErrNothingReadable) {
		if failed := render.WriteProblems(s.Err, model.SortProblems(in.Problems),
			render.ProblemOptions{}); failed != nil {
			return failed
		}
	}
	return err
}

// loadOptions returns the options for reading the files or the kustomization that the flags name.
func (f *Flags) loadOptions(s run.Streams) load.Options {
	o := load.Options{Paths: f.Files, Recursive: f.Recursive, Render: f.Recursive, Helm: f.Helm,
		Destination: f.Destination, Kustomization: f.Kustomization, Stdin: s.In,
		Namespace: f.Namespace, ClusterScoped: f.ClusterScoped, Limits: f.Limits.Values()}
	f.Rendering.Apply(&o)
	return o
}

// checkSources checks that the flags name one input. Like kubectl, the program reads files or a
// kustomization.
func (f *Flags) checkSources() error {
	if err := cmp.Or(f.CheckFilesOrKustomization(), f.checkAssumptions()); err != nil {
		return err
	}
	switch {
	case f.AssumeComplete && len(f.Files) == 0 && f.Kustomization == "":
		return failure.Usage("drop --complete: what a cluster does not have does not exist", "--complete needs files")
	case f.OverLive && f.Kustomization == "" && len(f.Files) == 0:
		return failure.Usage("name the files with -f, or drop --live to read the cluster as it is",
			"--live needs files to apply")
	case f.Kustomization != "" && f.Recursive:
		return failure.Usage("drop -R: a kustomization lists its own folders", "-R cannot be given with -k")
	}
	return nil
}

// CheckFilesOrKustomization checks that not both are named, and that a destination is chosen only
// where one is looked for.
func (f *Flags) CheckFilesOrKustomization() error {
	switch {
	case f.Kustomization != "" && len(f.Files) > 0:
		return failure.Usage("drop one of the two", "only one of -f and -k can be given")
	case f.Destination != "" && !f.Recursive:
		return failure.Usage("add -R, which follows Applications and Kustomizations", "--destination needs -R")
	}
	return f.Rendering.checkFlags(f.Recursive)
}

// NotFoundError is a usage error about a name that is not in the input. What could not be read is
// printed before.
func (s *Session) NotFoundError(hint, format string, args ...any) error {
	if err := s.PrintUnread(); err != nil {
		return err
	}
	if s.Snapshot.Cluster != nil && len(s.Snapshot.Cluster.Unread) > 0 {
		return failure.NoAnswer(fmt.Sprintf(format, args...)+" among the objects that could be read", hint)
	}
	return failure.Usage(hint, format, args...)
}

// PrintUnread prints what could not be read: a name that is not found may be in there.
func (s *Session) PrintUnread() error {
	broken := slices.DeleteFunc(model.SortProblems(s.Snapshot.Problems),
		func(p model.Problem) bool { return !p.IsIncomplete() })
	return render.WriteProblems(s.Streams.Err, broken, render.ProblemOptions{Verbose: s.Flags.Cluster.Verbosity > 0,
		Forbidden: s.Forbidden(false)})
}

// OpenKinds is openInput, but an input is not required: the described kinds are known without one.
// A kubeconfig that leads to no cluster is reported.
func (f *Flags) OpenKinds(ctx context.Context, env run.Environment) (*Session, error) {
	f.AllKinds = true
	read, err := f.Open(ctx, env)
	var loading *load.Error
	var none *failure.NoAnswerError
	switch {
	case len(f.Files) > 0 || f.Kustomization != "" || ctx.Err() != nil:
		return read, err
	case errors.As(err, &none): // no kubeconfig
	case errors.As(err, &loading):
		fmt.Fprintf(env.Streams.Err, "warning: %s: only kinds with a descriptor are listed\n",
			escape.Escape(loading.Error()))
	default:
		return read, err
	}
	engine, err := f.Engine(ctx, env)
	if err != nil {
		return nil, err
	}
	return f.NewSession(engine.Resolve(model.NewSnapshot(nil, nil)), env.Streams), nil
}

// ReadsFiles reports whether manifests are read alone, and no cluster is asked.
func (f *Flags) ReadsFiles() bool {
	return !f.OverLive && (len(f.Files) > 0 || f.Kustomization != "")
}

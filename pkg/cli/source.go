package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// sourceFlags are the flags shared by all commands that read objects.
type sourceFlags struct {
	clusterFlags
	limitFlags
	files          []string
	recursive      bool
	helm           bool
	destination    string
	overLive       bool
	cache          *load.Cache // of lists that were read before
	kustomization  string
	namespace      string
	allNamespaces  bool
	policyKinds    []string
	foundKinds     []string // the same, named by another file
	onlyKinds      []string
	settings       []string
	assumeComplete bool              // what is not in the manifests does not exist
	assumptions    []string          // of what the input does not tell
	reports        bool              // published reports are read where policies may not be
	noSchemas      bool              // no object is judged by its schema
	workloads      bool              // pods are asked about, whether or not there are policies about them
	clusterScoped  []model.GroupKind // known beside those of the catalogue
	allKinds       bool              // how every kind is read is asked about, whether or not there are policies of it
}

func (f *sourceFlags) addSourceFlags(cmd *cobra.Command) {
	f.addClusterSource(cmd)
	fs := cmd.Flags()
	fs.StringSliceVarP(&f.files, "filename", "f", nil, "file or folder with manifests, or - for standard input (repeatable)")
	fs.BoolVarP(&f.recursive, "recursive", "R", false, "also read sub-folders, and render what they hold: kustomizations, Flux Kustomizations, Argo CD Applications")
	fs.BoolVar(&f.helm, "enable-helm", false, "with -R and -k: render charts of the input with the helm program (off by default: it is a program that runs on the input)")
	fs.StringVar(&f.destination, "destination", "", "with -R: only what is deployed to this cluster, by its name or address in Applications, or the name of the Secret with its kubeconfig")
	fs.BoolVar(&f.overLive, "live", false, "answer for the cluster as if the files had been applied to it")
	fs.StringVarP(&f.kustomization, "kustomize", "k", "", "folder with a kustomization, built offline (instead of -f)")
	fs.BoolVar(&f.assumeComplete, "complete", false, "the manifests are all there is: what they lack does not exist (default: it may exist elsewhere)")
	fs.StringSliceVar(&f.assumptions, "assume", nil, "what to assume of services that are asked for authorization: external=authentication, that they refuse anonymous clients")
	fs.StringSliceVar(&f.onlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "include all namespaces")
}

// addClusterSource adds the flags that reading a cluster takes.
func (f *sourceFlags) addClusterSource(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.clusterFlags.addClusterFlags(fs)
	f.limitFlags.addLimitFlags(fs)
	fs.StringVarP(&f.namespace, "namespace", "n", "", "namespace to look in (default: the kubeconfig's; with -f, all), and the namespace of objects in files without one")
	fs.StringArrayVar(&f.policyKinds, "policy-kinds", nil, "file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.settings, "vendor-setting", nil, "vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
}

// session is one loaded and resolved input, and how it was asked for.
type session struct {
	flags *sourceFlags
	*dopolicy.Input
	streams Streams
}

// openInput loads what the flags name and resolves it.
func (f *sourceFlags) openInput(ctx context.Context, plugins []plugin.Plugin, s Streams) (*session, error) {
	engine, err := f.engine(plugins, s)
	if err != nil {
		return nil, err
	}
	if err := f.checkSources(); err != nil {
		return nil, err
	}
	in, err := f.readInput(ctx, engine, s)
	if err != nil {
		return nil, err
	}
	return f.sessionOf(engine.Resolve(in), s), nil
}

func (f *sourceFlags) sessionOf(in *dopolicy.Input, s Streams) *session { return &session{f, in, s} }

// engine is what the flags say about vendors and policy kinds. Runs of one command line share the catalogue.
func (f *sourceFlags) engine(plugins []plugin.Plugin, s Streams) (*dopolicy.Engine, error) {
	o, err := f.engineOptions()
	if err != nil {
		return nil, err
	}
	catalog, err := s.member.loadCatalog(func() (*descriptor.Catalog, error) { return plugin.NewCatalog(plugins, o.PolicyKinds, o.Settings) })
	if err != nil {
		return nil, err
	}
	return dopolicy.NewWithCatalog(plugins, catalog, o), nil
}

// engineOptions are the user's policy kinds and settings.
func (f *sourceFlags) engineOptions() (dopolicy.Options, error) {
	o := dopolicy.Options{Settings: f.settings, Workloads: f.workloads, ExternalAuthenticates: slices.Contains(f.assumptions, externalAuthenticates)}
	for i, name := range slices.Concat(f.foundKinds, f.policyKinds) {
		text, err := readSmallFile(name, i >= len(f.foundKinds))
		if err != nil {
			return o, &noAnswerError{fmt.Sprintf("reading policy kinds: %s", err), "give a file with PolicyKind documents"}
		}
		o.PolicyKinds = append(o.PolicyKinds, form.Source{Name: name, Text: text})
	}
	return o, nil
}

// readInput reads manifests if the flags name any, else the cluster.
func (f *sourceFlags) readInput(ctx context.Context, engine *dopolicy.Engine, s Streams) (*model.Snapshot, error) {
	if f.overLive || len(f.files) == 0 && f.kustomization == "" {
		c, err := f.findCluster()
		if err != nil {
			return nil, err
		}
		f.namespace = cmp.Or(f.namespace, c.namespace)
		return f.readCluster(ctx, c, engine, s)
	}
	in, err := engine.ReadFiles(ctx, f.loadOptions(s))
	if in != nil {
		in.Exhaustive = f.assumeComplete
	}
	return in, reportReadError(s, in, err)
}

// externalAuthenticates is the one thing that can be assumed.
const externalAuthenticates = "external=authentication"

// checkAssumptions refuses what cannot be assumed.
func (f *sourceFlags) checkAssumptions() error {
	for _, what := range f.assumptions {
		if what != externalAuthenticates {
			return newUsageError("write --assume "+externalAuthenticates, "cannot assume %q", what)
		}
	}
	return nil
}

// reportReadError returns the error of reading manifests. If no document was readable, what is
// wrong with them is printed before.
func reportReadError(s Streams, in *model.Snapshot, err error) error {
	if in != nil && errors.Is(err, load.ErrNothingReadable) {
		if failed := render.WriteProblems(s.Err, model.SortProblems(in.Problems), render.ProblemOptions{}); failed != nil {
			return failed
		}
	}
	return err
}

// loadOptions returns the options for reading the files or the kustomization that the flags name.
func (f *sourceFlags) loadOptions(s Streams) load.Options {
	return load.Options{Paths: f.files, Recursive: f.recursive, Render: f.recursive, Helm: f.helm, Destination: f.destination, Kustomization: f.kustomization, Stdin: s.In,
		Namespace: f.namespace, ClusterScoped: f.clusterScoped, Limits: f.loadLimits()}
}

// checkSources checks that the flags name one input. Like kubectl, the program reads files or a
// kustomization.
func (f *sourceFlags) checkSources() error {
	if err := cmp.Or(f.checkFilesOrKustomization(), f.checkAssumptions()); err != nil {
		return err
	}
	switch {
	case f.assumeComplete && len(f.files) == 0 && f.kustomization == "":
		return newUsageError("drop --complete: what a cluster does not have does not exist", "--complete needs files")
	case f.overLive && f.kustomization == "" && len(f.files) == 0:
		return newUsageError("name the files with -f, or drop --live to read the cluster as it is", "--live needs files to apply")
	case f.kustomization != "" && f.recursive:
		return newUsageError("drop -R: a kustomization lists its own folders", "-R cannot be given with -k")
	}
	return nil
}

// checkFilesOrKustomization checks that not both are named, and that a destination is chosen only
// where one is looked for.
func (f *sourceFlags) checkFilesOrKustomization() error {
	switch {
	case f.kustomization != "" && len(f.files) > 0:
		return newUsageError("drop one of the two", "only one of -f and -k can be given")
	case f.destination != "" && !f.recursive:
		return newUsageError("add -R, which follows Applications and Kustomizations", "--destination needs -R")
	}
	return nil
}

// notFoundError is a usage error about a name that is not in the input. What could not be read is
// printed before.
func (s *session) notFoundError(hint, format string, args ...any) error {
	if err := s.printUnread(); err != nil {
		return err
	}
	if s.Snapshot.Cluster != nil && len(s.Snapshot.Cluster.Unread) > 0 {
		return &noAnswerError{fmt.Sprintf(format, args...) + " among the objects that could be read", hint}
	}
	return newUsageError(hint, format, args...)
}

// printUnread prints what could not be read: a name that is not found may be in there.
func (s *session) printUnread() error {
	broken := slices.DeleteFunc(model.SortProblems(s.Snapshot.Problems), func(p model.Problem) bool { return !p.IsIncomplete() })
	return render.WriteProblems(s.streams.Err, broken, render.ProblemOptions{})
}

// sourceArgs repeats the flags that name the input, for commands proposed to the user.
func (f *sourceFlags) sourceArgs() string {
	var out []string
	repeat := func(flag string, values []string) {
		for _, v := range values {
			out = append(out, flag+" "+view.QuoteShellWord(v))
		}
	}
	repeat("-f", f.files)
	if f.kustomization != "" {
		repeat("-k", []string{f.kustomization})
	}
	if f.recursive {
		out = append(out, "-R")
	}
	if f.helm {
		out = append(out, "--enable-helm")
	}
	if f.destination != "" {
		repeat("--destination", []string{f.destination})
	}
	if f.overLive {
		out = append(out, "--live")
	}
	repeat("--policy-kinds", f.policyKinds)
	repeat("--policy-kind", f.onlyKinds)
	repeat("--vendor-setting", f.settings)
	return strings.Join(append(out, f.clusterFlags.clusterArgs()...), " ")
}

// openKinds is openInput, but an input is not required: the described kinds are known without one.
// A kubeconfig that leads to no cluster is reported.
func (f *sourceFlags) openKinds(ctx context.Context, plugins []plugin.Plugin, s Streams) (*session, error) {
	f.allKinds = true
	read, err := f.openInput(ctx, plugins, s)
	var loading *load.Error
	var none *noAnswerError
	switch {
	case len(f.files) > 0 || f.kustomization != "" || ctx.Err() != nil:
		return read, err
	case errors.As(err, &none): // no kubeconfig
	case errors.As(err, &loading):
		fmt.Fprintf(s.Err, "warning: %s: only kinds with a descriptor are listed\n", render.Escape(loading.Error()))
	default:
		return read, err
	}
	engine, err := f.engine(plugins, s)
	if err != nil {
		return nil, err
	}
	return f.sessionOf(engine.Resolve(model.NewSnapshot(nil, nil)), s), nil
}

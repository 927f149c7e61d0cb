package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// diffFlags say what is compared with what.
type diffFlags struct {
	queryFlags
	from, to       string
	toContext      string   // the second side is the cluster of this one
	at             []string // the sides are snapshots of these times
	snapshots      string   // the folder with them
	deleted        []string
	givenNamespace string // the namespace that was asked for
	behavior       behaviorFlags
}

const diffHelp = `Compare the effective policies of two inputs: what is in force on every route rule before and after, rather than the text of the files. What
route rules lose, such as authentication, is said first.

A side is a file or folder with manifests, a snapshot, git:REV or git:REV:PATH (a revision of this repository, without checking it out; PATH
is relative to the working directory), or live for the cluster. The sides are chosen as follows:

  - FROM is --from, else the first argument, else live.
  - TO is --to, else the next argument. If neither is given, it is FROM when -f, -k or --delete change it; otherwise the same path in the
    working tree if FROM is a git revision, and live for anything else.
  - --to-context compares with the cluster of another kubeconfig context. --at TIME --at TIME compares the snapshots of a folder
    (--snapshots) as they were at two times, or at one time and at last.
  - -f and -k apply files to the second side; --delete then removes objects from it. Deleting a Namespace removes everything in it.

With --behavior, requests are compared instead of route rules: all that can come to the Gateways of either side, split into classes that no rule of
either side tells apart, with what they get before and after: verdict, backends and their shares, filters, the settings in force, and what these protect them by. Which route or rule
takes a request is shown and not compared: what is only renamed, reordered or split changes nothing.

All namespaces are compared unless -n is given. If a --delete name has no namespace, -n only says where to find it. The exit code is 1 if
anything changes.`

func (a App) newDiffCommand(s Streams) *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff [FROM [TO]]",
		Short: "Compare the policies in force before and after a change, and show which route rules lose protection",
		Long:  diffHelp,
		Example: `  # what would applying these files change?
  kubectl dopolicy diff -f new/

  # what would deleting a policy change, in the cluster or in a folder?
  kubectl dopolicy diff --delete authpolicy/gw-auth -n infra
  kubectl dopolicy diff manifests/ --delete authpolicy/infra/gw-auth

  # what does this branch change, as a pull request comment?
  kubectl dopolicy diff git:origin/main:deploy -R -o markdown

  # what changes for requests, and does any get access that it did not have?
  kubectl dopolicy diff --behavior old/ new/
  kubectl dopolicy diff --behavior --no-new-access git:origin/main:deploy -R
  kubectl dopolicy diff --behavior old/ new/ --weights access.log

  # two folders, a folder and the cluster, a snapshot and the cluster
  kubectl dopolicy diff old/ new/
  kubectl dopolicy diff --from manifests/ --to live
  kubectl dopolicy diff --from snapshot.tgz

  # the same routes in staging and production
  kubectl dopolicy diff --context staging --to-context production

  # what changed since yesterday, by snapshots that were taken every hour
  kubectl dopolicy diff --at 2026-01-31T12:00 --snapshots /mnt/snapshots/prod`,
		Args: checkArgumentCount(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runDiff(cmd.Context(), f, s, args) },
	}
	f.addDiffFlags(cmd)
	f.addDiffCompletion(a, cmd, s)
	return cmd
}

func (f *diffFlags) addDiffFlags(cmd *cobra.Command) {
	f.addClusterSource(cmd)
	f.behavior.addBehaviorFlags(cmd.Flags())
	f.outputFlags.addOutputFlags(cmd, []string{"table", "wide", "unified", "markdown", "yaml", "json", "ndjson", "name"})
	f.addTable(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.checkOutput(cmd.Flags().Changed("output")) }
	fs := cmd.Flags()
	fs.StringVar(&f.from, "from", "", "the first side: a file, folder, snapshot, git:REV[:PATH] or live")
	fs.StringVar(&f.to, "to", "", "the second side, in the same form")
	fs.StringVar(&f.toContext, "to-context", "", "the second side: the cluster of this kubeconfig context")
	fs.StringArrayVar(&f.at, "at", nil, "a side: the last snapshot of --snapshots at this time, such as 2026-01-31T12:00 (in UTC); twice, or once to compare with the last one")
	fs.StringVar(&f.snapshots, "snapshots", "", "with --at: folder with snapshots of one cluster, or a pattern of their names")
	fs.StringSliceVarP(&f.files, "filename", "f", nil, "file or folder to apply to the second side, or - for standard input (repeatable)")
	fs.StringVarP(&f.kustomization, "kustomize", "k", "", "folder with a kustomization to apply to the second side (instead of -f)")
	fs.BoolVarP(&f.recursive, "recursive", "R", false, "also read sub-folders, on both sides, and render what they hold")
	fs.BoolVar(&f.helm, "enable-helm", false, "with -R and -k: render charts of the input with the helm program")
	fs.StringVar(&f.destination, "destination", "", "with -R: only what is deployed to this cluster, on both sides")
	fs.StringArrayVar(&f.deleted, "delete", nil, "remove an object from the second side, as KIND/NAME or KIND/NAMESPACE/NAME (repeatable)")
	fs.StringSliceVar(&f.onlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "compare all namespaces (the default without -n)")
	fs.BoolVar(&f.byRule, "by-rule", false, "print one line per rule, even if several rules change in the same way")
	fs.Lookup("namespace").Usage = "namespace to compare (default: all), and the namespace of --delete names and of objects in files without one"
}

// runDiff runs the command.
func (a App) runDiff(ctx context.Context, f *diffFlags, s Streams, args []string) error {
	if err := f.behavior.checkBehavior(f.format); err != nil {
		return err
	}
	from, to, err := f.chooseSides(args)
	if err != nil {
		return err
	}
	if err := f.checkFilesOrKustomization(); err != nil {
		return err
	}
	catalog, err := f.loadCatalog(a.Plugins)
	if err != nil {
		return err
	}
	r, err := f.newSideReader(catalog, s, from, to)
	if err != nil {
		return err
	}
	before, after, err := r.readBoth(ctx, from, to)
	if err != nil {
		return err
	}
	if unknown := (inputSelection{before}).checkNamespace(); unknown != nil && (inputSelection{after}).checkNamespace() != nil {
		return unknown
	}
	kinds, err := f.findKinds(before, after)
	if err != nil {
		return err
	}
	if f.behavior.enabled {
		return f.compareBehavior(a, s, before, after, kinds)
	}
	out := view.Diff(newDiffInput(before, a.Plugins), newDiffInput(after, a.Plugins), view.DiffQuery{Kinds: kinds, Namespace: f.comparedNamespace()})
	told := out.Envelope
	if !f.verbose && f.verbosity == 0 {
		told.Problems = out.News()
	}
	if err := f.writeWithProblems(s, after, "", out, &told); err != nil {
		return err
	}
	if out.HasChanges() {
		return errFindings
	}
	return nil
}

// newDiffInput is a side with all that vendors know about requests.
func newDiffInput(s *session, plugins []plugin.Plugin) view.DiffInput {
	s.tidiers = plugin.Normalizers(plugins, s.catalog)
	return view.DiffInput{Resolution: s.Resolution, Matcher: s.newMatcher().Matcher, Judges: s.flags.requestJudges(plugins)}
}

// newSideReader makes the reader of the sides. If one of them is live, names of objects mean what
// they mean to kubectl: in the namespace of -n, else in that of the kubeconfig.
func (f *diffFlags) newSideReader(catalog *descriptor.Catalog, s Streams, from, to diffSide) (*sideReader, error) {
	f.givenNamespace = f.namespace
	r := &sideReader{flags: f, catalog: catalog, streams: s}
	if to.context != "" {
		c, err := f.findClusterOf(to.context)
		if err != nil {
			return nil, err
		}
		r.other = c
	}
	if !from.isLive() && (!to.isLive() || r.other != nil) {
		return r, nil
	}
	c, err := f.findCluster()
	if err != nil {
		return nil, err
	}
	r.cluster = c
	if r.other != nil && c.context == r.other.context {
		return nil, newUsageError("name another context", "both sides are context %s: there is nothing to compare", c.context)
	}
	f.namespace = cmp.Or(f.namespace, c.namespace)
	return r, nil
}

// comparedNamespace is the namespace that the comparison is narrowed to, "" for all.
func (f *diffFlags) comparedNamespace() string {
	if f.allNamespaces || slices.ContainsFunc(f.deleted, func(text string) bool {
		d, err := parseDeletedName(text)
		return err == nil && d.namespace == ""
	}) {
		return ""
	}
	return f.givenNamespace
}

// readBoth reads the two sides concurrently and resolves them. A side that is named twice is read
// once.
func (r *sideReader) readBoth(ctx context.Context, from, to diffSide) (before, after *session, err error) {
	var first, second *model.Snapshot
	var firstErr, secondErr error
	if from == to {
		if first, firstErr = r.readSide(ctx, from); firstErr == nil {
			second, secondErr = r.applyChanges(ctx, first)
		}
	} else {
		var one sync.WaitGroup
		one.Go(func() { first, firstErr = r.readSide(ctx, from) })
		if second, secondErr = r.readSide(ctx, to); secondErr == nil {
			second, secondErr = r.applyChanges(ctx, second)
		}
		one.Wait()
	}
	if firstErr != nil {
		return nil, nil, reportReadError(r.streams, first, firstErr)
	}
	if secondErr != nil {
		return nil, nil, reportReadError(r.streams, second, secondErr)
	}
	var one sync.WaitGroup
	one.Go(func() { before = r.resolveSide(first) })
	after = r.resolveSide(second)
	one.Wait()
	return before, after, nil
}

// applyChanges changes the second side as the flags say: files are applied to it, and objects
// deleted from it.
func (r *sideReader) applyChanges(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	over, err := r.applyFiles(ctx, base)
	if err != nil {
		return over, err
	}
	return r.deleteObjects(over)
}

func (r *sideReader) resolveSide(in *model.Snapshot) *session {
	return &session{flags: &r.flags.sourceFlags, Resolution: resolveInput(in, r.catalog), catalog: r.catalog, streams: r.streams}
}

// findKinds returns the policy kinds that --policy-kind names in either side, nil for all.
func (f *diffFlags) findKinds(before, after *session) ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range f.onlyKinds {
		known := len(out)
		for _, s := range []*session{before, after} {
			for _, k := range s.findPolicyKinds(name) {
				out = append(out, k.ResolvedKind().GroupKind)
			}
		}
		if len(out) == known {
			return nil, after.unknownPolicyKind(name)
		}
	}
	return out, nil
}

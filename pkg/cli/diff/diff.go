package diff

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/sides"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// Options say what is compared with what, and how the answer is written.
type Options struct {
	Environment run.Environment
	Args        []string
	Sides       sides.Flags
	Output      output.Flags
	Behavior    Behavior
	Upgrades    []string // VENDOR=FROM..TO
}

const diffHelp = `Compare the effective policies of two inputs: what is in force on every route rule before and after, rather than
the text of the files. Protection that route rules lose, such as authentication, comes first.

A side is a file or folder with manifests, a snapshot, git:REV or git:REV:PATH (a revision of this repository, without
checking it out; PATH is relative to the working directory), or live for the cluster. The sides are chosen as follows:

  - FROM is --from, else the first argument, else live.
  - TO is --to, else the next argument. If neither is given, it is FROM when -f, -k or --delete change it; otherwise the
    same path in the working tree if FROM is a git revision, and live for anything else.
  - --to-context compares with the cluster of another kubeconfig context.
  - --at TIME --at TIME compares two snapshots of a folder (--snapshots): those that were the last ones at these times.
    One --at compares that snapshot with the last one of the folder.
  - -f and -k apply files to the second side; --delete then removes objects from it. Deleting a Namespace removes
    everything in it.

With --upgrade, one input (an argument, or -f) is read twice, with the schemas of two versions of a vendor. The answer
says what the second one refuses, drops or fills in differently, and what that changes in force.

With --behavior, requests are compared instead of route rules. All requests that can come to the Gateways of either side
are grouped into kinds that every rule of both sides treats alike. For each kind these are compared, before and after:
  - whether it gets through
  - its backends and their shares
  - filters, and the settings in force
  - its protection, such as authentication
Which route or rule takes a request is shown and not compared: renaming, reordering or splitting alone changes nothing.

Of a side with Ingresses and no Gateway, the proxy of the Ingresses is compared: requests get the same there and at the Gateways
of the other side, or each difference has the smallest request, before and after. --before and --after choose the proxy of a
side that has several. Written instead of the sides, ingress:CLASS and gateway:NAMESPACE/NAME compare two proxies of one
input, of -f or with --live of the cluster. The exit code is 3 if no difference is known and sameness is not proved.

All namespaces are compared unless -n is given. If a --delete name has no namespace, -n only says where to find it. The
exit code is 1 if anything changes.`

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "diff [FROM [TO]]",
		Short: "Show what a change does to the policies in force, and which route rules lose protection",
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

  # do the Gateways of new/ do what the Ingresses of old/ did?
  kubectl dopolicy diff --behavior old/ new/ --requests-file requests.txt
  kubectl dopolicy diff --behavior --live ingress:public gateway:infra/web

  # two folders, a folder and the cluster, a snapshot and the cluster
  kubectl dopolicy diff old/ new/
  kubectl dopolicy diff --from manifests/ --to live
  kubectl dopolicy diff --from snapshot.tgz

  # the same routes in staging and production
  kubectl dopolicy diff --context staging --to-context production

  # what does an upgrade of a vendor refuse, drop or fill in differently?
  kubectl dopolicy diff --upgrade gatewayapi=1.5..1.7 -f manifests/

  # what changed since yesterday, by snapshots that were taken every hour
  kubectl dopolicy diff --at 2026-01-31T12:00 --snapshots /mnt/snapshots/prod`,
		Args: command.CheckArguments(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return Run(cmd.Context(), f)
		},
	}
	f.Sides.Source.AddClusterFlags(cmd)
	f.Behavior.addFlags(cmd.Flags())
	f.Behavior.addIngressFlags(cmd.Flags())
	f.Output.AddFlags(cmd, []string{"table", "wide", "unified", "markdown", "yaml", "json", "ndjson", "name"})
	f.Output.AddTableFlags(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.Output.Check(cmd.Flags().Changed("output")) }
	f.Sides.AddFlags(cmd)
	cmd.Flags().StringArrayVar(&f.Upgrades, "upgrade", nil,
		"compare one input by two versions of a vendor's schemas, as VENDOR=FROM..TO, such as gatewayapi=1.5..1.7 (repeatable)")
	cmd.Flags().BoolVar(&f.Output.ByRule, "by-rule", false,
		"print one line per rule, even if several rules change in the same way")
	f.Sides.AddCompletion(cmd, env)
	return cmd
}

// Run compares.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	if err := f.Behavior.checkFlags(f.Output.Format); err != nil {
		return err
	}
	if len(f.Upgrades) > 0 {
		return f.compareUpgrade(ctx)
	}
	if f.Behavior.Live || slices.ContainsFunc(f.Args, namesEndpoint) {
		return f.compareEndpoints(ctx)
	}
	from, to, err := f.Sides.Choose(f.Args, f.Behavior.Weights)
	if err != nil {
		return err
	}
	if err := f.Sides.Source.CheckFilesOrKustomization(); err != nil {
		return err
	}
	f.Sides.Source.Points = f.Behavior.Enabled
	engine, err := f.Sides.Source.Engine(ctx, f.Environment)
	if err != nil {
		return err
	}
	r, err := f.Sides.NewReader(engine, s, from, to)
	if err != nil {
		return err
	}
	before, after, err := r.ReadBoth(ctx, from, to)
	if err != nil {
		return err
	}
	return f.compareSessions(before, after)
}

// compareSessions compares two inputs that were read.
func (f *Options) compareSessions(before, after *source.Session) error {
	s := f.Environment.Streams
	if unknown := before.CheckNamespace(); unknown != nil && after.CheckNamespace() != nil {
		return unknown
	}
	kinds, err := f.Sides.FindKinds(before, after)
	if err != nil {
		return err
	}
	if f.Behavior.Enabled {
		return f.compareBehavior(before, after, kinds)
	}
	out := dopolicy.Diff(before.Input, after.Input, diff.Query{Kinds: kinds, Namespace: f.Sides.ComparedNamespace(),
		Schemas: len(f.Upgrades) > 0})
	told := out.Envelope
	if !f.Output.Verbose && f.Sides.Source.Cluster.Verbosity == 0 {
		told.Problems = out.News()
	}
	if err := f.Output.Write(s, after, "", out, &told); err != nil {
		return err
	}
	if out.HasChanges() {
		return failure.ErrFindings
	}
	return nil
}

package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/finding"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// Where reports go, beside a file.
const (
	toCluster = "cluster"
	toStdout  = "stdout"
)

// maxParallelWrites bounds how many reports are written at once.
const maxParallelWrites = 8

// ownerKey is the label or annotation that names an owner, if no other is given.
const ownerKey = "a8r.io/owner"

// Options are what the flags of the command say.
type Options struct {
	Environment run.Environment
	Query       command.Query
	Findings    finding.Flags
	To          string
	API         string
	Values      []string
	Owner       string
	Heartbeat   time.Duration
	DryRun      bool
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env, Findings: finding.NewFlags(env.Plugins)}
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Show a team which policies affect its routes, without giving it read access",
		Long: `Write reports of what shapes the routes of a namespace into that namespace, for people who may read nothing else: every policy in
force or overridden on each route rule, with its kind, name, owner, level and the reason, and the findings of check. Reports have no values
of settings, and say nothing about routes of other namespaces. They are PolicyReports (wgpolicyk8s.io/v1alpha2) or, where only these
are served, Reports (openreports.io/v1alpha1).

Reports that are up to date are not written again, except one in each namespace every --heartbeat, so that readers see how old the
reports are. Reports of routes that are gone are removed. "effective" reads the reports where policies are forbidden.`,
		Example: `  # what would be written
  kubectl dopolicy publish --dry-run

  # write the reports of all namespaces, or of one
  kubectl dopolicy publish
  kubectl dopolicy publish -n shop

  # to another place: a line of JSON for each report
  kubectl dopolicy publish --to reports.ndjson

  # with the limits in force, for a kind whose settings cannot be credentials
  kubectl dopolicy publish --values ratelimitpolicy`,
		Args: command.CheckArguments(0, 0),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			f.Findings.NoteGiven(cmd)
			if err := f.Query.Output.Check(cmd.Flags().Changed("output")); err != nil {
				return err
			}
			return f.checkPublish()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), f) },
	}
	f.Query.Source.AddFlags(cmd)
	f.Query.Output.AddFlags(cmd, []string{"table", "wide", "yaml", "json", "ndjson"})
	fs := cmd.Flags()
	fs.StringVar(&f.To, "to", toCluster,
		"where to write the reports: cluster, stdout, or a file ending in .yaml or .ndjson")
	fs.StringVar(&f.API, "api", "auto",
		"API of the reports: auto|policyreport|openreports (auto: the first that the cluster serves)")
	fs.StringSliceVar(&f.Values, "values", nil,
		"also publish the values that policies of this kind set (repeatable; only kinds whose settings cannot be credentials)")
	fs.StringVar(&f.Owner, "owner", ownerKey, "annotation or label of policies that names their owner")
	fs.DurationVar(&f.Heartbeat, "heartbeat", time.Hour,
		"write the time of reading again after this time, even if nothing else changed (0: never)")
	fs.BoolVar(&f.DryRun, "dry-run", false, "write nothing, and print what would be written")
	f.Findings.AddFlags(fs, "config file of check")
	completion.AddWordsToFlag(cmd, "api", []string{"auto", "policyreport", "openreports"})
	completion.AddToCommand(cmd, env, &f.Query.Source, nil)
	return cmd
}

// checkPublish refuses what does not go together, before anything is read.
func (f *Options) checkPublish() error {
	switch {
	case !slices.Contains([]string{"auto", "policyreport", "openreports"}, f.API):
		return failure.Usage("use one of: auto, policyreport, openreports", "unknown --api %q", f.API)
	case f.Heartbeat < 0:
		return failure.Usage("write 1h or 30m; 0 never writes it again", "--heartbeat cannot be %s", f.Heartbeat)
	case f.To == "":
		return failure.Usage("write --to cluster, --to stdout or --to FILE", "--to needs a place")
	case f.To == toCluster && (len(f.Query.Source.Files) > 0 || f.Query.Source.Kustomization != "") && !f.DryRun:
		return failure.Usage("write them elsewhere with --to stdout or --to FILE, or add --dry-run",
			"reports about manifests are not written to a cluster")
	case f.To != toCluster && f.DryRun:
		return failure.Usage("drop one of the two", "--dry-run cannot be given with --to %s", f.To)
	}
	_, err := f.writesLines()
	return err
}

// writesLines reports whether reports that are not written to a cluster are written as lines of
// JSON.
func (f *Options) writesLines() (bool, error) {
	name := strings.ToLower(f.To)
	switch {
	case f.To == toCluster, f.To == toStdout && f.Query.Output.Format != string(render.JSON) &&
		f.Query.Output.Format != string(render.Wide):
		return f.Query.Output.Format == string(render.NDJSON), nil
	case strings.HasSuffix(name, ".ndjson"), strings.HasSuffix(name, ".jsonl"):
		return true, nil
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return false, nil
	case f.To == toStdout:
		return false, failure.Usage("use -o yaml or -o ndjson", "reports cannot be written to standard output as %s",
			f.Query.Output.Format)
	}
	return false, failure.Usage("the name must end in .yaml or .ndjson", "unknown form of reports %q", f.To)
}

// Run writes the reports.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	f.Query.Source.AllNamespaces = f.Query.Source.AllNamespaces || f.Query.Source.Namespace == ""
	options, err := f.Findings.Prepare(&f.Query.Source, f.Query.Output.Verbose)
	if err != nil {
		return err
	}
	now := time.Now()
	session, err := f.Query.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	if err := session.CheckNamespace(); err != nil {
		return err
	}
	gather, err := f.gatherOptions(session, now)
	if err != nil {
		return err
	}
	options.Kinds, options.In = gather.Kinds, gather.In
	found := session.Check(options)
	reports := publish.Gather(session.Resolution, found, gather)
	if f.To != toCluster {
		return f.writeReports(s, session, found, reports)
	}
	return f.writeToCluster(ctx, s, session, found, reports, gather.API)
}

// gatherOptions reads from the flags what is reported.
func (f *Options) gatherOptions(s *source.Session, now time.Time) (publish.Options, error) {
	o := publish.Options{Owner: f.Owner, Now: now}
	var err error
	if o.Kinds, err = s.SelectedKinds(); err != nil {
		return o, err
	}
	if !f.Query.Source.AllNamespaces {
		o.In = func(namespace string) bool { return namespace == f.Query.Source.Namespace }
	}
	for _, name := range f.Values {
		named := s.FindPolicyKinds(name)
		if named == nil {
			return o, s.UnknownPolicyKind(name)
		}
		for _, k := range named {
			if !k.Publishable {
				return o,
					failure.Usage("drop --values "+name+
						"; docs/publish.md lists the kinds whose values can be published",
						"settings of %s may hold credentials: their values are not published", k.Name())
			}
			o.Values = append(o.Values, k.GroupKind)
		}
	}
	o.API, err = f.chooseAPI(s)
	return o, err
}

// chooseAPI returns the API that the flags choose, or the first that the cluster serves.
func (f *Options) chooseAPI(s *source.Session) (publish.API, error) {
	all := publish.APIs()
	chosen := all
	switch f.API {
	case "policyreport":
		chosen = all[:1]
	case "openreports":
		chosen = all[1:]
	}
	if f.To != toCluster || s.Snapshot.Cluster == nil {
		return chosen[0], nil
	}
	for _, api := range chosen {
		if served := s.Snapshot.Cluster.FindKind(api.GroupKind); served != nil {
			api.Version = served.Version
			return api, nil
		}
	}
	var names []string
	for _, api := range chosen {
		names = append(names, api.GroupKind.String())
	}
	return chosen[0], failure.NoAnswer("the cluster has no kind for reports: "+strings.Join(names, " or "),
		"install the definitions (docs/publish.md says which), or write elsewhere with --to")
}

// writeReports writes the reports to standard output or a file.
func (f *Options) writeReports(s run.Streams, session *source.Session, found *check.Report,
	reports []*publish.Report) error {
	lines, err := f.writesLines()
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return render.WriteObjects(w, reports, lines) }
	if f.To == toStdout {
		err = write(s.Out)
	} else if err = localfile.WriteAtomically(f.To, write); err == nil {
		fmt.Fprintf(s.Err, "wrote %d reports to %s\n", len(reports), escape.Escape(f.To))
	}
	if err != nil {
		return failure.NoAnswer(fmt.Sprintf("writing reports to %s: %s", f.To, err),
			"check the folder and its permissions")
	}
	if err := f.Query.Output.PrintProblems(s, session, &found.Envelope); err != nil {
		return err
	}
	if f.Query.Output.Strict && !found.Complete {
		return failure.ErrIncomplete
	}
	return nil
}

// writeToCluster creates, updates and deletes reports until the cluster has exactly those that
// there should be.
func (f *Options) writeToCluster(ctx context.Context, s run.Streams, session *source.Session, found *check.Report,
	reports []*publish.Report, api publish.API) error {
	from := session.Snapshot.Cluster
	var have []map[string]any
	var server *cluster.Server
	if from.FindKind(api.GroupKind) != nil && !f.Query.Source.ReadsFiles() {
		c, err := f.Query.Source.Cluster.Find()
		if err != nil {
			return err
		}
		if server, err = f.Query.Source.NewServer(c, s); err != nil {
			return err
		}
		if c.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, source.ErrTooLate)
			defer cancel()
		}
		if have, err = f.readPublished(ctx, server, from, api); err != nil {
			return err
		}
	}
	// What could not be read may have routes.
	plan := publish.NewPlan(have, reports, f.Heartbeat, from != nil && len(from.Unread) > 0, found.Problems)
	plan.DryRun = f.DryRun
	if !f.DryRun {
		applyPlan(ctx, server, from, plan)
		plan.DropBodies()
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), source.ErrTooLate) {
			return failure.NoAnswer(fmt.Sprintf("interrupted: %d of %d reports could not be written", plan.CountFailures(),
				len(plan.Items)), "run it again: it writes those that are missing")
		}
	}
	if err := f.Query.Output.Write(s, session, "", plan, &plan.Envelope); err != nil {
		return err
	}
	if n := plan.CountFailures(); n > 0 {
		return failure.NoAnswer(fmt.Sprintf("%d of %d reports could not be written", n, len(plan.Items)),
			"the messages above say why")
	}
	return nil
}

// readPublished reads our reports in the cluster. Those of the other API are among them, and not
// wanted, where none was chosen.
func (f *Options) readPublished(ctx context.Context, server *cluster.Server, from *model.Cluster,
	api publish.API) ([]map[string]any, error) {
	namespace := f.Query.Source.Namespace
	if f.Query.Source.AllNamespaces {
		namespace = ""
	}
	var out []map[string]any
	for _, one := range publish.APIs() {
		served := from.FindKind(one.GroupKind)
		wanted := one.GroupKind == api.GroupKind
		if served == nil || !wanted && f.API != "auto" {
			continue
		}
		have, err := server.ListLabelled(ctx, served, namespace, publish.Selector, f.Query.Source.Cluster.ChunkSize)
		if err != nil && wanted {
			return nil, failure.NoAnswer("reading the reports of cluster "+from.Context+": "+err.Error(),
				"ask for list, create, patch and delete on "+served.Resource())
		}
		out = append(out, have...)
	}
	return out, nil
}

// applyPlan makes the changes of a plan, some at a time. What fails is noted, and the rest is done.
func applyPlan(ctx context.Context, server *cluster.Server, from *model.Cluster, plan *publish.Plan) {
	seats := make(chan struct{}, maxParallelWrites)
	var done sync.WaitGroup
	for i := range plan.Items {
		change := &plan.Items[i]
		if change.Action == publish.Unchanged {
			continue
		}
		seats <- struct{}{}
		done.Go(func() {
			defer func() { <-seats }()
			if err := applyChange(ctx, server, from.FindKind(change.Report.GroupKind()), change); err != nil {
				change.Action, change.Message = publish.Failed, fmt.Sprintf("%s: %s", change.Action, err)
			}
		})
	}
	done.Wait()
}

// applyChange makes one change.
func applyChange(ctx context.Context, server *cluster.Server, k *model.ServedKind, c *publish.Change) error {
	if c.Action == publish.Remove {
		return server.Delete(ctx, k, c.Report.Namespace, c.Report.Name, c.UID)
	}
	body, err := json.Marshal(c.Body)
	if err != nil {
		return err
	}
	err = server.Apply(ctx, k, c.Report.Namespace, c.Report.Name, publish.Manager, c.Action == publish.Create, body)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

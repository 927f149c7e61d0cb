package audit

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	viewstatus "github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	Dumps       source.DumpFlags
	Live        bool // the proxies of the cluster are asked
	All         bool
	Wait        time.Duration // for the proxies to do what is predicted

	lastReport *audit.Report
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "audit [POLICY…]",
		Short: "Compare what should be in force with what proxies do, or what objects report",
		Long: `Compare what should be in force on each route rule with what Envoy is configured with, setting by setting; or, without
--dataplane, the statuses that objects report with those that are predicted: of the named policies or, with -A, of all
objects. --all compares both. --proxies finds the proxies of the cluster's Gateways by their labels and asks them itself.

--dataplane names a config_dump: what the admin port of a proxy answers at /config_dump, or what tools wrap around it,
packed with gzip or not. What a dump does not contain, or what cannot be judged, is counted as not compared, never as a
difference. Nothing is written anywhere, and secrets of a dump are not printed.

The exit code is 1 if there are differences, and 3 if nothing could be compared.`,
		Example: `  # one proxy, from manifests
  kubectl dopolicy audit --dataplane config_dump.json -f manifests/

  # all proxies of a Gateway, which are compared with each other as well
  kubectl dopolicy audit --dataplane pod-1.json --dataplane pod-2.json -f manifests/

  # the proxies of all Gateways of the cluster
  kubectl dopolicy audit --proxies -A

  # has my change arrived? wait for it, and show what is still old
  kubectl dopolicy audit --proxies -n infra --wait 2m

  # where does the reported status differ from the prediction?
  kubectl dopolicy audit -A

  # straight from a proxy, against the cluster
  kubectl exec -n infra deploy/proxy -- curl -s localhost:19000/config_dump | kubectl dopolicy audit --dataplane - -A`,
		Args: command.CheckArguments(0, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", "markdown", "sarif", "junit", "github")
	o.Query.Output.AddTableFlags(cmd)
	o.Query.AddWatchFlag(cmd)
	cmd.Flags().BoolVar(&o.Live, "proxies", false,
		"ask the proxies of the cluster's Gateways, through port-forwards (docs/audit.md has the permission that it takes)")
	cmd.Flags().DurationVar(&o.Wait, "wait", 0,
		"compare again until the proxies do what is predicted, for at most this long (2m); then print what is still different")
	cmd.Flags().BoolVar(&o.All, "all", false, "compare statuses as well")
	o.Dumps.AddFlag(cmd, "config_dump of a proxy")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source,
		completion.ProposeForWord(completion.ProposePolicies))
	return cmd
}

// Run compares, again and again with --watch, or until it is as predicted with --wait.
func Run(ctx context.Context, o *Options) error {
	if o.Wait > 0 {
		return o.waitForProxies(ctx)
	}
	return o.Query.AnswerOrWatch(ctx, o.Environment.Streams, o.answerOnce)
}

// answerOnce compares once.
func (o *Options) answerOnce(ctx context.Context, to run.Streams) error {
	q := &o.Query
	switch {
	case len(o.Dumps.Paths) > 0 && o.Live:
		return failure.Usage("drop one of the two", "--dataplane and --proxies cannot be given together")
	case len(o.Dumps.Paths) == 0 && !o.Live && o.All:
		return failure.Usage("give a dump with --dataplane, or --proxies, or drop --all",
			"--all compares statuses and dumps, and there is no dump")
	case len(o.Dumps.Paths) == 0 && !o.Live:
		if !slices.Contains(status.Formats(), q.Output.Format) && !slices.Contains(output.TemplateWords(),
			q.Output.Format) {
			return failure.Usage("use one of: "+strings.Join(status.Formats(), ", "),
				"an audit of statuses cannot be written as %s", q.Output.Format)
		}
		return (&status.Options{Environment: o.Environment, Args: o.Args, Query: o.Query, Audit: true}).Answer(ctx, to)
	case len(o.Args) > 0:
		return failure.Usage("drop it, or drop --dataplane and --proxies to compare the status of a policy",
			"a POLICY and the dump of a proxy cannot be given together")
	case q.Watching && slices.Contains(o.Dumps.Paths, "-"):
		return failure.Usage("save it to a file, and read that with --dataplane",
			"--watch reads the dump again, but standard input can be read only once")
	}
	session, proxies, err := o.Dumps.Open(ctx, o.Environment, &q.Source)
	if err != nil {
		return err
	}
	kinds, err := session.SelectedKinds()
	if err != nil {
		return err
	}
	var problems []model.Problem
	if o.Live {
		if proxies, problems, err = o.askProxies(ctx, session); err != nil {
			return err
		}
	}
	report := session.Audit(proxies, kinds, nil, problems)
	o.lastReport = report
	if o.All {
		report.Statuses = session.Status(viewstatus.Query{Objects: true, Audit: true, Kinds: kinds})
	}
	if err := o.writeAudit(to, session, report); err != nil {
		return err
	}
	differ, agree := report.Summary.Differences(), report.Summary.Same
	if report.Summary.NotCompared == 0 {
		agree += report.Summary.Matched
	}
	statuses := report.Statuses
	switch {
	case differ > 0, statuses != nil && statuses.Summary.Differ > 0:
		return failure.ErrFindings
	case agree == 0, statuses != nil && statuses.Summary.Agree == 0: // either half proves nothing of the other
		return failure.ErrNothingCompared
	}
	return nil
}

// writeAudit writes the answer. For CI it has the form of a check.
func (o *Options) writeAudit(to run.Streams, session *source.Session, report *audit.Report) error {
	q := &o.Query
	if !q.Output.IsForCI() {
		return q.Output.Write(to, session, "", report, &report.Envelope)
	}
	if err := q.Output.SetProgramFacts(o.Environment.Build); err != nil {
		return err
	}
	var findings []check.Finding
	for _, p := range report.Findings(session.Snapshot) {
		findings = append(findings, check.NewFinding(p))
	}
	var unjudged []model.Problem
	for _, p := range report.Problems {
		if p.IsIncomplete() {
			unjudged = append(unjudged, p)
		}
	}
	made := check.ReportOf("kubectl dopolicy audit", findings, unjudged, report.Summary.Rules,
		check.NewCatalogue(audit.Rules()))
	return q.Output.WriteOnly(to, session, "", made, &made.Envelope)
}

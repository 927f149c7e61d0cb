package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// auditFlags are the flags of `audit`.
type auditFlags struct {
	question
	dumps []string
}

func (a App) auditCmd(s Streams) *cobra.Command {
	q := &auditFlags{}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Compare what should be in force with what the proxies do",
		Long: `Compare what should be in force on each route rule with what Envoy is configured with, setting by setting.

--dataplane names a config_dump: what the admin port of a proxy answers at /config_dump, or what egctl and istioctl make of it, packed with gzip or
not. What a dump does not tell, or what cannot be judged, is counted as not compared; it is never called a difference. Nothing is
written anywhere, and secrets of a dump are not printed.`,
		Example: `  # one proxy, from manifests
  kubectl dopolicy audit --dataplane config_dump.json -f manifests/

  # all proxies of a Gateway, which are compared with each other as well
  kubectl dopolicy audit --dataplane pod-1.json --dataplane pod-2.json -f manifests/

  # straight from a proxy, against the cluster
  kubectl exec -n infra deploy/proxy -- curl -s localhost:19000/config_dump | kubectl dopolicy audit --dataplane - -A`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return q.run(cmd, s, func(ctx context.Context, s, to Streams) error { return a.audit(ctx, q, s, to) })
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name", "markdown", "sarif", "junit", "github")
	q.addTable(cmd)
	cmd.Flags().StringArrayVar(&q.dumps, "dataplane", nil, "config_dump of a proxy: a file, or - for standard input (repeatable)")
	a.completion(cmd, &q.sourceFlags, s, nil)
	return cmd
}

// audit is the whole of the command.
func (a App) audit(ctx context.Context, q *auditFlags, s, to Streams) error {
	if len(q.dumps) == 0 {
		return usage("give a dump: curl localhost:19000/config_dump > dump.json, then --dataplane dump.json", "--dataplane is required")
	}
	session, proxies, err := q.both(ctx, a, s)
	if err != nil {
		return err
	}
	kinds, err := session.kinds()
	if err != nil {
		return err
	}
	report := audit.Run(audit.Input{Resolution: session.Resolution, Effective: view.Effective(session.Resolution, view.Query{}), Proxies: proxies,
		Mappings: plugin.Mappings(a.Plugins), Kinds: kinds})
	if err := a.writeAudit(q, s, to, session, report); err != nil {
		return err
	}
	if report.Summary.Differences() > 0 {
		return errFindings
	}
	return nil
}

// writeAudit writes the answer. For CI it has the form of a check.
func (a App) writeAudit(q *auditFlags, s, to Streams, session *session, report *audit.Report) error {
	switch q.format {
	case string(render.SARIF), string(render.JUnit), string(render.GitHub):
	default:
		return q.write(to, session, "", report, &report.Envelope)
	}
	info, _ := debug.ReadBuildInfo()
	q.version = a.Build.recorded(info).Version
	var err error
	if q.root, err = os.Getwd(); err != nil {
		return &noAnswer{fmt.Sprintf("finding the current folder: %s", err), ""}
	}
	var findings []check.Finding
	for _, p := range report.Findings(session.Snapshot) {
		findings = append(findings, check.Found(p))
	}
	var unjudged []model.Problem
	for _, p := range report.Problems {
		if p.Incomplete() {
			unjudged = append(unjudged, p)
		}
	}
	made := check.ReportOf("kubectl dopolicy audit", findings, unjudged, report.Summary.Rules, check.NewCatalogue(audit.Rules()))
	return q.writeOnly(to, session, "", made, &made.Envelope)
}

// both reads the input and the dumps, which may be large, at the same time. Only one of them may be standard input.
func (q *auditFlags) both(ctx context.Context, a App, s Streams) (*session, []*dataplane.Proxy, error) {
	if slices.Contains(q.dumps, "-") && slices.Contains(q.files, "-") {
		return nil, nil, usage("write one of them to a file", "standard input cannot be the dump and the manifests")
	}
	type read struct {
		proxies []*dataplane.Proxy
		err     error
	}
	dumps := make(chan read, 1)
	go func() {
		proxies, err := q.proxies(s)
		dumps <- read{proxies, err}
	}()
	session, err := q.open(ctx, a.Plugins, s)
	found := <-dumps
	if found.err != nil {
		return nil, nil, found.err
	}
	return session, found.proxies, err
}

// proxies reads the dumps that the flags name.
func (q *auditFlags) proxies(s Streams) ([]*dataplane.Proxy, error) {
	var out []*dataplane.Proxy
	for _, name := range q.dumps {
		data, err := readDump(name, s.In)
		if err != nil {
			return nil, &noAnswer{fmt.Sprintf("reading the dump: %s", err), "give a file, or - for standard input"}
		}
		found, err := dataplane.Read(name, data)
		if err != nil {
			return nil, &noAnswer{fmt.Sprintf("reading the dump %s: %s", name, err), "get one with: curl localhost:19000/config_dump (Istio: 15000), or egctl config envoy-proxy all -o json"}
		}
		out = append(out, found...)
	}
	return out, nil
}

func readDump(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

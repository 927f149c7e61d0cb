package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/draw"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/redact"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// The formats of reports.
const (
	reportHTML = "html"
	reportJSON = "json"
)

// reportOptions are what the flags of the command say.
type reportOptions struct {
	Environment environment
	Query       queryFlags
	Findings    findingFlags
	Open        openFlags
	Dumps       dumpFlags
	Title       string
	Collapse    string
	NoPicture   bool
	Redact      bool
}

// newReportCommand makes the command.
func newReportCommand(env environment) *cobra.Command {
	f := &reportOptions{Environment: env, Findings: newFindingFlags(env.Plugins)}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write everything about the input as one HTML page",
		Long: `Write everything that the other commands show as one HTML page: a picture of the topology, a searchable table of route rules and policy
kinds, what is in force on every rule and why, overridden settings, predicted statuses, problems and findings. The page is
self-contained: it needs no network, and can be mailed, attached to a build or opened from disk.

The report covers everything that was read, unless -n or --policy-kind limit it. Findings are those of check, with the same config
file; they do not affect the exit code (use check for that).

--dataplane names dumps of proxies, as audit takes them: the page then says of every rule whether the proxies do what is predicted,
has a table of what they do otherwise, and marks that in the picture.

` + redactedHelp,
		Example: `  # manifests
  kubectl dopolicy report -f manifests/ > report.html

  # with what a proxy makes of it
  kubectl dopolicy report -f manifests/ --dataplane config_dump.json > report.html

  # a cluster, opened in the browser
  kubectl dopolicy report --open

  # for someone who must not see limits and keys
  kubectl dopolicy report -f manifests/ --redact > report.html

  # the same data as JSON
  kubectl dopolicy report -f manifests/ -o json`,
		Args: checkArgumentCount(0, 0),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			f.Findings.noteGiven(cmd)
			return f.checkReport()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runReport(cmd.Context(), f) },
	}
	f.Query.Source.addSourceFlags(cmd)
	f.Query.Output.addFormat(cmd, []string{reportHTML, reportJSON}, nil)
	completeFlagFrom(cmd, "output", f.Query.Output.formats)
	fs := cmd.Flags()
	fs.StringVar(&f.Title, "title", "", "page title (default: names what was read)")
	f.Open.addOpenFlag(cmd, "the page")
	fs.StringVar(&f.Collapse, "collapse", view.CollapseAuto, "merge nodes that look alike in the picture: "+strings.Join(view.CollapseLevels(), "|"))
	completeFlagFrom(cmd, "collapse", view.CollapseLevels())
	fs.BoolVar(&f.NoPicture, "no-picture", false, "leave out the topology picture")
	fs.BoolVar(&f.Redact, "redact", false, "leave out the values of policy settings, headers, annotations and more")
	f.Dumps.addDumpFlag(cmd, "say what a proxy makes of it, by its config_dump")
	f.Findings.addFindingFlags(fs, "config file of check")
	fs.StringVar(&f.Query.Output.color, "color", string(render.Auto), "colour the problems: "+strings.Join(render.ColorModes(), "|"))
	completeFlagFrom(cmd, "color", render.ColorModes())
	fs.BoolVar(&f.Query.Output.strict, "strict", false, "exit with 3 if the answer is incomplete")
	fs.BoolVar(&f.Query.Output.verbose, "verbose", false, "also print notes, such as assumptions made")
	addCompletion(cmd, env, &f.Query.Source, nil)
	return cmd
}

// checkReport refuses what cannot be written, before anything is read.
func (f *reportOptions) checkReport() error {
	if !slices.Contains(f.Query.Output.formats, f.Query.Output.format) {
		return newUsageError("use one of: "+strings.Join(f.Query.Output.formats, ", "), "unknown output format %q", f.Query.Output.format)
	}
	if _, err := render.ParseColorMode(f.Query.Output.color); err != nil {
		return newUsageError("use one of: "+strings.Join(render.ColorModes(), ", "), "unknown color mode %q", f.Query.Output.color)
	}
	switch {
	case !slices.Contains(view.CollapseLevels(), f.Collapse):
		return newUsageError("use one of: "+strings.Join(view.CollapseLevels(), ", "), "unknown --collapse level %q", f.Collapse)
	case f.Redact && len(f.Dumps.dumps) > 0:
		return newUsageError("drop one of the two", "--redact leaves out the values that --dataplane compares")
	case f.Open.open && f.Query.Output.format != reportHTML:
		return newUsageError("drop one of the two", "--open cannot be given with -o %s", f.Query.Output.format)
	case f.Query.Output.format == reportHTML && !f.Open.open && f.Environment.Streams.OutIsTTY:
		return newUsageError("redirect it to a file (> report.html), or open it in the browser (--open)", "the report is HTML and is not written to a terminal")
	}
	return nil
}

// runReport writes the report.
func runReport(ctx context.Context, f *reportOptions) error {
	s := f.Environment.Streams
	f.Query.Source.allNamespaces = f.Query.Source.allNamespaces || f.Query.Source.namespace == ""
	options, err := f.Findings.prepareOptions(ctx, &f.Query.Source, f.Query.Output.verbose, s)
	if err != nil {
		return err
	}
	session, proxies, err := f.Dumps.readInputAndDumps(ctx, f.Environment, &f.Query.Source)
	if err != nil {
		return err
	}
	if f.Redact {
		session = redactSession(session)
		f.Findings.crds.problems = redact.Problems(f.Findings.crds.problems)
	}
	session.Problems = append(session.Problems, f.Findings.crds.problems...)
	query := dopolicy.ReportQuery{Check: options, Dumps: len(f.Dumps.dumps) > 0, Proxies: proxies}
	if query.Query, _, err = f.Query.parseQuery(session, nil); err != nil {
		return err
	}
	if !f.Query.Source.allNamespaces {
		query.In = func(namespace string) bool { return namespace == f.Query.Source.namespace }
	}
	info, _ := debug.ReadBuildInfo()
	query.Facts = f.reportFacts(session, f.Environment.Build.fillFromBuildInfo(info).Version)
	if f.Query.Output.format == reportJSON {
		answer, err := session.Report(query)
		if err != nil {
			return err
		}
		return f.finishReport(s, answer.Envelope, report.JSON(s.Out, answer))
	}
	write := func(to Streams) error {
		var picture report.Picture
		var missing []model.Problem
		page, err := session.PackReport(query, func(t *view.Topology) *view.Topology {
			t, picture, missing = f.drawPicture(to, t)
			return t
		})
		if err != nil {
			return err
		}
		told := page.Envelope
		told.Problems = append(slices.Clip(told.Problems), missing...)
		return f.finishReport(to, told, report.HTML(to.Out, page, picture))
	}
	if f.Open.open {
		return writeAndOpen(withDrawing(ctx, s), "report.html", write)
	}
	return write(withDrawing(ctx, s))
}

// reportFacts says what the report is about.
func (f *reportOptions) reportFacts(s *session, version string) report.Facts {
	out := report.Facts{Version: version, Inputs: f.reportInputs(s), Redacted: s.Snapshot.HasNoValues()}
	if !f.Query.Source.allNamespaces {
		out.Scope.Namespace = f.Query.Source.namespace
	}
	for _, name := range f.Query.Source.onlyKinds {
		for _, k := range s.findPolicyKinds(name) {
			out.Scope.PolicyKinds = append(out.Scope.PolicyKinds, k.Name())
		}
	}
	out.Title = cmp.Or(f.Title, defaultTitle(out))
	return out
}

// reportInputs lists what was read, as the user named it.
func (f *reportOptions) reportInputs(s *session) []report.Input {
	var out []report.Input
	for _, name := range f.Query.Source.files {
		if name == "-" {
			out = append(out, report.Input{Kind: report.Stdin, Name: name})
			continue
		}
		out = append(out, report.Input{Kind: report.Path, Name: name})
	}
	if f.Query.Source.kustomization != "" {
		out = append(out, report.Input{Kind: report.Kustomization, Name: f.Query.Source.kustomization})
	}
	if c := s.Snapshot.Cluster; c != nil {
		out = append(out, report.Input{Kind: report.Cluster, Name: c.Context})
	}
	return out
}

// defaultTitle names what a report is about where the user gave it no title.
func defaultTitle(facts report.Facts) string {
	const most = 3
	var names []string
	for _, in := range facts.Inputs {
		switch in.Kind {
		case report.Stdin:
			names = append(names, "standard input")
		case report.Cluster:
			names = append(names, "cluster "+in.Name)
		default:
			names = append(names, in.Name)
		}
	}
	if len(names) > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	title := "Gateway API policies of " + strings.Join(names, ", ")
	if facts.Scope.Namespace != "" {
		title += ", namespace " + facts.Scope.Namespace
	}
	return title
}

// finishReport prints the problems of a report that was written, unless that failed.
func (f *reportOptions) finishReport(s Streams, told view.Envelope, err error) error {
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := f.Query.Output.printProblems(s, &f.Query.Source, &told); err != nil {
		return err
	}
	if f.Query.Output.strict && !told.Complete {
		return errIncomplete
	}
	return nil
}

// drawPicture draws the topology, or what is left of it when nodes that look alike are merged, and
// returns that. If the picture cannot be drawn, the page has a problem in its place.
func (f *reportOptions) drawPicture(s Streams, t *view.Topology) (*view.Topology, report.Picture, []model.Problem) {
	if f.NoPicture {
		return t, report.Picture{Missing: "the picture was left out (--no-picture)"}, nil
	}
	t = t.Collapse(f.Collapse, render.DOTOptions{}.Fits)
	drawn, err := report.Draw(t, s.Draw)
	if err == nil {
		return t, drawn, nil
	}
	problem := model.Problem{Severity: model.Warning, Message: fmt.Sprintf("the page has no picture: %s", err)}
	var absent *draw.MissingError
	if errors.As(err, &absent) {
		problem.Hint = "install it with: go install github.com/dopolicy/kubectl-dopolicy/cmd/... (release archives include it), or leave the picture out with --no-picture"
	}
	return t, report.Picture{Missing: problem.Message}, []model.Problem{problem}
}

package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/finding"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/redaction"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/viewer"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/draw"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// The formats of reports.
const (
	reportHTML = "html"
	reportJSON = "json"
)

// Options are what the flags of the command say.
type Options struct {
	Environment run.Environment
	Query       command.Query
	Findings    finding.Flags
	Viewer      viewer.Flags
	Dumps       source.DumpFlags
	Title       string
	Collapse    string
	NoPicture   bool
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env, Findings: finding.NewFlags(env.Plugins)}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write everything about the input as one HTML page",
		Long: `Write everything that the other commands show as one HTML page: a picture of the topology, a searchable table of route rules and policy
kinds, what is in force on every rule and why, overridden settings, predicted statuses, problems and findings. The page is
self-contained: it needs no network, and can be mailed, attached to a build or opened from disk.

The report covers everything that was read, unless -n or --policy-kind limit it. Findings are those of check, with the same config
file; they do not affect the exit code (use check for that).

--dataplane names dumps of proxies, in the form of 'audit': the page then says of every rule whether the proxies do what is predicted,
has a table of what they do otherwise, and marks that in the picture.

` + redaction.Help,
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
		Args: command.CheckArguments(0, 0),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			f.Findings.NoteGiven(cmd)
			return f.checkReport()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), f) },
	}
	f.Query.Source.AddFlags(cmd)
	f.Query.Output.AddFormatFlag(cmd, []string{reportHTML, reportJSON}, nil)
	completion.AddWordsToFlag(cmd, "output", f.Query.Output.Formats)
	fs := cmd.Flags()
	fs.StringVar(&f.Title, "title", "", "page title (default: names what was read)")
	f.Viewer.AddFlag(cmd, "the page")
	fs.StringVar(&f.Collapse, "collapse", graph.CollapseAuto, "merge nodes that look alike in the picture: "+
		strings.Join(graph.CollapseLevels(), "|"))
	completion.AddWordsToFlag(cmd, "collapse", graph.CollapseLevels())
	fs.BoolVar(&f.NoPicture, "no-picture", false, "leave out the topology picture")
	f.Dumps.AddFlag(cmd, "say what a proxy makes of it, by its config_dump")
	f.Findings.AddFlags(fs, "config file of check")
	fs.StringVar(&f.Query.Output.Color, "color", string(render.Auto), "colour the problems: "+
		strings.Join(render.ColorModes(), "|"))
	completion.AddWordsToFlag(cmd, "color", render.ColorModes())
	fs.BoolVar(&f.Query.Output.Strict, "strict", false, "exit with 3 if the answer is incomplete")
	fs.BoolVar(&f.Query.Output.Verbose, "verbose", false, "also print notes, such as assumptions made")
	completion.AddToCommand(cmd, env, &f.Query.Source, nil)
	return cmd
}

// checkReport refuses what cannot be written, before anything is read.
func (f *Options) checkReport() error {
	if !slices.Contains(f.Query.Output.Formats, f.Query.Output.Format) {
		return failure.Usage("use one of: "+strings.Join(f.Query.Output.Formats, ", "), "unknown output format %q",
			f.Query.Output.Format)
	}
	if _, err := render.ParseColorMode(f.Query.Output.Color); err != nil {
		return failure.Usage("use one of: "+strings.Join(render.ColorModes(), ", "), "unknown color mode %q",
			f.Query.Output.Color)
	}
	switch {
	case !slices.Contains(graph.CollapseLevels(), f.Collapse):
		return failure.Usage("use one of: "+strings.Join(graph.CollapseLevels(), ", "), "unknown --collapse level %q",
			f.Collapse)
	case f.Viewer.Open && f.Query.Output.Format != reportHTML:
		return failure.Usage("drop one of the two", "--open cannot be given with -o %s", f.Query.Output.Format)
	case f.Query.Output.Format == reportHTML && !f.Viewer.Open && f.Environment.Streams.OutIsTTY:
		return failure.Usage("redirect it to a file (> report.html), or open it in the browser (--open)",
			"the report is HTML and is not written to a terminal")
	}
	return nil
}

// Run writes the report.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	f.Query.Source.AllNamespaces = f.Query.Source.AllNamespaces || f.Query.Source.Namespace == ""
	options, err := f.Findings.Prepare(&f.Query.Source, f.Query.Output.Verbose)
	if err != nil {
		return err
	}
	session, proxies, err := f.Dumps.Open(ctx, f.Environment, &f.Query.Source)
	if err != nil {
		return err
	}
	query := dopolicy.ReportQuery{Check: options, Dumps: len(f.Dumps.Paths) > 0, Proxies: proxies}
	if query.Query, _, err = f.Query.Parse(session, nil); err != nil {
		return err
	}
	if !f.Query.Source.AllNamespaces {
		query.In = func(namespace string) bool { return namespace == f.Query.Source.Namespace }
	}
	info, _ := debug.ReadBuildInfo()
	query.Facts = f.reportFacts(session, f.Environment.Build.FillFromBuildInfo(info).Version)
	if f.Query.Output.Format == reportJSON {
		answer, err := session.Report(query)
		if err != nil {
			return err
		}
		return f.finishReport(s, session, answer.Envelope, report.JSON(s.Out, answer))
	}
	write := func(to run.Streams) error {
		var picture report.Picture
		var missing []model.Problem
		page, err := session.PackReport(query, func(t *graph.Topology) *graph.Topology {
			t, picture, missing = f.drawPicture(to, t)
			return t
		})
		if err != nil {
			return err
		}
		told := page.Envelope
		told.Problems = append(slices.Clip(told.Problems), missing...)
		return f.finishReport(to, session, told, report.HTML(to.Out, page, picture))
	}
	if f.Viewer.Open {
		return viewer.WriteAndOpen(ctx, viewer.WithDrawing(ctx, s), "report.html", write)
	}
	return write(viewer.WithDrawing(ctx, s))
}

// reportFacts says what the report is about.
func (f *Options) reportFacts(s *source.Session, version string) report.Facts {
	out := report.Facts{Version: version, Inputs: f.reportInputs(s), Redacted: s.Snapshot.HasNoValues()}
	if !f.Query.Source.AllNamespaces {
		out.Scope.Namespace = f.Query.Source.Namespace
	}
	for _, name := range f.Query.Source.OnlyKinds {
		for _, k := range s.FindPolicyKinds(name) {
			out.Scope.PolicyKinds = append(out.Scope.PolicyKinds, k.Name())
		}
	}
	out.Title = cmp.Or(f.Title, defaultTitle(out))
	return out
}

// reportInputs lists what was read, as the user named it.
func (f *Options) reportInputs(s *source.Session) []report.Input {
	var out []report.Input
	for _, name := range f.Query.Source.Files {
		if name == "-" {
			out = append(out, report.Input{Kind: report.Stdin, Name: name})
			continue
		}
		out = append(out, report.Input{Kind: report.Path, Name: name})
	}
	if f.Query.Source.Kustomization != "" {
		out = append(out, report.Input{Kind: report.Kustomization, Name: f.Query.Source.Kustomization})
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
func (f *Options) finishReport(s run.Streams, session *source.Session, told view.Envelope, err error) error {
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := f.Query.Output.PrintProblems(s, session, &told); err != nil {
		return err
	}
	if f.Query.Output.Strict && !told.Complete {
		return failure.ErrIncomplete
	}
	return nil
}

// drawPicture draws the topology, or what is left of it when nodes that look alike are merged, and
// returns that. If the picture cannot be drawn, the page has a problem in its place.
func (f *Options) drawPicture(s run.Streams, t *graph.Topology) (*graph.Topology, report.Picture, []model.Problem) {
	if f.NoPicture {
		return t, report.Picture{Missing: "the picture was left out (--no-picture)"}, nil
	}
	t = t.Collapse(f.Collapse, picture.DOTOptions{}.Fits)
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

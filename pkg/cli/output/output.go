package output

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/viewer"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// Flags say how an answer is written.
type Flags struct {
	Template  templateFlags
	Formats   []string
	Format    string
	Color     string
	NoHeaders bool
	Strict    bool
	Verbose   bool
	Quiet     bool
	ByRule    bool
	Limit     int
	SortBy    []string
	Version   string // of the program, for formats that name it
	Root      string // the folder that the program runs in, for formats that others look for files with

	DOT          picture.DOTOptions // how graph draws
	EmptyMessage string             // what to say if the answer has no content, because no route was selected
	Scope        []string           // how `overridden` names what was asked about, where the answer alone does not tell
}

// IsForCI reports whether the format is one that CI systems read, which all commands write as check
// does.
func (f *Flags) IsForCI() bool {
	return slices.Contains([]string{string(render.SARIF), string(render.JUnit), string(render.GitHub)}, f.Format)
}

// IsFormat reports whether the answer is written in the format, and not by a template.
func (f *Flags) IsFormat(format render.Format) bool {
	return f.Template.Parsed == nil && f.Format == string(format)
}

// IsItemFormat reports whether the format is one whose items are written one after the other.
func (f *Flags) IsItemFormat() bool {
	return f.Template.Parsed == nil && slices.Contains([]string{string(render.JSON), string(render.NDJSON),
		string(render.YAML)}, f.Format)
}

// SetProgramFacts sets the version of the program and the folder in which it runs, for the formats
// that name them.
func (f *Flags) SetProgramFacts(b run.Build) (err error) {
	info, _ := debug.ReadBuildInfo()
	f.Version = b.FillFromBuildInfo(info).Version
	if f.Root, err = os.Getwd(); err != nil {
		return failure.NoAnswer(fmt.Sprintf("finding the current folder: %s", err), "")
	}
	return nil
}

// AddFlags adds the flags; the first format is the default.
func (f *Flags) AddFlags(cmd *cobra.Command, formats []string) {
	f.AddFormatFlag(cmd, formats, TemplateWords())
	fs := cmd.Flags()
	fs.StringVar(&f.Color, "color", string(render.Auto), "colour the output: "+strings.Join(render.ColorModes(), "|"))
	fs.BoolVar(&f.Strict, "strict", false, "exit with 3 if the answer is incomplete")
	fs.BoolVar(&f.Verbose, "verbose", false,
		"print every problem of the input by itself, and notes, such as assumptions made")
	fs.BoolVarP(&f.Quiet, "quiet", "q", false, "of the problems, print only those that could change the answer")
	fs.BoolVar(&f.NoHeaders, "no-headers", false, "do not print column names")
	f.Template.addFlags(cmd)
	completion.AddToFlag(cmd, "output", completeFormats(formats))
	completion.AddWordsToFlag(cmd, "color", render.ColorModes())
}

// AddFormatFlag adds -o; the first format is the default, and help names the others with it.
func (f *Flags) AddFormatFlag(cmd *cobra.Command, formats, others []string) {
	f.Formats = formats
	cmd.Flags().StringVarP(&f.Format, "output", "o", formats[0], "output format: "+
		strings.Join(slices.Concat(formats, others), ", "))
}

// AddTableFlags adds the flags of commands whose tables can be long.
func (f *Flags) AddTableFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "show at most this many lines of a list (0: all)")
	cmd.Flags().StringSliceVar(&f.SortBy, "sort-by", nil, "sort the rows of a table by these columns (kind,from)")
}

// listFormats returns the formats that the command offers, as they are listed for people.
func (f *Flags) listFormats() []string { return slices.Concat(f.Formats, TemplateWords()) }

// Check refuses formats that the command does not offer and templates that cannot be read,
// before anything else is read. outputGiven tells whether the user gave -o.
func (f *Flags) Check(outputGiven bool) error {
	templated, err := f.Template.parse(f.Format, outputGiven)
	if err != nil {
		return err
	}
	if !templated && !slices.Contains(f.Formats, f.Format) {
		return failure.Usage("use one of: "+strings.Join(f.listFormats(), ", "), "unknown output format %q", f.Format)
	}
	if len(f.SortBy) > 0 && (templated || f.Format != string(render.Table) && f.Format != string(render.Wide) &&
		f.Format != string(render.Grouped)) {
		return failure.Usage("use -o table or -o wide with it", "--sort-by sorts the rows of tables only")
	}
	if f.Limit < 0 {
		return failure.Usage("0 shows all", "--limit cannot be %d", f.Limit)
	}
	_, err = render.ParseColorMode(f.Color)
	if err != nil {
		return failure.Usage("use one of: "+strings.Join(render.ColorModes(), ", "), "unknown color mode %q", f.Color)
	}
	return nil
}

// Write prints the answer to stdout, and then the problems that touch it to stderr.
// With --strict an incomplete answer is an error, as it always is when nothing could be read.
func (f *Flags) Write(s run.Streams, session *source.Session, typed string, v render.View, e *view.Envelope) error {
	err := f.writeAnswer(s, session, typed, v, e)
	if err != nil && !errors.Is(err, failure.ErrIncomplete) {
		return err
	}
	reporting, ok := v.(interface{ HasReports() bool })
	if failed := f.printProblems(s, session, e, ok && reporting.HasReports()); failed != nil {
		return failed
	}
	return err
}

// writeAnswer is writeOnly, but prints a message in place of an answer without content where
// nothing was selected.
func (f *Flags) writeAnswer(s run.Streams, session *source.Session, typed string, v render.View,
	e *view.Envelope) error {
	if what := f.emptyAnswerMessage(session, v); what != "" {
		return f.writeEmptyAnswer(s, session, what, v, e)
	}
	return f.WriteOnly(s, session, typed, v, e)
}

// PrintProblems prints the problems of an answer: those that touch it, all of them, or only those
// that could change it.
func (f *Flags) PrintProblems(s run.Streams, session *source.Session, e *view.Envelope) error {
	return f.printProblems(s, session, e, false)
}

// printProblems is PrintProblems of an answer that may tell from published reports what the objects
// do that are forbidden.
func (f *Flags) printProblems(s run.Streams, session *source.Session, e *view.Envelope, reported bool) error {
	input := session.Flags
	mode, err := render.ParseColorMode(f.Color)
	if err != nil {
		return err
	}
	o := render.ProblemOptions{Verbose: f.Verbose || input.Cluster.Verbosity > 0, Color: f.isColored(mode, s,
		s.ErrIsTTY), ASCII: !run.IsUTF8Locale(s), Width: s.TerminalWidth(s.ErrIsTTY), Forbidden: session.Forbidden(reported)}
	problems := e.Problems
	switch {
	case f.Quiet:
		problems = slices.DeleteFunc(slices.Clone(problems), func(p model.Problem) bool { return !p.IsIncomplete() })
	case !o.Verbose:
		problems = e.RelevantProblems()
	}
	if !o.Verbose {
		o.Rest = "to list each: -v, or " + strings.TrimSpace("kubectl dopolicy check "+input.Args())
	}
	return render.WriteProblems(s.Err, problems, o)
}

// IsColored reports whether the answer gets colour.
func (f *Flags) IsColored(s run.Streams) bool {
	mode, err := render.ParseColorMode(f.Color)
	return err == nil && f.isColored(mode, s, s.OutIsTTY)
}

// isColored reports whether a stream gets colour.
func (f *Flags) isColored(mode render.ColorMode, s run.Streams, tty bool) bool {
	noColor, _ := s.LookupEnv("NO_COLOR")
	return mode.Enabled(render.Terminal{IsTerminal: tty, NoColor: noColor != ""})
}

// WriteOnly writes the answer without its problems.
func (f *Flags) WriteOnly(s run.Streams, session *source.Session, typed string, v render.View, e *view.Envelope) error {
	mode, err := render.ParseColorMode(f.Color)
	if err != nil {
		return err
	}
	err = s.WriteView(v, render.Options{Stamp: stampOf(session, v), Format: render.Format(f.Format), Draw: s.Draw,
		DOT: f.DOT, NoHeaders: f.NoHeaders, SortBy: f.SortBy, Color: f.isColored(mode, s,
			s.OutIsTTY), ASCII: !run.IsUTF8Locale(s),
		Template: f.Template.Parsed, Runner: s.InRunner(), Terminal: s.OutIsTTY, Width: s.TerminalWidth(s.OutIsTTY),
		Version: f.Version, Root: f.Root,
		Table: view.TableOptions{ByRule: f.ByRule, Limit: f.Limit, Target: typed, Scope: f.Scope,
			Source: session.Flags.Args(), Diff: session.Flags.DiffInput()}})
	if unknown := (*render.UnknownColumn)(nil); errors.As(err, &unknown) {
		return failure.Usage("name one of them, in capitals or not", "%v", unknown)
	}
	if wrong := viewer.ExplainDrawError(explainTemplateError(err)); wrong != err {
		return wrong
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if f.Strict && !e.Complete {
		return failure.ErrIncomplete
	}
	return nil
}

// stampOf says which cluster an answer is about, and when that was read. A comparison is not about
// one cluster.
func stampOf(s *source.Session, v render.View) render.Stamp {
	if _, two := v.(*diff.EffectivePolicyDiff); two || s.Input == nil || s.Snapshot.Cluster == nil {
		return render.Stamp{}
	}
	return render.Stamp{Cluster: s.Snapshot.Cluster.Context, ReadAt: s.Snapshot.Cluster.ReadAt}
}

// ReportUnmet returns an error if expectations are not met; each line describes one of these.
// Formats in which the answer does not say so leave that to stderr.
func (f *Flags) ReportUnmet(s run.Streams, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	if !slices.Contains([]string{"table", "wide", "json", "yaml"}, f.Format) {
		for _, line := range lines {
			if _, err := fmt.Fprintln(s.Err, line); err != nil {
				return fmt.Errorf("writing what is not met: %w", err)
			}
		}
	}
	return failure.ErrFindings
}

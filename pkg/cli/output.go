package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// outputFlags say how an answer is written.
type outputFlags struct {
	template  templateFlags
	formats   []string
	format    string
	color     string
	noHeaders bool
	strict    bool
	verbose   bool
	quiet     bool
	byRule    bool
	limit     int
	sortBy    []string
	version   string // of the program, for formats that name it
	root      string // the folder that the program runs in, for formats that others look for files with

	dot          render.DOTOptions // how graph draws
	emptyMessage string            // what to say if the answer has no content, because no route was selected
	scope        []string          // how `overridden` names what was asked about, where the answer alone does not tell
}

// isForCI reports whether the format is one that CI systems read, which all commands write as check
// does.
func (f *outputFlags) isForCI() bool {
	return slices.Contains([]string{string(render.SARIF), string(render.JUnit), string(render.GitHub)}, f.format)
}

// isItemFormat reports whether the format is one whose items are written one after the other.
func (f *outputFlags) isItemFormat() bool {
	return f.template.parsed == nil && slices.Contains([]string{string(render.JSON), string(render.NDJSON), string(render.YAML)}, f.format)
}

// setProgramFacts sets the version of the program and the folder in which it runs, for the formats
// that name them.
func (f *outputFlags) setProgramFacts(b Build) (err error) {
	info, _ := debug.ReadBuildInfo()
	f.version = b.fillFromBuildInfo(info).Version
	if f.root, err = os.Getwd(); err != nil {
		return newNoAnswerError(fmt.Sprintf("finding the current folder: %s", err), "")
	}
	return nil
}

// addOutputFlags adds the flags; the first format is the default.
func (f *outputFlags) addOutputFlags(cmd *cobra.Command, formats []string) {
	f.addFormat(cmd, formats, templateWords())
	fs := cmd.Flags()
	fs.StringVar(&f.color, "color", string(render.Auto), "colour the output: "+strings.Join(render.ColorModes(), "|"))
	fs.BoolVar(&f.strict, "strict", false, "exit with 3 if the answer is incomplete")
	fs.BoolVar(&f.verbose, "verbose", false, "print every problem of the input by itself, and notes, such as assumptions made")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print only problems that could change the answer")
	fs.BoolVar(&f.noHeaders, "no-headers", false, "do not print column names")
	f.template.addTemplateFlags(cmd)
	completeFlag(cmd, "output", completeFormats(formats))
	completeFlagFrom(cmd, "color", render.ColorModes())
}

// addFormat adds -o; the first format is the default, and help names the others with it.
func (f *outputFlags) addFormat(cmd *cobra.Command, formats, others []string) {
	f.formats = formats
	cmd.Flags().StringVarP(&f.format, "output", "o", formats[0], "output format: "+strings.Join(slices.Concat(formats, others), "|"))
}

// addTable adds the flags of commands whose tables can be long.
func (f *outputFlags) addTable(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.limit, "limit", 0, "show at most this many lines of a list (0: all)")
	cmd.Flags().StringSliceVar(&f.sortBy, "sort-by", nil, "sort the rows of a table by these columns (kind,from)")
}

// completeFlagFrom completes a flag with fixed words.
func completeFlagFrom(cmd *cobra.Command, flag string, words []string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// listFormats returns the formats that the command offers, as they are listed for people.
func (f *outputFlags) listFormats() []string { return slices.Concat(f.formats, templateWords()) }

// checkOutput refuses formats that the command does not offer and templates that cannot be read,
// before anything else is read. outputGiven tells whether the user gave -o.
func (f *outputFlags) checkOutput(outputGiven bool) error {
	templated, err := f.template.parseTemplate(f.format, outputGiven)
	if err != nil {
		return err
	}
	if !templated && !slices.Contains(f.formats, f.format) {
		return newUsageError("use one of: "+strings.Join(f.listFormats(), ", "), "unknown output format %q", f.format)
	}
	if len(f.sortBy) > 0 && (templated || f.format != string(render.Table) && f.format != string(render.Wide) && f.format != string(render.Grouped)) {
		return newUsageError("use -o table or -o wide with it", "--sort-by sorts the rows of tables only")
	}
	if f.limit < 0 {
		return newUsageError("0 shows all", "--limit cannot be %d", f.limit)
	}
	_, err = render.ParseColorMode(f.color)
	if err != nil {
		return newUsageError("use one of: "+strings.Join(render.ColorModes(), ", "), "unknown color mode %q", f.color)
	}
	return nil
}

// writeWithProblems prints the answer to stdout, and then the problems that touch it to stderr.
// With --strict an incomplete answer is an error, as it always is when nothing could be read.
func (f *outputFlags) writeWithProblems(s Streams, session *session, typed string, v render.View, e *view.Envelope) error {
	err := f.writeAnswer(s, session, typed, v, e)
	if err != nil && !errors.Is(err, errIncomplete) {
		return err
	}
	if failed := f.printProblems(s, session.flags, e); failed != nil {
		return failed
	}
	return err
}

// writeAnswer is writeOnly, but prints a message in place of an answer without content where
// nothing was selected.
func (f *outputFlags) writeAnswer(s Streams, session *session, typed string, v render.View, e *view.Envelope) error {
	if what := f.emptyAnswerMessage(session, v); what != "" {
		return f.writeEmptyAnswer(s, session, what, v, e)
	}
	return f.writeOnly(s, session, typed, v, e)
}

// printProblems prints the problems of an answer: those that touch it, all of them, or only those
// that could change it.
func (f *outputFlags) printProblems(s Streams, input *sourceFlags, e *view.Envelope) error {
	mode, err := render.ParseColorMode(f.color)
	if err != nil {
		return err
	}
	o := render.ProblemOptions{Verbose: f.verbose || input.cluster.verbosity > 0, Color: f.isColored(mode, s, s.ErrIsTTY), ASCII: !isUTF8Locale(s), Width: s.terminalWidth(s.ErrIsTTY)}
	problems := e.Problems
	switch {
	case f.quiet:
		problems = slices.DeleteFunc(slices.Clone(problems), func(p model.Problem) bool { return !p.IsIncomplete() })
	case !o.Verbose:
		problems = e.RelevantProblems()
	}
	if !o.Verbose {
		o.Rest = "to list each: -v, or " + strings.TrimSpace("kubectl dopolicy check "+input.sourceArgs())
	}
	return render.WriteProblems(s.Err, problems, o)
}

// isColored reports whether a stream gets colour.
func (f *outputFlags) isColored(mode render.ColorMode, s Streams, tty bool) bool {
	noColor, _ := s.LookupEnv("NO_COLOR")
	return mode.Enabled(render.Terminal{IsTerminal: tty, NoColor: noColor != ""})
}

// writeOnly writes the answer without its problems.
func (f *outputFlags) writeOnly(s Streams, session *session, typed string, v render.View, e *view.Envelope) error {
	mode, err := render.ParseColorMode(f.color)
	if err != nil {
		return err
	}
	err = s.writeView(v, render.Options{Stamp: stampOf(session, v), Format: render.Format(f.format), Draw: s.Draw, DOT: f.dot, NoHeaders: f.noHeaders, SortBy: f.sortBy, Color: f.isColored(mode, s, s.OutIsTTY), ASCII: !isUTF8Locale(s),
		Template: f.template.parsed, Runner: s.inRunner(), Terminal: s.OutIsTTY, Width: s.terminalWidth(s.OutIsTTY), Version: f.version, Root: f.root,
		Table: view.TableOptions{ByRule: f.byRule, Limit: f.limit, Target: typed, Scope: f.scope, Source: session.flags.sourceArgs()}})
	if unknown := (*render.UnknownColumn)(nil); errors.As(err, &unknown) {
		return newUsageError("name one of them, in capitals or not", "%v", unknown)
	}
	if wrong := explainDrawError(explainTemplateError(err)); wrong != err {
		return wrong
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if f.strict && !e.Complete {
		return errIncomplete
	}
	return nil
}

// stampOf says which cluster an answer is about, and when that was read. A comparison is not about
// one cluster.
func stampOf(s *session, v render.View) render.Stamp {
	if _, two := v.(*view.EffectivePolicyDiff); two || s.Input == nil || s.Snapshot.Cluster == nil {
		return render.Stamp{}
	}
	return render.Stamp{Cluster: s.Snapshot.Cluster.Context, ReadAt: s.Snapshot.Cluster.ReadAt}
}

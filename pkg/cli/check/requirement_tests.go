package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/finding"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// TestOptions are what the flags and arguments of `check test` say.
type TestOptions struct {
	Environment run.Environment
	Args        []string // files and folders
	Source      source.Flags
	Output      output.Flags
	Only        string // a part of the names of tests to run
}

// newTestCommand makes the command.
func newTestCommand(env run.Environment) *cobra.Command {
	f := &TestOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "test FILE…",
		Short: "Test requirements: compare what they find in fixtures with what is expected",
		Long: `Run the unit tests of requirements. A test names requirements, manifests and the expected findings. It fails if a finding is
missing or unexpected, or if a requirement under test selects nothing.

FILE is a file with RequirementTest documents, or a folder that is searched for them; docs/requirements.md describes the
format. Exit code 1 means that a test failed. To check a folder called test, write check ./test.`,
		Example: `  # all tests in a folder
  kubectl dopolicy check test requirements/

  # one test, by part of its name
  kubectl dopolicy check test requirements/tests.yaml --run 'without a login'

  # for CI
  kubectl dopolicy check test requirements/ -o junit`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return failure.Usage(
					"write: kubectl dopolicy check test FILE…, or check ./test to check a folder called test",
					"FILE is required")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return RunTests(cmd.Context(), f)
		},
		DisableFlagsInUseLine: true,
	}
	fs := cmd.Flags()
	f.Output.AddFlags(cmd, []string{"table", "yaml", "json", "junit"})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.Output.Check(cmd.Flags().Changed("output")) }
	fs.StringVar(&f.Only, "run", "", "run only tests with this text in their name")
	fs.StringArrayVar(&f.Source.PolicyKinds, "policy-kinds", nil,
		"file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.Source.Settings, "vendor-setting", nil,
		"vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
	return cmd
}

// RunTests runs the tests and says which failed.
func RunTests(ctx context.Context, f *TestOptions) error {
	files, err := readTests(f.Args)
	if err != nil {
		return err
	}
	var results []requirement.TestResult
	for _, file := range files {
		more, err := f.runTestFile(ctx, file)
		if err != nil {
			return err
		}
		results = append(results, more...)
	}
	if len(results) == 0 {
		return failure.NoAnswer(fmt.Sprintf("no test has %q in its name", f.Only), "drop --run to run all tests")
	}
	report := requirement.NewTestReport(results)
	if err := f.Output.WriteOnly(f.Environment.Streams, &source.Session{Flags: &f.Source}, "", report,
		&report.Envelope); err != nil {
		return err
	}
	if report.Fails() {
		return failure.ErrFindings
	}
	return nil
}

// readTests reads the files that are named, and the tests among the YAML files of folders.
func readTests(names []string) ([]requirement.TestFile, error) {
	var out []requirement.TestFile
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading tests: %s", err),
				"give files with RequirementTest documents (docs/requirements.md)")
		}
		before := len(out)
		err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || info.IsDir() && !slices.Contains([]string{".yaml", ".yml"},
				filepath.Ext(path)) {
				return err
			}
			text, err := localfile.Read(path, path == name)
			if err != nil {
				return err
			}
			more, err := requirement.ReadTests(form.Source{Name: path, Text: text}, info.IsDir())
			out = append(out, more...)
			return err
		})
		var wrong *requirement.FileError
		switch {
		case errors.As(err, &wrong):
			return nil, err
		case err != nil:
			return nil, failure.NoAnswer(fmt.Sprintf("reading tests: %s", err), "")
		case len(out) == before:
			return nil, failure.NoAnswer(fmt.Sprintf("there are no requirement tests in %s", name),
				"tests are RequirementTest documents (docs/requirements.md)")
		}
	}
	return out, nil
}

// runTestFile runs the tests of one document.
func (f *TestOptions) runTestFile(ctx context.Context, file requirement.TestFile) ([]requirement.TestResult, error) {
	names, err := resolveNames(file.Name, file.Requirements)
	if err != nil {
		return nil, err
	}
	reqs, err := finding.ReadRequirements(names, nil)
	if err != nil {
		return nil, err
	}
	kinds := f.Source
	kinds.Settings = slices.Concat(file.Settings, f.Source.Settings)
	if kinds.FoundKinds, err = resolveNames(file.Name, file.PolicyKinds); err != nil {
		return nil, err
	}
	if kinds.Schemas.Catalogue, err = plugin.Schemas(f.Environment.Plugins); err != nil {
		return nil, err
	}
	var out []requirement.TestResult
	for i := range file.Tests {
		t := &file.Tests[i]
		if !strings.Contains(t.Name, f.Only) {
			continue
		}
		// a new engine: kinds that are found in one input are not known in another
		engine, err := kinds.Engine(ctx, f.Environment)
		if err != nil {
			return nil, err
		}
		out = append(out, runTest(ctx, engine, t, reqs))
	}
	return out, nil
}

// resolveNames returns the paths of files that a file of tests names.
func resolveNames(file string, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		path, err := localfile.ResolveRelative(file, name)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading tests: %s: %s", file, err), "keep what tests name beside them")
		}
		out = append(out, path)
	}
	return out, nil
}

// runTest runs one test. What cannot be read makes it fail.
func runTest(ctx context.Context, engine *dopolicy.Engine, t *requirement.Test,
	reqs []*requirement.Requirement) requirement.TestResult {
	in, problems := resolveTestInput(ctx, engine, t)
	out := requirement.NewTestResult(t)
	if in != nil {
		out = t.Run(in.Resolution, reqs, engine.Deciders())
	}
	out.Problems = append(out.Problems, problems...)
	out.Passed = out.Passed && len(problems) == 0
	return out
}

// resolveTestInput reads and resolves the input of a test. It returns one line for each thing that
// is wrong with the input.
func resolveTestInput(ctx context.Context, engine *dopolicy.Engine, t *requirement.Test) (*dopolicy.Input, []string) {
	var options load.Options
	for _, name := range t.Files {
		path, err := localfile.ResolveRelative(t.Origin.File, name)
		if err != nil {
			return nil, []string{err.Error()}
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return nil, []string{path + ": not a regular file"}
		}
		options.Paths = append(options.Paths, path)
	}
	if t.Input != "" {
		options.Paths, options.Stdin = append(options.Paths, "-"), bytes.NewReader([]byte(t.Input))
	}
	in, err := engine.ReadFiles(ctx, options)
	var lines []string
	if in != nil {
		for _, p := range model.SortProblems(in.Problems) {
			if p.Severity != model.Error {
				continue
			}
			lines = append(lines, t.Place(p.Origin)+p.Message)
		}
	}
	if err != nil {
		return nil, append(lines, err.Error())
	}
	return engine.Resolve(in), lines
}

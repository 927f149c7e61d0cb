package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// gitPrefix begins the name of a revision.
const gitPrefix = "git:"

// checkBaselineFlags refuses flags that contradict each other.
func (f *Options) checkBaselineFlags() error {
	given := 0
	for _, text := range []string{f.NewFrom, f.Baseline, f.WriteBaseline} {
		if text != "" {
			given++
		}
	}
	in := &f.Query.Source
	files := len(in.Files)+len(f.Args) > 0 || in.Kustomization != ""
	switch {
	case given > 1:
		return failure.Usage("give one of them", "--new-from, --baseline and --write-baseline exclude each other")
	case f.NewFrom == "":
		return nil
	case !files:
		return failure.Usage("name the files with -f; for a cluster, write what is found with --write-baseline",
			"--new-from needs files")
	case slices.Contains(slices.Concat(in.Files, f.Args), "-"):
		return failure.Usage("name a file or folder", "--new-from cannot be used with standard input")
	case f.NewFrom == gitPrefix:
		return failure.Usage("for example --new-from git:origin/main", "--new-from git: names no revision")
	}
	return nil
}

// readBaseline returns what was found before, nil if nobody asks.
func (f *Options) readBaseline(ctx context.Context, options check.Options) (*check.Baseline, error) {
	switch {
	case f.Baseline != "":
		return readBaselineFile(f.Baseline)
	case f.NewFrom == "":
		return nil, nil
	}
	rev, isGit := strings.CutPrefix(f.NewFrom, gitPrefix)
	if !isGit {
		return f.checkFolder(ctx, options)
	}
	folder, err := os.MkdirTemp("", "dopolicy-revision-")
	if err != nil {
		return nil, failure.NoAnswer(fmt.Sprintf("reading %s: %s", f.NewFrom, err), "")
	}
	defer func() { _ = os.RemoveAll(folder) }()
	defer context.AfterFunc(ctx, func() { _ = os.RemoveAll(folder) })() // the program may end before this returns
	return f.checkRevision(ctx, rev, folder, options)
}

func readBaselineFile(name string) (*check.Baseline, error) {
	text, err := localfile.Read(name, true)
	if err != nil {
		return nil, failure.NoAnswer(fmt.Sprintf("reading the baseline: %s", err),
			"write it with --write-baseline "+view.QuoteShellWord(name))
	}
	b, err := check.ParseBaseline(name, text)
	var wrong *check.ConfigError
	if errors.As(err, &wrong) {
		return nil, failure.Usage(wrong.Hint, "%s", wrong.Error())
	}
	return b, err
}

// checkFolder checks another file or folder as the input is checked.
func (f *Options) checkFolder(ctx context.Context, options check.Options) (*check.Baseline, error) {
	if _, err := os.Stat(f.NewFrom); err != nil {
		return nil, failure.NoAnswer(fmt.Sprintf("reading --new-from: %s", err),
			"name a folder, or a revision as git:REV, for example git:origin/main")
	}
	before := f.Query.Source
	if before.Kustomization != "" {
		before.Kustomization = f.NewFrom
	} else {
		before.Files = []string{f.NewFrom}
	}
	rename := func(text string) string { return text }
	if now := f.Query.Source.Files; len(now) == 1 && folderPrefix(f.NewFrom) != "" {
		rename = strings.NewReplacer(folderPrefix(f.NewFrom), folderPrefix(now[0])).Replace
	}
	return f.checkBefore(ctx, &before, options, rename)
}

// folderPrefix is how the names of the files in a folder begin.
func folderPrefix(folder string) string {
	if folder = filepath.ToSlash(filepath.Clean(folder)); folder == "." {
		return ""
	}
	return folder + "/"
}

// checkRevision checks the input as it is in a revision.
func (f *Options) checkRevision(ctx context.Context, rev, folder string,
	options check.Options) (*check.Baseline, error) {
	before := f.Query.Source
	paths := before.Files
	if before.Recursive || before.Kustomization != "" { // what is rendered may name other folders
		paths = nil
	}
	tree, err := load.ExtractRevision(ctx, load.GitTree{Rev: rev, Limits: before.Limits.Values()}, paths, folder)
	if err != nil {
		return nil, err
	}
	f.warnOfSubmodules(tree)
	before.Files = nil
	for _, p := range f.Query.Source.Files {
		at, found, err := tree.Path(p)
		switch {
		case err != nil:
			return nil, err
		case found:
			before.Files = append(before.Files, at)
		}
	}
	if before.Kustomization != "" {
		at, found, err := tree.Path(before.Kustomization)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return check.NewBaseline(f.NewFrom, nil), nil
		}
		before.Kustomization = at
	} else if len(before.Files) == 0 { // all of it is new
		return check.NewBaseline(f.NewFrom, nil), nil
	}
	return f.checkBefore(ctx, &before, options, tree.Restore)
}

// warnOfSubmodules says what of a revision is not read.
func (f *Options) warnOfSubmodules(tree *load.ExtractedTree) {
	if len(tree.Submodules) > 0 {
		fmt.Fprintf(f.Environment.Streams.Err, "note: %s: submodules are not read: %s\n", escape.Escape(f.NewFrom),
			escape.Escape(strings.Join(tree.Submodules, ", ")))
	}
}

// checkBefore checks an earlier state of the input, whose files are renamed to those of the input.
// If it cannot be read, nothing was found there, and all is new.
func (f *Options) checkBefore(ctx context.Context, before *source.Flags, options check.Options,
	rename func(string) string) (*check.Baseline, error) {
	env := f.Environment
	env.Streams.Err = io.Discard // it is about the earlier state
	session, err := before.Open(ctx, env)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		fmt.Fprintf(f.Environment.Streams.Err, "warning: %s cannot be read, so that all findings are new: %s\n",
			escape.Escape(f.NewFrom), escape.Escape(rename(failure.Describe(err).What)))
		return check.NewBaseline(f.NewFrom, nil), nil
	}
	found := session.Check(options).Items
	for i := range found {
		found[i].RenameFiles(rename)
	}
	return check.NewBaseline(f.NewFrom, found), nil
}

// writeBaseline writes down what is found.
func (f *Options) writeBaseline(report *check.Report) error {
	text, n, err := report.WriteBaseline()
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.WriteBaseline, text, 0o644); err != nil {
		return failure.NoAnswer(fmt.Sprintf("writing the baseline: %s", err), "")
	}
	_, err = fmt.Fprintf(f.Environment.Streams.Err, "wrote %s to %s: kubectl dopolicy check --baseline %s leaves them out\n",
		view.FormatCount(n, "finding"), escape.Escape(f.WriteBaseline),
		escape.Escape(view.QuoteShellWord(f.WriteBaseline)))
	return err
}

package fleet

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// Commands lists the commands that can ask several clusters. They are not aware of it: the
// command line is run once for each cluster.
func Commands() []string {
	return []string{"audit", "check", "effective", "explain", "matrix", "overridden", "prove", "reach",
		"request", "status"}
}

// flags name several clusters.
type flags struct {
	contexts []string
	all      bool
	each     bool
	parallel int
}

// TreeFunc builds the command tree once more, for the run of one cluster; nil: there is only one.
type TreeFunc func(env run.Environment, m *Member) *cobra.Command

// AddFlags lets a command ask several clusters. The member is the one that this run asks; nil:
// the flags say which.
func AddFlags(cmd *cobra.Command, env run.Environment, m *Member, line []string, build TreeFunc) {
	f := &flags{}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.contexts, "contexts", nil,
		"ask several clusters: kubeconfig contexts, or patterns of them such as prod-* (repeatable)")
	fs.BoolVar(&f.all, "all-contexts", false, "ask the clusters of all kubeconfig contexts")
	fs.BoolVar(&f.each, "each", false,
		"read each file that -f names, or that is in a folder of -f, as a cluster of its own; a pattern of archives, as -f 'fleet/*.tgz', implies it")
	fs.IntVar(&f.parallel, "parallel", 0,
		"how many clusters to ask at a time (0: 8 over the network, and as many as there are processors from files)")
	completion.AddToFlag(cmd, "contexts", func(cmd *cobra.Command, _ []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		known, _ := source.ListContexts(cmd)
		return completion.Filter(known, typed)
	})
	runOne := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if m != nil {
			if err := m.setFlags(cmd); err != nil {
				return err
			}
			return runOne(cmd, f.memberArgs(cmd, args))
		}
		members, err := f.chooseMembers(cmd, args)
		if err != nil {
			return err
		}
		if members == nil {
			return runOne(cmd, args)
		}
		if err := f.checkSupported(cmd); err != nil {
			return err
		}
		return newRunner(cmd, env, f.parallel, members, line, build).runAll(cmd.Context())
	}
}

// hasFileArguments reports whether the arguments of a command are files, as -f names them.
func hasFileArguments(cmd *cobra.Command) bool { return cmd.Name() == "check" }

// memberArgs returns the arguments that are left for the run of one cluster: files are what tells
// the clusters apart.
func (f *flags) memberArgs(cmd *cobra.Command, args []string) []string {
	if hasFileArguments(cmd) && !f.isLive() {
		return nil
	}
	return args
}

// isLive reports whether clusters are asked, and not files.
func (f *flags) isLive() bool { return f.all || len(f.contexts) > 0 }

// chooseMembers returns the clusters to ask; nil where the flags do not name several, but one as
// always.
func (f *flags) chooseMembers(cmd *cobra.Command, args []string) ([]*Member, error) {
	files, err := cmd.Flags().GetStringSlice("filename")
	if err != nil {
		return nil, err
	}
	if hasFileArguments(cmd) {
		files = slices.Concat(files, args)
	}
	overLive := cmd.Flags().Lookup("live").Changed
	switch {
	case f.isLive() && cmd.Flags().Changed("context"):
		return nil, failure.Usage("drop one of the two",
			"--context names one cluster, and cannot be given with --contexts or --all-contexts")
	case f.isLive() && f.each, f.isLive() && len(files) > 0 && !overLive:
		return nil, failure.Usage("drop -f, or add --live to apply the files to each cluster",
			"files and several contexts cannot be read together")
	case f.all && len(f.contexts) > 0:
		return nil, failure.Usage("drop one of the two", "--contexts and --all-contexts cannot be given together")
	case f.isLive():
		return f.chooseContexts(cmd)
	case overLive:
		return nil, nil
	}
	return f.chooseFiles(files)
}

// checkSupported refuses formats and flags that do not work for several clusters.
func (f *flags) checkSupported(cmd *cobra.Command) error {
	format := cmd.Flags().Lookup("output").Value.String()
	watch := cmd.Flags().Lookup("watch")
	switch {
	case !slices.Contains(render.JoinedFormats(), format) || cmd.Flags().Changed("template"):
		return failure.Usage("use one of: "+strings.Join(render.JoinedFormats(), ", "),
			"-o %s cannot be written for several clusters", format)
	case watch != nil && watch.Changed:
		return failure.Usage("watch one of them with --context", "--watch cannot follow several clusters")
	case f.parallel < 0:
		return failure.Usage("0 chooses", "--parallel cannot be %d", f.parallel)
	}
	return nil
}

// chooseContexts returns the contexts that are named, sorted by name.
func (f *flags) chooseContexts(cmd *cobra.Command) ([]*Member, error) {
	known, err := source.ListContexts(cmd)
	if err != nil {
		return nil, err
	}
	chosen := known
	if !f.all {
		chosen = nil
		for _, pattern := range f.contexts {
			found := slices.DeleteFunc(slices.Clone(known), func(name string) bool {
				return name != pattern &&
					!matchesPattern(pattern, name)
			})
			if len(found) == 0 {
				hint := "list them with: kubectl config get-contexts"
				if near := form.Nearest(pattern, known); len(near) > 0 {
					hint = "did you mean " + near[0] + "?"
				}
				return nil, failure.Usage(hint, "no context %q in the kubeconfig", pattern)
			}
			chosen = append(chosen, found...)
		}
		slices.Sort(chosen)
		chosen = slices.Compact(chosen)
	}
	if len(chosen) == 0 {
		return nil, failure.NoAnswer("the kubeconfig has no contexts", "set KUBECONFIG or --kubeconfig")
	}
	out := make([]*Member, len(chosen))
	for i, name := range chosen {
		out[i] = &Member{name: name, context: name}
	}
	return out, nil
}

// matchesPattern reports whether a name fits a pattern, in which * stands for any text, slashes
// included: contexts may be named after addresses.
func matchesPattern(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 || !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// chooseFiles returns the files that are a cluster each; nil if all of them are one.
func (f *flags) chooseFiles(paths []string) ([]*Member, error) {
	if !f.each {
		patterns := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !localfile.IsPattern(p) })
		switch {
		case len(patterns) == 0:
			return nil, nil
		case !slices.ContainsFunc(paths, func(p string) bool { return !localfile.IsArchive(p) }):
		default:
			return nil,
				failure.Usage(
					"add --each to read every file as a cluster of its own, or name files and folders without a pattern", "%s is a pattern, not a file", patterns[0])
		}
	}
	if slices.Contains(paths, "-") {
		return nil, failure.Usage("save it to a file, and name that file",
			"standard input cannot be read as several clusters")
	}
	if len(paths) == 0 {
		return nil, failure.Usage("name snapshots, or folders of them, with -f", "--each needs files")
	}
	var found []string
	for _, path := range paths {
		some, err := localfile.Expand(path)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	slices.Sort(found)
	return newFileMembers(slices.Compact(found)), nil
}

// newFileMembers makes a member of each file. It is named after the file without its ending, or
// after the whole path where two files have the same name.
func newFileMembers(paths []string) []*Member {
	count := map[string]int{}
	for _, path := range paths {
		count[trimFileEnding(path)]++
	}
	out := make([]*Member, len(paths))
	for i, path := range paths {
		name := trimFileEnding(path)
		if count[name] > 1 {
			name = filepath.ToSlash(path)
		}
		out[i] = &Member{name: name, file: path}
	}
	return out
}

// trimFileEnding returns the name of a file without its ending.
func trimFileEnding(path string) string {
	name := filepath.Base(filepath.Clean(path))
	for _, end := range []string{".tar.gz", ".tgz", ".yaml", ".yml", ".json"} {
		if short, ok := strings.CutSuffix(name, end); ok && short != "" {
			return short
		}
	}
	return name
}

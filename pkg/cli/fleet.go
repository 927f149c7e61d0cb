package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// fleetCommands are those that can ask several clusters. They know nothing of it: their command line is run once for each.
func fleetCommands() []string {
	return []string{"audit", "check", "effective", "explain", "matrix", "overridden", "prove", "reach", "request", "status"}
}

// fleetFlags name several clusters.
type fleetFlags struct {
	contexts []string
	all      bool
	each     bool
	parallel int
}

// addFleet lets a command ask several clusters.
func addFleet(a App, cmd *cobra.Command, s Streams) {
	f := &fleetFlags{}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.contexts, "contexts", nil, "ask several clusters: kubeconfig contexts, or patterns of them such as prod-* (repeatable)")
	fs.BoolVar(&f.all, "all-contexts", false, "ask the clusters of all kubeconfig contexts")
	fs.BoolVar(&f.each, "each", false, "read each file that -f names, or that is in a folder of -f, as a cluster of its own; a pattern of archives, as -f 'fleet/*.tgz', implies it")
	fs.IntVar(&f.parallel, "parallel", 0, "how many clusters to ask at a time (0: 8 over the network, and as many as there are processors from files)")
	completeFlag(cmd, "contexts", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		known, _ := contextNames(cmd)
		return offer(known, typed)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if s.member != nil {
			if err := s.member.choose(cmd); err != nil {
				return err
			}
			return run(cmd, f.rest(cmd, args))
		}
		members, err := f.members(cmd, args)
		if err != nil {
			return err
		}
		if members == nil {
			return run(cmd, args)
		}
		if err := f.suits(cmd); err != nil {
			return err
		}
		return newFleet(a, cmd, s, f.parallel, members).run(cmd.Context())
	}
}

// takesFiles reports whether the arguments of a command are files, as -f names them.
func takesFiles(cmd *cobra.Command) bool { return cmd.Name() == "check" }

// rest are the arguments that are left for the run of one cluster: files are what tells the clusters apart.
func (f *fleetFlags) rest(cmd *cobra.Command, args []string) []string {
	if takesFiles(cmd) && !f.live() {
		return nil
	}
	return args
}

// live reports whether clusters are asked, and not files.
func (f *fleetFlags) live() bool { return f.all || len(f.contexts) > 0 }

// members are the clusters to ask; nil where they are not several by name, but one as always.
func (f *fleetFlags) members(cmd *cobra.Command, args []string) ([]*member, error) {
	files, err := cmd.Flags().GetStringSlice("filename")
	if err != nil {
		return nil, err
	}
	if takesFiles(cmd) {
		files = slices.Concat(files, args)
	}
	overLive := cmd.Flags().Lookup("live").Changed
	switch {
	case f.live() && cmd.Flags().Changed("context"):
		return nil, usage("drop one of the two", "--context names one cluster, and cannot be given with --contexts or --all-contexts")
	case f.live() && f.each, f.live() && len(files) > 0 && !overLive:
		return nil, usage("drop -f, or add --live to apply the files to each cluster", "files and several contexts cannot be read together")
	case f.all && len(f.contexts) > 0:
		return nil, usage("drop one of the two", "--contexts and --all-contexts cannot be given together")
	case f.live():
		return f.contextMembers(cmd)
	case overLive:
		return nil, nil
	}
	return f.fileMembers(files)
}

// suits refuses what cannot be said of several clusters.
func (f *fleetFlags) suits(cmd *cobra.Command) error {
	format := cmd.Flags().Lookup("output").Value.String()
	watch := cmd.Flags().Lookup("watch")
	switch {
	case !slices.Contains(render.JoinedFormats(), format) || cmd.Flags().Changed("template"):
		return usage("use one of: "+strings.Join(render.JoinedFormats(), ", "), "-o %s cannot be written for several clusters", format)
	case watch != nil && watch.Changed:
		return usage("watch one of them with --context", "--watch cannot follow several clusters")
	case f.parallel < 0:
		return usage("0 chooses", "--parallel cannot be %d", f.parallel)
	}
	return nil
}

// contextMembers are the contexts that are named, in the order of their names.
func (f *fleetFlags) contextMembers(cmd *cobra.Command) ([]*member, error) {
	known, err := contextNames(cmd)
	if err != nil {
		return nil, err
	}
	chosen := known
	if !f.all {
		chosen = nil
		for _, pattern := range f.contexts {
			found := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name != pattern && !matches(pattern, name) })
			if len(found) == 0 {
				hint := "list them with: kubectl config get-contexts"
				if near := form.Nearest(pattern, known); len(near) > 0 {
					hint = "did you mean " + near[0] + "?"
				}
				return nil, usage(hint, "no context %q in the kubeconfig", pattern)
			}
			chosen = append(chosen, found...)
		}
		slices.Sort(chosen)
		chosen = slices.Compact(chosen)
	}
	if len(chosen) == 0 {
		return nil, &noAnswer{"the kubeconfig has no contexts", "set KUBECONFIG or --kubeconfig"}
	}
	out := make([]*member, len(chosen))
	for i, name := range chosen {
		out[i] = &member{name: name, context: name}
	}
	return out, nil
}

// contextNames are the contexts of the kubeconfig, sorted.
func contextNames(cmd *cobra.Command) ([]string, error) {
	config := kubeconfigFlags{file: cmd.Flags().Lookup("kubeconfig").Value.String()}
	raw, err := config.loader().RawConfig()
	if err != nil {
		return nil, kubeconfigError(err)
	}
	var out []string
	for name := range raw.Contexts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, nil
}

// matches reports whether a name is of a pattern, in which * stands for any text: contexts are called by addresses and the like.
func matches(pattern, name string) bool {
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

// isPattern reports whether a path is one that stands for several, and not that of a file with such a name.
func isPattern(path string) bool {
	if begin := strings.IndexByte(path, '['); !strings.ContainsAny(path, "*?") && (begin < 0 || !strings.Contains(path[begin:], "]")) {
		return false
	}
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// isArchive reports whether a file is, by its name, the archive of a snapshot.
func isArchive(path string) bool {
	return strings.HasSuffix(path, ".tgz") || strings.HasSuffix(path, ".tar.gz")
}

// fileMembers are the files that are a cluster each; nil if all of them are one.
func (f *fleetFlags) fileMembers(paths []string) ([]*member, error) {
	if !f.each {
		patterns := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !isPattern(p) })
		switch {
		case len(patterns) == 0:
			return nil, nil
		case !slices.ContainsFunc(paths, func(p string) bool { return !isArchive(p) }):
		default:
			return nil, usage("add --each to read every file as a cluster of its own, or name files and folders without a pattern", "%s is a pattern, not a file", patterns[0])
		}
	}
	if slices.Contains(paths, "-") {
		return nil, usage("save it to a file, and name that file", "standard input cannot be read as several clusters")
	}
	if len(paths) == 0 {
		return nil, usage("name snapshots, or folders of them, with -f", "--each needs files")
	}
	var found []string
	for _, path := range paths {
		some, err := expanded(path)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	slices.Sort(found)
	return fileNamed(slices.Compact(found)), nil
}

// expanded are the files and folders that a path, a pattern or what is in a folder stands for.
func expanded(path string) ([]string, error) {
	if isPattern(path) {
		found, err := filepath.Glob(path)
		switch {
		case err != nil:
			return nil, usage("the patterns are those of a shell: * ? [a-z]", "%s is not a pattern: %s", path, err)
		case len(found) == 0:
			return nil, &noAnswer{"no file matches " + path, "check the folder"}
		}
		return found, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // reading it says what is wrong
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, &noAnswer{fmt.Sprintf("reading %s: %s", path, err), ""}
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && (e.IsDir() || isArchive(name) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))) {
			out = append(out, filepath.Join(path, name))
		}
	}
	if len(out) == 0 {
		return nil, &noAnswer{path + " holds no snapshots or manifests", "their names end in .tgz, .yaml or .json"}
	}
	return out, nil
}

// fileNamed calls clusters by their files: by the name without its ending, or where two have the same by the path.
func fileNamed(paths []string) []*member {
	count := map[string]int{}
	for _, path := range paths {
		count[fileLabel(path)]++
	}
	out := make([]*member, len(paths))
	for i, path := range paths {
		name := fileLabel(path)
		if count[name] > 1 {
			name = filepath.ToSlash(path)
		}
		out[i] = &member{name: name, file: path}
	}
	return out
}

// fileLabel is the name of a file without its ending.
func fileLabel(path string) string {
	name := filepath.Base(filepath.Clean(path))
	for _, end := range []string{".tar.gz", ".tgz", ".yaml", ".yml", ".json"} {
		if short, ok := strings.CutSuffix(name, end); ok && short != "" {
			return short
		}
	}
	return name
}

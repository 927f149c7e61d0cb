package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
)

// FlagGroup are the flags of a command that are about one thing.
type FlagGroup struct {
	Title string // empty for the command's own
	Flags []*pflag.Flag
}

// commonGroup names the flags that many commands have and that are about one thing.
type commonGroup struct {
	title string
	often []string // shown by the help of each command
	// shown by `options`, and by the help of a command whose text names them
	rarely []string
}

// commonGroups lists the flags that many commands have.
func commonGroups() []commonGroup {
	return []commonGroup{
		{"Input", []string{"filename", "recursive", "kustomize", "namespace", "all-namespaces", "live", "complete",
			"policy-kind", "schemas"},
			[]string{"enable-helm", "source", "destination", "substitute", "substitute-from", "policy-kinds",
				"vendor-setting", "vendor-version", "assume", "crds", "validate", "max-document",
				"max-input", "max-settings", "max-steps"}},
		{"Output", []string{"output", "watch", "limit", "sort-by", "strict", "quiet", "verbose"},
			[]string{"redact", "color", "no-headers", "template", "allow-missing-template-keys", "v"}},
		{"Connection", []string{"context", "contexts", "kubeconfig", "as"},
			[]string{"all-contexts", "each", "parallel", "as-group", "as-uid", "as-user-extra", "request-timeout",
				"chunk-size", "cluster", "user", "server", "token", "certificate-authority", "client-certificate",
				"client-key", "insecure-skip-tls-verify", "tls-server-name", "disable-compression"}},
	}
}

// GroupFlags returns the flags of a command by what they are about, its own first. Those that are
// rarely needed are left out, unless all are asked for.
func GroupFlags(cmd *cobra.Command, all bool) []FlagGroup {
	out := []FlagGroup{{}}
	common := map[string]bool{}
	text := cmd.Long + cmd.Example
	for _, group := range commonGroups() {
		one := FlagGroup{Title: group.title}
		for i, name := range slices.Concat(group.often, group.rarely) {
			common[name] = true
			f := cmd.Flags().Lookup(name)
			if f != nil && (all || i < len(group.often) || strings.Contains(text, "--"+name+" ")) {
				one.Flags = append(one.Flags, f)
			}
		}
		if len(one.Flags) > 0 {
			out = append(out, one)
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !common[f.Name] && f.Name != "help" && (all || !f.Hidden) {
			out[0].Flags = append(out[0].Flags, f)
		}
	})
	if len(out[0].Flags) == 0 {
		out = out[1:]
	}
	return out
}

// hasRareFlags reports whether a command has flags that its help leaves out.
func hasRareFlags(cmd *cobra.Command) bool {
	count := func(groups []FlagGroup) (n int) {
		for _, g := range groups {
			n += len(g.Flags)
		}
		return n
	}
	return count(GroupFlags(cmd, true)) > count(GroupFlags(cmd, false))
}

// formatFlags writes flags below each other; width is that of the terminal, 0: any.
func formatFlags(flags []*pflag.Flag, width int) string {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	for _, f := range flags {
		one := *f
		one.Hidden, one.Value = false, completion.FlagValue(f)
		fs.AddFlag(&one)
	}
	return fs.FlagUsagesWrapped(width)
}

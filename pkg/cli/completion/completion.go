package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// Timeout is how long the input may take to be read while a shell waits for proposals.
const Timeout = 5 * time.Second

// Func returns the words that may stand where one is being typed, behind the arguments
// before it. Words that do not begin with what is typed are dropped later.
type Func func(s *source.Session, args []string, typed string) []string

// OpenFunc reads what the flags name: openInput or openKinds.
type OpenFunc func(f *source.Flags, ctx context.Context, env run.Environment) (*source.Session, error)

// AddToCommand completes the arguments of a command, and the flags whose values are in the input.
func AddToCommand(cmd *cobra.Command, env run.Environment, f *source.Flags, arguments Func) {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if arguments != nil {
		cmd.ValidArgsFunction = FromInput(env, f, (*source.Flags).Open, arguments)
	}
	anywhere := func(f *source.Flags, ctx context.Context, env run.Environment) (*source.Session, error) {
		all := *f
		all.Namespace, all.AllNamespaces = "", true
		return all.Open(ctx, env)
	}
	AddToFlag(cmd, "namespace", FromInput(env, f, anywhere, source.ListNamespaces))
	AddToFlag(cmd, "policy-kind", FromInput(env, f, (*source.Flags).OpenKinds, ProposePolicyKinds))
	AddToFlag(cmd, "vendor-setting", proposeSettings(env, f))
	AddToFlag(cmd, "vendor-version", proposeVersions(env))
	AddWordsToFlag(cmd, "schemas", source.SchemaUses())
	AddWordsToFlag(cmd, "validate", source.ValidateModes())
	_ = cmd.MarkFlagDirname("kustomize")
}

// FromInput reads the input as the command itself would. Nothing is printed, what goes wrong
// leaves nothing to propose, and nothing is read from standard input, which is the terminal.
func FromInput(env run.Environment, f *source.Flags, open OpenFunc, words Func) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), Timeout)
		defer stop()
		session, err := open(f, ctx, env.WithoutStreams())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Filter(words(session, args, typed), typed)
	}
}

// proposeVersions completes the vendors whose schemas come with the program, and behind the = their
// releases.
func proposeVersions(env run.Environment) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		catalogue, err := plugin.Schemas(env.Plugins)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		vendor, _, named := strings.Cut(typed, "=")
		var words []string
		for _, name := range catalogue.Vendors() {
			if !named {
				words = append(words, name+"=")
			}
		}
		for _, r := range catalogue.Releases(vendor) {
			if named {
				words = append(words, vendor+"="+r.Name)
			}
		}
		out, directive := Filter(words, typed)
		return out, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// proposeSettings completes the names of vendor settings, and behind the = their values.
func proposeSettings(env run.Environment, f *source.Flags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		engine, err := f.Engine(cmd.Context(), env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name, _, valued := strings.Cut(typed, "=")
		var words []string
		for _, known := range engine.Catalog().KnownSettings() {
			switch {
			case !valued:
				words = append(words, known.Name+"=")
			case known.Name == name:
				words = append(words, source.PrefixWords(name+"=", known.AllowedValues())...)
			}
		}
		return Filter(words, typed)
	}
}

// ProposePolicyKinds returns the policy kinds, each behind those that stand before it in a list
// with commas.
func ProposePolicyKinds(s *source.Session, _ []string, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var out []string
	for _, k := range s.Kinds {
		out = append(out, before+strings.ToLower(k.GroupKind.Kind))
	}
	return out
}

// ProposeForWord completes one word, an argument or the value of a flag, whatever the arguments
// before it are.
func ProposeForWord(words func(s *source.Session, typed string) []string) Func {
	return func(s *source.Session, _ []string, typed string) []string { return words(s, typed) }
}

// Filter returns the words that begin with what is typed, sorted, each once, without those
// that no terminal should get. No space is put behind a word that is to be continued: after / and
// =.
func Filter(words []string, typed string) ([]string, cobra.ShellCompDirective) {
	words = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(words))),
		func(w string) bool { return !strings.HasPrefix(w, typed) || escape.Escape(w) != w })
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasSuffix(w, "/") &&
			!strings.HasSuffix(w, "=")
	}) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return words, directive
}

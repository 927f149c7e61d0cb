package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/spf13/cobra"
)

// completionTime is how long the input may take to be read while a shell waits for proposals.
const completionTime = 5 * time.Second

// proposals are the words that may stand where one is being typed, behind the arguments before it. Those that do not begin with what is
// typed are dropped later.
type proposals func(s *session, args []string, typed string) []string

// opener reads what the flags name: open or openKinds.
type opener func(f *sourceFlags, ctx context.Context, plugins []plugin.Plugin, s Streams) (*session, error)

// completion completes the arguments of a command, and the flags whose values are in the input.
func (a App) completion(cmd *cobra.Command, f *sourceFlags, s Streams, arguments proposals) {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if arguments != nil {
		cmd.ValidArgsFunction = a.propose(f, s, (*sourceFlags).open, arguments)
	}
	anywhere := func(f *sourceFlags, ctx context.Context, plugins []plugin.Plugin, s Streams) (*session, error) {
		all := *f
		all.namespace, all.allNamespaces = "", true
		return all.open(ctx, plugins, s)
	}
	completeFlag(cmd, "namespace", a.propose(f, s, anywhere, namespaceWords))
	completeFlag(cmd, "policy-kind", a.propose(f, s, (*sourceFlags).openKinds, policyKindWords))
	completeFlag(cmd, "vendor-setting", proposeSettings(f, s, a.Plugins))
	_ = cmd.MarkFlagDirname("kustomize")
}

// propose reads the input as the command itself would. Nothing is printed, what goes wrong leaves nothing to propose, and nothing is read
// from standard input, which is the terminal.
func (a App) propose(f *sourceFlags, s Streams, open opener, words proposals) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		silent := s
		silent.In, silent.Out, silent.Err = strings.NewReader(""), io.Discard, io.Discard
		silent.ErrIsTTY = false
		session, err := open(f, ctx, a.Plugins, silent)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(words(session, args, typed), typed)
	}
}

// proposeSettings completes the names of vendor settings, and behind the = their values.
func proposeSettings(f *sourceFlags, s Streams, plugins []plugin.Plugin) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		engine, err := f.engine(plugins, s)
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
				words = append(words, prefixed(name+"=", known.Allowed())...)
			}
		}
		return offer(words, typed)
	}
}

// namespaceWords are the namespaces of the input.
func namespaceWords(s *session, _ []string, _ string) []string {
	var out []string
	for _, o := range s.Snapshot.Objects {
		switch {
		case o.Ref.Namespace != "":
			out = append(out, o.Ref.Namespace)
		case o.Ref.Group == "" && o.Ref.Kind == "Namespace":
			out = append(out, o.Ref.Name)
		}
	}
	return out
}

// policyKindWords are the policy kinds, each behind those that stand before it in a list with commas.
func policyKindWords(s *session, _ []string, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var out []string
	for _, k := range s.Kinds {
		out = append(out, before+strings.ToLower(k.GroupKind.Kind))
	}
	return out
}

// prefixed puts the prefix before each word.
func prefixed(prefix string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = prefix + w
	}
	return out
}

// everyArgument completes each of several arguments.
func everyArgument(words func(s *session, typed string) []string) proposals {
	return func(s *session, _ []string, typed string) []string { return words(s, typed) }
}

// inFlag completes the value of a flag, whatever the arguments are.
func inFlag(words func(s *session, typed string) []string) proposals {
	return func(s *session, _ []string, typed string) []string { return words(s, typed) }
}

// unique is the words sorted, each once.
func unique(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }

package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionTime is how long the input may take to be read while a shell waits for proposals.
const completionTime = 5 * time.Second

// proposalFunc returns the words that may stand where one is being typed, behind the arguments
// before it. Words that do not begin with what is typed are dropped later.
type proposalFunc func(s *session, args []string, typed string) []string

// openFunc reads what the flags name: openInput or openKinds.
type openFunc func(f *sourceFlags, ctx context.Context, env environment) (*session, error)

// addCompletion completes the arguments of a command, and the flags whose values are in the input.
func addCompletion(cmd *cobra.Command, env environment, f *sourceFlags, arguments proposalFunc) {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if arguments != nil {
		cmd.ValidArgsFunction = proposeFromInput(env, f, (*sourceFlags).openInput, arguments)
	}
	anywhere := func(f *sourceFlags, ctx context.Context, env environment) (*session, error) {
		all := *f
		all.namespace, all.allNamespaces = "", true
		return all.openInput(ctx, env)
	}
	completeFlag(cmd, "namespace", proposeFromInput(env, f, anywhere, listNamespaces))
	completeFlag(cmd, "policy-kind", proposeFromInput(env, f, (*sourceFlags).openKinds, proposePolicyKinds))
	completeFlag(cmd, "vendor-setting", proposeSettings(env, f))
	_ = cmd.MarkFlagDirname("kustomize")
}

// proposeFromInput reads the input as the command itself would. Nothing is printed, what goes wrong
// leaves nothing to propose, and nothing is read from standard input, which is the terminal.
func proposeFromInput(env environment, f *sourceFlags, open openFunc, words proposalFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		session, err := open(f, ctx, env.withoutStreams())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return filterProposals(words(session, args, typed), typed)
	}
}

// proposeSettings completes the names of vendor settings, and behind the = their values.
func proposeSettings(env environment, f *sourceFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		engine, err := f.engine(env)
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
				words = append(words, prefixWords(name+"=", known.AllowedValues())...)
			}
		}
		return filterProposals(words, typed)
	}
}

// listNamespaces returns the namespaces of the input.
func listNamespaces(s *session, _ []string, _ string) []string {
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

// proposePolicyKinds returns the policy kinds, each behind those that stand before it in a list
// with commas.
func proposePolicyKinds(s *session, _ []string, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var out []string
	for _, k := range s.Kinds {
		out = append(out, before+strings.ToLower(k.GroupKind.Kind))
	}
	return out
}

// prefixWords puts the prefix before each word.
func prefixWords(prefix string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = prefix + w
	}
	return out
}

// proposeForEachArgument completes each of several arguments.
func proposeForEachArgument(words func(s *session, typed string) []string) proposalFunc {
	return func(s *session, _ []string, typed string) []string { return words(s, typed) }
}

// proposeForFlag completes the value of a flag, whatever the arguments are.
func proposeForFlag(words func(s *session, typed string) []string) proposalFunc {
	return func(s *session, _ []string, typed string) []string { return words(s, typed) }
}

package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// addDiffCompletion completes the sides, which are mostly files, and the objects behind --delete.
func (f *diffFlags) addDiffCompletion(a App, cmd *cobra.Command, s Streams) {
	a.addCompletion(cmd, &f.sourceFlags, s, nil)
	side := func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, word := range []string{liveSide, gitPrefix} {
			if typed != "" && strings.HasPrefix(word, typed) {
				words = append(words, word)
			}
		}
		directive := cobra.ShellCompDirectiveDefault // files
		if slices.Contains(words, gitPrefix) {
			directive = cobra.ShellCompDirectiveNoSpace
		}
		return words, directive
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return side(cmd, args, typed)
	}
	completeFlag(cmd, "to-context", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		known, _ := listContexts(cmd)
		return filterProposals(known, typed)
	})
	completeFlag(cmd, "from", side)
	completeFlag(cmd, "to", side)
	completeFlag(cmd, "delete", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		return filterProposals(f.proposeDeletions(ctx, a.Plugins, s, args, typed), typed)
	})
	completeFlag(cmd, "namespace", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		x := f.readSecondSide(ctx, a.Plugins, s, args)
		if x == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, o := range x.in.Objects {
			if o.Ref.Namespace != "" {
				words = append(words, o.Ref.Namespace)
			}
		}
		return filterProposals(words, typed)
	})
}

// readSecondSide reads the second side as the command would and prints nothing; it returns nil if
// that fails.
func (f *diffFlags) readSecondSide(ctx context.Context, plugins []plugin.Plugin, s Streams, args []string) *kindIndex {
	silent := s
	silent.In, silent.Out, silent.Err, silent.ErrIsTTY = strings.NewReader(""), io.Discard, io.Discard, false
	all := *f
	all.deleted = []string{"any/thing"} // stands for what is being typed
	_, to, err := all.chooseSides(args)
	if err != nil {
		return nil
	}
	engine, err := all.engine(plugins, silent)
	if err != nil {
		return nil
	}
	r, err := all.newSideReader(engine, silent, to, to)
	if err != nil {
		return nil
	}
	in, err := r.readSide(ctx, to)
	if err != nil {
		return nil
	}
	if in, err = r.applyFiles(ctx, in); err != nil {
		return nil
	}
	return newKindIndex(in, engine.Catalog())
}

// proposeDeletions returns the words for --delete: kinds, and behind a kind its objects, with their
// namespaces where two have one name.
func (f *diffFlags) proposeDeletions(ctx context.Context, plugins []plugin.Plugin, s Streams, args []string, typed string) []string {
	x := f.readSecondSide(ctx, plugins, s, args)
	if x == nil {
		return nil
	}
	kind, _, behind := strings.Cut(typed, "/")
	var words []string
	if !behind {
		for _, gk := range x.in.Kinds() {
			words = append(words, strings.ToLower(gk.Kind)+"/")
		}
		return words
	}
	refs := x.listObjects(x.findKinds(kind), f.namespace)
	for _, ref := range refs {
		alike := 0
		for _, other := range refs {
			if other.Name == ref.Name {
				alike++
			}
		}
		if name := ref.FullName(); alike > 1 || f.namespace == "" {
			words = append(words, kind+"/"+name)
		} else {
			words = append(words, kind+"/"+ref.Name)
		}
	}
	return words
}

package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// complete completes the sides, which are mostly files, and the objects behind --delete.
func (f *diffFlags) complete(a App, cmd *cobra.Command, s Streams) {
	a.completion(cmd, &f.sourceFlags, s, nil)
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
		known, _ := contextNames(cmd)
		return offer(known, typed)
	})
	completeFlag(cmd, "from", side)
	completeFlag(cmd, "to", side)
	completeFlag(cmd, "delete", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		return offer(f.deletable(ctx, a.Plugins, s, args, typed), typed)
	})
	completeFlag(cmd, "namespace", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		x := f.secondSide(ctx, a.Plugins, s, args)
		if x == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, o := range x.in.Objects {
			if o.Ref.Namespace != "" {
				words = append(words, o.Ref.Namespace)
			}
		}
		return offer(words, typed)
	})
}

// secondSide reads the second side as the command would, without a word; nil if that fails.
func (f *diffFlags) secondSide(ctx context.Context, plugins []plugin.Plugin, s Streams, args []string) *kindIndex {
	silent := s
	silent.In, silent.Out, silent.Err, silent.ErrIsTTY = strings.NewReader(""), io.Discard, io.Discard, false
	all := *f
	all.deleted = []string{"any/thing"} // what is being typed
	_, to, err := all.sides(args)
	if err != nil {
		return nil
	}
	engine, err := all.engine(plugins, silent)
	if err != nil {
		return nil
	}
	r, err := all.reader(engine, silent, to, to)
	if err != nil {
		return nil
	}
	in, err := r.read(ctx, to)
	if err != nil {
		return nil
	}
	if in, err = r.lay(ctx, in); err != nil {
		return nil
	}
	return newKindIndex(in, engine.Catalog())
}

// deletable are the words for --delete: kinds, and behind a kind its objects, with their namespaces where two have one name.
func (f *diffFlags) deletable(ctx context.Context, plugins []plugin.Plugin, s Streams, args []string, typed string) []string {
	x := f.secondSide(ctx, plugins, s, args)
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
	refs := x.objects(x.kinds(kind), f.namespace)
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

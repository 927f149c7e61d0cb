package sides

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// AddCompletion completes the sides, which are mostly files, and the objects behind --delete.
func (f *Flags) AddCompletion(cmd *cobra.Command, env run.Environment) {
	completion.AddToCommand(cmd, env, &f.Source, nil)
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
	completion.AddToFlag(cmd, "to-context", func(cmd *cobra.Command, _ []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		known, _ := source.ListContexts(cmd)
		return completion.Filter(known, typed)
	})
	completion.AddToFlag(cmd, "from", side)
	completion.AddToFlag(cmd, "to", side)
	completion.AddToFlag(cmd, "delete", func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completion.Timeout)
		defer stop()
		return completion.Filter(f.proposeDeletions(ctx, env, args, typed), typed)
	})
	completion.AddToFlag(cmd, "namespace", func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completion.Timeout)
		defer stop()
		x := f.readSecondSide(ctx, env, args)
		if x == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, o := range x.in.Objects {
			if o.Ref.Namespace != "" {
				words = append(words, o.Ref.Namespace)
			}
		}
		return completion.Filter(words, typed)
	})
}

// readSecondSide reads the second side as the command would and prints nothing; it returns nil if
// that fails.
func (f *Flags) readSecondSide(ctx context.Context, env run.Environment, args []string) *kindIndex {
	silent := env.WithoutStreams()
	all := *f
	all.Deleted = []string{"any/thing"} // stands for what is being typed
	_, to, err := all.Choose(args, "")
	if err != nil {
		return nil
	}
	engine, err := all.Source.Engine(ctx, silent)
	if err != nil {
		return nil
	}
	r, err := all.NewReader(engine, silent.Streams, to, to)
	if err != nil {
		return nil
	}
	in, err := r.Read(ctx, to)
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
func (f *Flags) proposeDeletions(ctx context.Context, env run.Environment, args []string, typed string) []string {
	x := f.readSecondSide(ctx, env, args)
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
	refs := x.listObjects(x.findKinds(kind), f.Source.Namespace)
	for _, ref := range refs {
		alike := 0
		for _, other := range refs {
			if other.Name == ref.Name {
				alike++
			}
		}
		if name := ref.FullName(); alike > 1 || f.Source.Namespace == "" {
			words = append(words, kind+"/"+name)
		} else {
			words = append(words, kind+"/"+ref.Name)
		}
	}
	return words
}

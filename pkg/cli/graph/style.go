package graph

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// Style say how the picture looks.
type Style struct{ Layout, Theme string }

func (f *Style) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Layout, "layout", string(render.LayoutClusters), "layout of dot, svg and png: "+strings.Join(render.Layouts(), "|")+
		" (flat: one plain node per target and policy, for programs)")
	cmd.Flags().StringVar(&f.Theme, "theme", string(render.ThemeAuto), "colours of dot, svg and png: "+strings.Join(render.Themes(), "|")+
		" (auto: light; an SVG follows the viewer's dark mode)")
	completion.AddToFlag(cmd, "layout", cobra.FixedCompletions(render.Layouts(), cobra.ShellCompDirectiveNoFileComp))
	completion.AddToFlag(cmd, "theme", cobra.FixedCompletions(render.Themes(), cobra.ShellCompDirectiveNoFileComp))
}

// applyStyle sets the options of what writes the picture. Words that are no layout or theme are
// wrong usage.
func (o *Options) applyStyle() error {
	if !slices.Contains(render.Layouts(), o.Style.Layout) {
		return failure.Usage("use one of: "+strings.Join(render.Layouts(), ", "), "unknown layout %q", o.Style.Layout)
	}
	if !slices.Contains(render.Themes(), o.Style.Theme) {
		return failure.Usage("use one of: "+strings.Join(render.Themes(), ", "), "unknown theme %q", o.Style.Theme)
	}
	if o.Style.Layout == string(render.LayoutFlat) && !o.Scope.collapseGiven {
		o.Scope.Collapse = graph.CollapseNone // programs get everything
	}
	o.Query.Output.DOT = render.DOTOptions{Layout: render.Layout(o.Style.Layout), Theme: render.Theme(o.Style.Theme)}
	return nil
}

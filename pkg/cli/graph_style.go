package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// styleFlags say how the picture looks.
type styleFlags struct{ layout, theme string }

func (f *styleFlags) addStyleFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.layout, "layout", string(render.LayoutClusters), "layout of dot, svg and png: "+strings.Join(render.Layouts(), "|")+
		" (flat: one plain node per target and policy, for programs)")
	cmd.Flags().StringVar(&f.theme, "theme", string(render.ThemeAuto), "colours of dot, svg and png: "+strings.Join(render.Themes(), "|")+
		" (auto: light; an SVG follows the viewer's dark mode)")
	completeFlag(cmd, "layout", cobra.FixedCompletions(render.Layouts(), cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "theme", cobra.FixedCompletions(render.Themes(), cobra.ShellCompDirectiveNoFileComp))
}

// applyStyle sets the options of what writes the picture. Words that are no layout or theme are
// wrong usage.
func (g *graphFlags) applyStyle(q *queryFlags) error {
	if !slices.Contains(render.Layouts(), g.layout) {
		return newUsageError("use one of: "+strings.Join(render.Layouts(), ", "), "unknown layout %q", g.layout)
	}
	if !slices.Contains(render.Themes(), g.theme) {
		return newUsageError("use one of: "+strings.Join(render.Themes(), ", "), "unknown theme %q", g.theme)
	}
	if g.layout == string(render.LayoutFlat) && !g.collapseGiven {
		g.collapse = view.CollapseNone // programs get everything
	}
	q.dot = render.DOTOptions{Layout: render.Layout(g.layout), Theme: render.Theme(g.theme)}
	return nil
}

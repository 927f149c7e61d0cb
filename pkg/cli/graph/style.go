package graph

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// Style say how the picture looks.
type Style struct{ Layout, Theme string }

func (f *Style) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Layout, "layout", string(picture.LayoutClusters), "layout of dot, svg and png: "+
		strings.Join(picture.Layouts(), "|")+
		" (flat: one plain node per target and policy, for programs)")
	cmd.Flags().StringVar(&f.Theme, "theme", string(picture.ThemeAuto), "colours of dot, svg and png: "+
		strings.Join(picture.Themes(), "|")+
		" (auto: light; an SVG follows the viewer's dark mode)")
	completion.AddToFlag(cmd, "layout", cobra.FixedCompletions(picture.Layouts(), cobra.ShellCompDirectiveNoFileComp))
	completion.AddToFlag(cmd, "theme", cobra.FixedCompletions(picture.Themes(), cobra.ShellCompDirectiveNoFileComp))
}

// applyStyle sets the options of what writes the picture. Words that are no layout or theme are
// wrong usage.
func (o *Options) applyStyle() error {
	if !slices.Contains(picture.Layouts(), o.Style.Layout) {
		return failure.Usage("use one of: "+strings.Join(picture.Layouts(), ", "), "unknown layout %q", o.Style.Layout)
	}
	if !slices.Contains(picture.Themes(), o.Style.Theme) {
		return failure.Usage("use one of: "+strings.Join(picture.Themes(), ", "), "unknown theme %q", o.Style.Theme)
	}
	if o.Style.Layout == string(picture.LayoutFlat) && !o.Scope.collapseGiven {
		o.Scope.Collapse = graph.CollapseNone // programs get everything
	}
	o.Query.Output.DOT = picture.DOTOptions{Layout: picture.Layout(o.Style.Layout), Theme: picture.Theme(o.Style.Theme)}
	return nil
}

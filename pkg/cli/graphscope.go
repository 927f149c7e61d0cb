package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// defaultDepth is how far from its focus a graph goes.
const defaultDepth = 2

// graphScope says which part of everything is drawn, and how much of that.
type graphScope struct {
	focus    string
	depth    int
	affected string
	collapse string
	explicit bool // --collapse is the user's
	narrowed bool // a target or a selector is given
}

func (g *graphScope) add(a App, cmd *cobra.Command, q *question, s Streams) {
	fs := cmd.Flags()
	fs.StringVar(&g.focus, "focus", "", "only what is near this target or policy, as [KIND/]NAME[/SECTION]")
	fs.IntVar(&g.depth, "depth", defaultDepth, "how many edges from the focus to draw")
	fs.StringVar(&g.affected, "only-affected-by", "", "only where this policy, as [KIND/]NAME, is in force or overridden, with the policies that beat it or lose to it there")
	fs.StringVar(&g.collapse, "collapse", view.CollapseAuto, "merge nodes that look alike: "+strings.Join(view.CollapseLevels(), "|")+" (auto: in pictures, as far as needed)")
	// The flags were added just above, the only thing that can go wrong.
	completeFlag(cmd, "focus", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag(focusWords)))
	completeFlag(cmd, "only-affected-by", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag(policyWords)))
	complete(cmd, "collapse", view.CollapseLevels())
}

// focusWords are the targets and the policies.
func focusWords(s *session, typed string) []string {
	return append(targetWords(s, typed), policyWords(s, typed)...)
}

// check refuses flags that make no sense together.
func (g *graphScope) check(cmd *cobra.Command, args []string, labels string) error {
	g.explicit, g.narrowed = cmd.Flags().Changed("collapse"), len(args) > 0 || labels != ""
	switch {
	case g.focus != "" && len(args) > 0:
		return usage("a target is drawn with what is above and below it, a focus with what is near it: drop one of the two", "a target and --focus cannot be given together")
	case g.focus != "" && labels != "":
		return usage("drop one of the two", "a name and a selector cannot be given together")
	case g.focus == "" && cmd.Flags().Changed("depth"):
		return usage("give the starting point: --focus [KIND/]NAME[/SECTION]", "--depth needs --focus")
	case g.depth < 0:
		return usage("0 shows only the focus", "--depth cannot be %d", g.depth)
	case !slices.Contains(view.CollapseLevels(), g.collapse):
		return usage("use one of: "+strings.Join(view.CollapseLevels(), ", "), "unknown --collapse level %q", g.collapse)
	}
	return nil
}

// fill narrows what is drawn.
func (g *graphScope) fill(s *session, q *view.GraphQuery) error {
	if g.affected != "" {
		p, err := s.policy(g.affected)
		if err != nil {
			return err
		}
		if p.rule != "" {
			return usage("name the policy without a rule", "--only-affected-by takes a whole policy")
		}
		q.Affected = p.policy
		if !g.narrowed {
			q.Targets, q.Through = nil, nil // -n says where the policy is, not where it counts
		}
	}
	if g.focus == "" {
		return nil
	}
	q.Depth, q.Targets, q.Through = g.depth, nil, nil
	ids, p, err := s.focus(g.focus)
	q.Focus = ids
	if p != nil {
		q.On = []*policy.Policy{p}
	}
	return err
}

// focus finds what a picture is about: a target, or a policy. A word that is a policy kind says that it is a policy; a name without a kind is
// one only where no route has it.
func (s *session) focus(text string) ([]topology.NodeID, *policy.Policy, error) {
	head, _, deep := strings.Cut(text, "/")
	if deep && s.policyKind(head) == nil || !deep && (s.isRoute(text) || !s.isPolicy(text)) {
		_, ids, err := s.target([]string{text})
		return ids, nil, err
	}
	p, err := s.policy(text)
	if err == nil && p.rule != "" {
		err = usage("name the policy without a rule", "--focus takes a whole policy")
	}
	return nil, p.policy, err
}

// isRoute reports whether a route has the name.
func (s *session) isRoute(name string) bool {
	return slices.ContainsFunc(s.candidates(wanted{}), func(ref model.Ref) bool { return ref.Name == name })
}

// isPolicy reports whether a policy has the name.
func (s *session) isPolicy(name string) bool {
	return slices.ContainsFunc(s.Kinds, func(k *resolve.Kind) bool {
		return slices.ContainsFunc(k.Policies, func(p *policy.Policy) bool { return p.Ref().Name == name && s.inNamespace(p.Ref()) })
	})
}

// collapsed is the topology as the format shows it: pictures leave out what makes them unreadable, everything else only what it is told to.
func (g *graphScope) collapsed(t *view.Topology, format string) *view.Topology {
	switch render.Format(format) {
	case render.DOT, render.Mermaid, render.SVG, render.PNG:
		return t.Collapse(g.collapse, render.DOTOptions{}.Fits)
	}
	if g.explicit {
		return t.Collapse(g.collapse, render.DOTOptions{}.Fits)
	}
	return t
}

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// defaultDepth is how far from its focus a graph goes.
const defaultDepth = 2

// graphScope says which part of everything is drawn, and how much of that.
type graphScope struct {
	focus         string
	depth         int
	affected      string
	collapse      string
	collapseGiven bool // the user set --collapse
	narrowed      bool // a target or a selector is given
}

func (g *graphScope) addScopeFlags(a App, cmd *cobra.Command, q *queryFlags, s Streams) {
	fs := cmd.Flags()
	fs.StringVar(&g.focus, "focus", "", "only what is near this target or policy, as [KIND/]NAME[/SECTION]")
	fs.IntVar(&g.depth, "depth", defaultDepth, "how many edges from the focus to draw")
	fs.StringVar(&g.affected, "only-affected-by", "", "only where this policy, as [KIND/]NAME, is in force or overridden, with the policies that beat it or lose to it there")
	fs.StringVar(&g.collapse, "collapse", view.CollapseAuto, "merge nodes that look alike: "+strings.Join(view.CollapseLevels(), "|")+" (auto: in pictures, as far as needed)")
	// Hiding fails only for a flag that does not exist, and these were added just above.
	completeFlag(cmd, "focus", a.proposeFromInput(&q.sourceFlags, s, (*sourceFlags).openInput, proposeForFlag(proposeFocus)))
	completeFlag(cmd, "only-affected-by", a.proposeFromInput(&q.sourceFlags, s, (*sourceFlags).openInput, proposeForFlag(proposePolicies)))
	completeFlagFrom(cmd, "collapse", view.CollapseLevels())
}

// proposeFocus returns the targets and the policies.
func proposeFocus(s *session, typed string) []string {
	return append(proposeTargets(s, typed), proposePolicies(s, typed)...)
}

// checkScope refuses flags that make no sense together.
func (g *graphScope) checkScope(cmd *cobra.Command, args []string, labels string) error {
	g.collapseGiven, g.narrowed = cmd.Flags().Changed("collapse"), len(args) > 0 || labels != ""
	switch {
	case g.focus != "" && len(args) > 0:
		return newUsageError("a target is drawn with what is above and below it, a focus with what is near it: drop one of the two", "a target and --focus cannot be given together")
	case g.focus != "" && labels != "":
		return newUsageError("drop one of the two", "a name and a selector cannot be given together")
	case g.focus == "" && cmd.Flags().Changed("depth"):
		return newUsageError("give the starting point: --focus [KIND/]NAME[/SECTION]", "--depth needs --focus")
	case g.depth < 0:
		return newUsageError("0 shows only the focus", "--depth cannot be %d", g.depth)
	case !slices.Contains(view.CollapseLevels(), g.collapse):
		return newUsageError("use one of: "+strings.Join(view.CollapseLevels(), ", "), "unknown --collapse level %q", g.collapse)
	}
	return nil
}

// narrowQuery narrows the query to what the flags choose.
func (g *graphScope) narrowQuery(s *session, q *view.GraphQuery) error {
	if g.affected != "" {
		p, err := s.findPolicy(g.affected)
		if err != nil {
			return err
		}
		if p.rule != "" {
			return newUsageError("name the policy without a rule", "--only-affected-by takes a whole policy")
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
	ids, p, err := s.findFocus(g.focus)
	q.Focus = ids
	if p != nil {
		q.FocusPolicies = []*policy.Policy{p}
	}
	return err
}

// findFocus finds what a picture is about: a target, or a policy. A word that is a policy kind says
// that it is a policy; a name without a kind is one only where no route has it.
func (s *session) findFocus(text string) ([]topology.NodeID, *policy.Policy, error) {
	head, _, deep := strings.Cut(text, "/")
	if deep && s.findPolicyKinds(head) == nil || !deep && (s.hasRoute(text) || !s.hasPolicy(text)) {
		_, ids, err := s.findTarget([]string{text})
		return ids, nil, err
	}
	p, err := s.findPolicy(text)
	if err == nil && p.rule != "" {
		err = newUsageError("name the policy without a rule", "--focus takes a whole policy")
	}
	return nil, p.policy, err
}

// hasRoute reports whether a route has the name.
func (s *session) hasRoute(name string) bool {
	return slices.ContainsFunc(s.listCandidates(targetName{}), func(ref model.Ref) bool { return ref.Name == name })
}

// hasPolicy reports whether a policy has the name.
func (s *session) hasPolicy(name string) bool {
	return slices.ContainsFunc(s.Kinds, func(k *resolve.Kind) bool {
		return slices.ContainsFunc(k.Policies, func(p *policy.Policy) bool { return p.Ref().Name == name && s.isInNamespace(p.Ref()) })
	})
}

// collapseTopology returns the topology as the format shows it: pictures leave out what makes them
// unreadable, other formats only what the flags say.
func (g *graphScope) collapseTopology(t *view.Topology, format string) *view.Topology {
	switch render.Format(format) {
	case render.DOT, render.Mermaid, render.SVG, render.PNG:
		return t.Collapse(g.collapse, render.DOTOptions{}.Fits)
	}
	if g.collapseGiven {
		return t.Collapse(g.collapse, render.DOTOptions{}.Fits)
	}
	return t
}

package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// defaultDepth is how far from its focus a graph goes.
const defaultDepth = 2

// Scope says which part of everything is drawn, and how much of that.
type Scope struct {
	Focus         string
	Depth         int
	Affected      string
	Collapse      string
	collapseGiven bool // the user set --collapse
	depthGiven    bool // the user set --depth
	narrowed      bool // a target or a selector is given
}

func (g *Scope) addFlags(cmd *cobra.Command, env run.Environment, input *source.Flags) {
	fs := cmd.Flags()
	fs.StringVar(&g.Focus, "focus", "", "only what is near this target or policy, as [KIND/]NAME[/SECTION]")
	fs.IntVar(&g.Depth, "depth", defaultDepth, "how many edges from the focus to draw")
	fs.StringVar(&g.Affected, "only-affected-by", "",
		"only where this policy, as [KIND/]NAME, is in force or overridden, with the policies that override it or are overridden by it there")
	fs.StringVar(&g.Collapse, "collapse", graph.CollapseAuto, "merge nodes that look alike: "+
		strings.Join(graph.CollapseLevels(), "|")+" (auto: in pictures, as far as needed)")
	// The flags were added just above, the only thing that can go wrong.
	completion.AddToFlag(cmd, "focus", completion.FromInput(env, input, (*source.Flags).Open,
		completion.ProposeForWord(proposeFocus)))
	completion.AddToFlag(cmd, "only-affected-by", completion.FromInput(env, input, (*source.Flags).Open,
		completion.ProposeForWord(completion.ProposePolicies)))
	completion.AddWordsToFlag(cmd, "collapse", graph.CollapseLevels())
}

// proposeFocus returns the targets and the policies.
func proposeFocus(s *source.Session, typed string) []string {
	return append(completion.ProposeTargets(s, typed), completion.ProposePolicies(s, typed)...)
}

// noteGiven notes which flags the user gave.
func (g *Scope) noteGiven(cmd *cobra.Command) {
	g.collapseGiven, g.depthGiven = cmd.Flags().Changed("collapse"), cmd.Flags().Changed("depth")
}

// checkFlags refuses flags that make no sense together.
func (g *Scope) checkFlags(args []string, labels string) error {
	g.narrowed = len(args) > 0 || labels != ""
	switch {
	case g.Focus != "" && len(args) > 0:
		return failure.Usage(
			"a target is drawn with what is above and below it, a focus with what is near it: drop one of the two",
			"a target and --focus cannot be given together")
	case g.Focus != "" && labels != "":
		return failure.Usage("drop one of the two", "a name and a selector cannot be given together")
	case g.Focus == "" && g.depthGiven:
		return failure.Usage("give the starting point: --focus [KIND/]NAME[/SECTION]", "--depth needs --focus")
	case g.Depth < 0:
		return failure.Usage("0 shows only the focus", "--depth cannot be %d", g.Depth)
	case !slices.Contains(graph.CollapseLevels(), g.Collapse):
		return failure.Usage("use one of: "+strings.Join(graph.CollapseLevels(), ", "), "unknown --collapse level %q",
			g.Collapse)
	}
	return nil
}

// narrowQuery narrows the query to what the flags choose.
func (g *Scope) narrowQuery(s *source.Session, q *graph.Query) error {
	if g.Affected != "" {
		p, err := s.FindPolicy(g.Affected)
		if err != nil {
			return err
		}
		if p.Rule != "" {
			return failure.Usage("name the policy without a rule", "--only-affected-by takes a whole policy")
		}
		q.Affected = p.Policy
		if !g.narrowed {
			q.Targets, q.Through, q.Ingresses = nil, nil, nil // -n says where the policy is, not where it counts
		}
	}
	if g.Focus == "" {
		return nil
	}
	q.Depth, q.Targets, q.Through, q.Ingresses = g.Depth, nil, nil, nil
	ids, p, err := findFocus(s, g.Focus)
	q.Focus = ids
	if p != nil {
		q.FocusPolicies = []*policy.Policy{p}
	}
	return err
}

// widenQuery adds what matters to a namespace beside its objects: what its policies target elsewhere,
// and the way of the requests that are asked about. Where the namespace is only that of the
// kubeconfig, and nothing of it is drawn, everything is.
func (g *Scope) widenQuery(s *source.Session, q *graph.Query) {
	if q.Targets == nil || g.narrowed {
		return
	}
	way := q.RequestNodes
	if q.TakenPaths != nil {
		way = q.TakenPaths.Nodes()
	}
	q.Targets = append(q.Targets, selectRules(s, way)...)
	for _, k := range s.Kinds {
		for _, p := range k.Policies {
			if s.IsInNamespace(p.Ref()) {
				q.Targets = append(q.Targets, k.TargetsOf(p)...)
			}
		}
	}
	backend := func(id topology.NodeID) bool { return s.Node(id).Role == topology.Backend }
	if !s.Flags.NamespaceGiven && len(q.Ingresses) == 0 && len(slices.DeleteFunc(slices.Clone(q.Targets), backend)) == 0 {
		fmt.Fprintf(s.Streams.Err, "note: namespace %s has no routes, Gateways or policies: all namespaces are drawn\n",
			s.Flags.Namespace)
		q.Targets, q.Through, q.Ingresses = nil, nil, nil
	}
}

// selectRules returns the rules on the way of requests, which has what is above and below them; all
// of a way without rules.
func selectRules(s *source.Session, way []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range way {
		if s.Node(id).Role == topology.Rule {
			out = append(out, id)
		}
	}
	if out == nil {
		return way
	}
	return out
}

// findFocus finds what a picture is about: a target, or a policy. A word that is a policy kind says
// that it is a policy; a name without a kind is one only where no route has it.
func findFocus(s *source.Session, text string) ([]topology.NodeID, *policy.Policy, error) {
	head, _, deep := strings.Cut(text, "/")
	if deep && s.FindPolicyKinds(head) == nil || !deep && (s.HasRoute(text) || !s.HasPolicy(text)) {
		_, ids, err := s.FindTarget(text)
		return ids, nil, err
	}
	p, err := s.FindPolicy(text)
	if err == nil && p.Rule != "" {
		err = failure.Usage("name the policy without a rule", "--focus takes a whole policy")
	}
	return nil, p.Policy, err
}

// collapseTopology returns the topology as the format shows it: pictures leave out what makes them
// unreadable, other formats only what the flags say.
func (g *Scope) collapseTopology(t *graph.Topology, format string) *graph.Topology {
	switch render.Format(format) {
	case render.DOT, render.Mermaid, render.SVG, render.PNG:
		return t.Collapse(g.Collapse, picture.DOTOptions{}.Fits)
	}
	if g.collapseGiven {
		return t.Collapse(g.Collapse, picture.DOTOptions{}.Fits)
	}
	return t
}

package requirement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// conclusion gathers the results of one requirement.
type conclusion struct {
	evaluation   *evaluation
	req          *requirementCase
	tally        Tally
	unmet        map[unmetKey][]view.Path
	nodes        map[unmetKey]topology.NodeID
	unknown      map[string][]string // targets by the reason
	failed       map[string][]string
	refs         map[string]model.Ref // of targets, as they are told
	testFindings []testFinding        // for tests
}

// unmetKey tells findings apart.
type unmetKey struct {
	target         model.Ref
	message, found string
}

func newConclusion(j *evaluation, req *requirementCase) *conclusion {
	return &conclusion{evaluation: j, req: req, tally: Tally{Requirement: req.Requirement},
		unmet: map[unmetKey][]view.Path{}, nodes: map[unmetKey]topology.NodeID{},
		unknown: map[string][]string{}, failed: map[string][]string{}, refs: map[string]model.Ref{}}
}

// addTestFinding notes for tests what was found.
func (c *conclusion) addTestFinding(outcome string, target model.Ref, paths []view.Path, message string) {
	c.testFindings = append(c.testFindings, testFinding{c.req.Name, outcome, target, paths, message})
}

func (c *conclusion) concludeTargets() []model.Problem {
	req := c.req
	if req.budgets.areSpent() {
		c.tally.Failed++
		c.addTestFinding(failed, model.Ref{}, nil, errTooCostly.Error())
		return []model.Problem{c.costProblem()}
	}
	for i := range req.asked {
		c.countAnswer(&req.asked[i])
	}
	c.countUnknownRoutes()
	out := c.unmetFindings()
	out = append(out, c.groupByReason(c.failed, c.failureProblem)...)
	out = append(out, c.groupByReason(c.unknown, c.unknownProblem)...)
	if lists := c.evaluation.unknowns.listHiddenTargets(&req.selects); len(lists) > 0 {
		c.tally.Unknown++
		c.addTestFinding(unknown, model.Ref{}, nil, "forbidden: "+joinNames(lists))
		out = append(out, c.newProblem(model.RequirementUnknown, model.Warning,
			fmt.Sprintf("requirement %q is not judged on what is forbidden: %s", req.Name, joinNames(lists)),
			"ask for: get, list on "+joinNames(lists)))
	}
	if c.tally.Met+c.tally.NotMet+c.tally.Unknown+c.tally.Failed == 0 {
		c.tally.Nothing = true
		what, hint := req.counts.explainNothing(req.Requirement)
		out = append(out, c.newProblem(model.RequirementSelectsNothing, model.Warning,
			fmt.Sprintf("requirement %q selects nothing: %s", req.Name, what), hint))
	}
	slices.SortStableFunc(c.testFindings, func(a, b testFinding) int {
		return cmp.Compare(a.formatFinding(),
			b.formatFinding())
	})
	return out
}

// costProblem says that a requirement, or all of them, cost too much.
func (c *conclusion) costProblem() model.Problem {
	who, most := fmt.Sprintf("requirement %q costs too much", c.req.Name), c.req.budgets.own.most
	if !c.req.budgets.own.isSpent() {
		who, most = who+" together with the others", c.evaluation.budget.most
	}
	return c.newProblem(model.RequirementError, model.Error,
		fmt.Sprintf("%s: more than %d steps in all, nothing is said about it", who, most),
		"narrow it with select, or look at less")
}

// countAnswer counts one answer.
func (c *conclusion) countAnswer(a *placedQuestion) {
	q := &c.evaluation.questions[a.question]
	whereDoubted := c.req.where != nil && (c.req.where.allInForce || len(c.req.where.kinds) > 0 ||
		c.req.where.namespaceLabels)
	if q.skipped && (a.doubt == "" || !whereDoubted) {
		return
	}
	c.req.counts.passed[byWhere]++
	switch {
	case a.doubt != "":
		c.tally.Unknown++
		c.addTestFinding(unknown, a.place.Target, a.paths, a.doubt)
		c.unknown[a.doubt] = append(c.unknown[a.doubt], c.nameOf(a))
	case q.failure != "":
		c.tally.Failed++
		c.addTestFinding(failed, a.place.Target, a.paths, q.failure)
		c.failed[q.failure] = append(c.failed[q.failure], c.nameOf(a))
	case q.held:
		c.tally.Met++
	default:
		c.tally.NotMet++
		found := c.describeInForce(a.place)
		if a.protection >= 0 {
			found = strings.TrimPrefix(found+"; "+c.req.formatProtection(c.evaluation.protected[a.protection]), "; ")
		}
		key := unmetKey{a.place.Target, q.message, strings.TrimSuffix(found, "; ")}
		c.unmet[key] = append(c.unmet[key], a.paths...)
		c.nodes[key] = a.place.Node
	}
}

// nameOf is how messages call the target and the path of a question.
func (c *conclusion) nameOf(a *placedQuestion) string {
	name := a.place.Target.String()
	if via := view.PathsVia(a.paths, a.place.Target); via != "" {
		name += " via " + via
	}
	c.refs[name] = a.place.Target
	return name
}

// unmetFindings returns the findings where the requirement is not met, one for all paths to a
// target on which the same is found.
func (c *conclusion) unmetFindings() []model.Problem {
	var out []model.Problem
	for key, paths := range c.unmet {
		said := strings.TrimSuffix(strings.TrimSpace(key.message), ".")
		found := key.found
		c.addTestFinding(notMet, key.target, paths, strings.TrimSuffix(said+": "+found, ": "))
		if via := view.PathsVia(paths, key.target); via != "" {
			found = strings.TrimSpace(found + " via " + via)
		}
		message, target := strings.TrimSuffix(said+": "+found, ": "), key.target
		f := model.Problem{Code: c.req.Code(), Severity: c.req.Severity, Ref: &target, Message: message,
			Hint: "the requirement is at " + c.req.Origin.String() +
				"; see what is in force with: kubectl dopolicy effective"}
		if origin := findOrigin(c.evaluation.res.Node(c.nodes[key])); origin != (model.Origin{}) {
			f.Origin = &origin
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b model.Problem) int {
		return cmp.Or(a.Ref.Compare(*b.Ref),
			cmp.Compare(a.Message, b.Message))
	})
	return out
}

// findOrigin is the place of a node in the input: of the rule or the listener, where that is one.
func findOrigin(n *topology.Node) model.Origin {
	if n.Object == nil {
		return model.Origin{}
	}
	index := fmt.Sprint(n.Index)
	switch n.Role {
	case topology.Rule:
		return n.Object.OriginOf("spec", "rules", index)
	case topology.Listener:
		return n.Object.OriginOf("spec", "listeners", index)
	}
	return n.Object.Origin
}

// countUnknownRoutes counts the routes of which it is not known whether traffic comes to them on a
// path that is selected.
func (c *conclusion) countUnknownRoutes() {
	s := &c.req.selects
	g := c.evaluation.res.Graph
	if s.rules != nil { // it is about whole routes
		whole := *s
		whole.rules = nil
		s = &whole
	}
	for _, id := range g.Order(topology.All) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Hop > 0 || s.kinds != nil && !s.matchesKind(n) {
			continue
		}
		labels, known := c.evaluation.namespaceLabels(n.Ref)
		var ignored selectionCounts
		if selected, _ := s.matchesTarget(&ignored, n, labels, known); !selected {
			continue
		}
		if why := c.evaluation.unknowns.explainUnattached(s, id); why != "" {
			c.tally.Unknown++
			c.addTestFinding(unknown, n.Ref, nil, why)
			told := n.Ref.String()
			c.refs[told] = n.Ref
			c.unknown[why] = append(c.unknown[why], told)
		}
	}
}

// groupByReason makes one finding of every reason, with its targets.
func (c *conclusion) groupByReason(targets map[string][]string,
	tell func(why, on string) model.Problem) []model.Problem {
	var out []model.Problem
	for why, on := range targets {
		slices.Sort(on)
		on = slices.Compact(on)
		text := on[0]
		if len(on) > 1 {
			text = fmt.Sprintf("%d targets, such as %s", len(on), on[0])
		}
		f := tell(why, text)
		if len(on) == 1 {
			ref := c.refs[on[0]]
			f.Ref = &ref
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b model.Problem) int { return cmp.Compare(a.Message, b.Message) })
	return out
}

func (c *conclusion) newProblem(code model.Code, severity model.Severity, message, hint string) model.Problem {
	origin := c.req.Origin
	return model.Problem{Code: code, Severity: severity, Origin: &origin, Message: message, Hint: hint}
}

func (c *conclusion) failureProblem(why, on string) model.Problem {
	hint := ""
	if strings.Contains(why, "no such key") {
		hint = "test for the field with has(), or read it as .?field.orValue(…)"
	}
	if strings.Contains(why, "cost") {
		hint = "look at less, or narrow the requirement with select"
	}
	return c.newProblem(model.RequirementError, model.Error,
		fmt.Sprintf("requirement %q cannot be evaluated on %s: %s", c.req.Name, on, why), hint)
}

func (c *conclusion) unknownProblem(why, on string) model.Problem {
	hint := ""
	if len(c.req.unknownKinds) > 0 {
		hint = c.evaluation.suggestKind(c.req.unknownKinds[0])
	}
	return c.newProblem(model.RequirementUnknown, model.Warning,
		fmt.Sprintf("cannot tell whether requirement %q is met on %s: %s", c.req.Name, on, why), hint)
}

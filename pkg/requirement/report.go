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

// conclusion gathers what became of one requirement.
type conclusion struct {
	j       *judge
	req     *caseOf
	tally   Tally
	unmet   map[unmetKey][]view.Path
	nodes   map[unmetKey]topology.NodeID
	unknown map[string][]string // targets by the reason
	failed  map[string][]string
	refs    map[string]model.Ref // of targets, as they are told
	told    []told               // for tests
}

// unmetKey tells findings apart.
type unmetKey struct {
	target         model.Ref
	message, found string
}

func newConclusion(j *judge, req *caseOf) *conclusion {
	return &conclusion{j: j, req: req, tally: Tally{Requirement: req.Requirement}, unmet: map[unmetKey][]view.Path{}, nodes: map[unmetKey]topology.NodeID{},
		unknown: map[string][]string{}, failed: map[string][]string{}, refs: map[string]model.Ref{}}
}

// tell notes for tests what was found.
func (c *conclusion) tell(outcome string, target model.Ref, paths []view.Path, message string) {
	c.told = append(c.told, told{c.req.Name, outcome, target, paths, message})
}

func (c *conclusion) conclude() []model.Problem {
	req := c.req
	if c.tooDear() {
		c.tally.Failed++
		c.tell(failed, model.Ref{}, nil, "it costs too much")
		return []model.Problem{c.problem(model.RequirementError, model.Error, fmt.Sprintf("requirement %q costs too much: more than %d steps in all, nothing is said about it", req.Name, maxTotalCost),
			"narrow it with select, or look at less")}
	}
	for i := range req.asked {
		c.countAnswer(&req.asked[i])
	}
	c.openRoutes()
	out := c.unmetFindings()
	out = append(out, c.grouped(c.failed, c.failure)...)
	out = append(out, c.grouped(c.unknown, c.notKnown)...)
	if lists := c.j.doubts.hiddenTargets(&req.selects); len(lists) > 0 {
		c.tally.Unknown++
		c.tell(unknown, model.Ref{}, nil, list(lists)+" may not be read")
		out = append(out, c.problem(model.RequirementUnknown, model.Warning, fmt.Sprintf("requirement %q is not judged on what may not be read: %s", req.Name, list(lists)),
			"ask for: get, list on "+list(lists)))
	}
	if c.tally.Met+c.tally.NotMet+c.tally.Unknown+c.tally.Failed == 0 {
		c.tally.Nothing = true
		what, hint := req.funnel.nothing(req.Requirement)
		out = append(out, c.problem(model.RequirementSelectsNothing, model.Warning, fmt.Sprintf("requirement %q selects nothing: %s", req.Name, what), hint))
	}
	slices.SortStableFunc(c.told, func(a, b told) int { return cmp.Compare(a.text(), b.text()) })
	return out
}

func (c *conclusion) tooDear() bool {
	total := uint64(0)
	for i := range c.j.questions {
		if q := &c.j.questions[i]; q.req == c.req {
			total += q.cost
		}
	}
	return total > maxTotalCost
}

// countAnswer counts one answer.
func (c *conclusion) countAnswer(a *asked) {
	q := &c.j.questions[a.question]
	whereDoubted := c.req.where != nil && (c.req.where.everything || len(c.req.where.kinds) > 0 || c.req.where.namespaceLabels)
	if q.skipped && (a.doubt == "" || !whereDoubted) {
		return
	}
	c.req.funnel.passed[byWhere]++
	switch {
	case a.doubt != "":
		c.tally.Unknown++
		c.tell(unknown, a.place.Target, a.paths, a.doubt)
		c.unknown[a.doubt] = append(c.unknown[a.doubt], c.name(a))
	case q.failure != "":
		c.tally.Failed++
		c.tell(failed, a.place.Target, a.paths, q.failure)
		c.failed[q.failure] = append(c.failed[q.failure], c.name(a))
	case q.held:
		c.tally.Met++
	default:
		c.tally.NotMet++
		found := c.found(a.place)
		if a.protection >= 0 {
			found = strings.TrimPrefix(found+"; "+c.req.protectionText(c.j.protected[a.protection]), "; ")
		}
		key := unmetKey{a.place.Target, q.message, strings.TrimSuffix(found, "; ")}
		c.unmet[key] = append(c.unmet[key], a.paths...)
		c.nodes[key] = a.place.Node
	}
}

// name is how messages call what was asked about.
func (c *conclusion) name(a *asked) string {
	name := a.place.Target.String()
	if via := view.Via(a.paths, a.place.Target); via != "" {
		name += " via " + via
	}
	c.refs[name] = a.place.Target
	return name
}

// unmetFindings are the findings where the requirement is not met, one for all paths to a target on which the same is found.
func (c *conclusion) unmetFindings() []model.Problem {
	var out []model.Problem
	for key, paths := range c.unmet {
		said := strings.TrimSuffix(strings.TrimSpace(key.message), ".")
		found := key.found
		c.tell(notMet, key.target, paths, strings.TrimSuffix(said+": "+found, ": "))
		if via := view.Via(paths, key.target); via != "" {
			found = strings.TrimSpace(found + " via " + via)
		}
		message, target := strings.TrimSuffix(said+": "+found, ": "), key.target
		f := model.Problem{Code: c.req.Code(), Severity: c.req.Severity, Ref: &target, Message: message,
			Hint: "the requirement is at " + c.req.Origin.String() + "; see what is in force with: kubectl dopolicy effective"}
		if origin := originOf(c.j.res.Node(c.nodes[key])); origin != (model.Origin{}) {
			f.Origin = &origin
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b model.Problem) int { return cmp.Or(a.Ref.Compare(*b.Ref), cmp.Compare(a.Message, b.Message)) })
	return out
}

// originOf is the place of a node in the input: of the rule or the listener, where that is one.
func originOf(n *topology.Node) model.Origin {
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

// openRoutes counts the routes of which it is not known whether traffic comes to them on a way that is selected.
func (c *conclusion) openRoutes() {
	s := &c.req.selects
	g := c.j.res.Graph
	if s.rules != nil { // it is about whole routes
		whole := *s
		whole.rules = nil
		s = &whole
	}
	for _, id := range g.Order(topology.All) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Hop > 0 || s.kinds != nil && !s.kind(n) {
			continue
		}
		labels, known := c.j.namespaceLabels(n.Ref)
		var ignored funnel
		if selected, _ := s.target(&ignored, n, labels, known); !selected {
			continue
		}
		if why := c.j.doubts.unattached(s, id); why != "" {
			c.tally.Unknown++
			c.tell(unknown, n.Ref, nil, why)
			told := n.Ref.String()
			c.refs[told] = n.Ref
			c.unknown[why] = append(c.unknown[why], told)
		}
	}
}

// grouped makes one finding of every reason, with its targets.
func (c *conclusion) grouped(targets map[string][]string, tell func(why, on string) model.Problem) []model.Problem {
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

func (c *conclusion) problem(code model.Code, severity model.Severity, message, hint string) model.Problem {
	origin := c.req.Origin
	return model.Problem{Code: code, Severity: severity, Origin: &origin, Message: message, Hint: hint}
}

func (c *conclusion) failure(why, on string) model.Problem {
	hint := ""
	if strings.Contains(why, "no such key") {
		hint = "test for the field with has(), or read it as .?field.orValue(…)"
	}
	if strings.Contains(why, "cost") {
		hint = "look at less, or narrow the requirement with select"
	}
	return c.problem(model.RequirementError, model.Error, fmt.Sprintf("requirement %q cannot be evaluated on %s: %s", c.req.Name, on, why), hint)
}

func (c *conclusion) notKnown(why, on string) model.Problem {
	hint := ""
	if len(c.req.strange) > 0 {
		hint = c.j.strangeHint(c.req.strange[0])
	}
	return c.problem(model.RequirementUnknown, model.Warning, fmt.Sprintf("whether requirement %q is met on %s is not known: %s", c.req.Name, on, why), hint)
}

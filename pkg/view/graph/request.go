package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// GraphRequests says which requests a drawing marks the ways of, and how many there are, where more
// than one request is asked about.
type GraphRequests struct {
	Asked   string `json:"asked"`   // which requests, in words
	Classes int    `json:"classes"` // of requests, that no rule tells apart
	Taken   int    `json:"taken"`   // classes that a rule takes
	Untaken int    `json:"untaken"` // classes that no rule takes
	Rules   int    `json:"rules"`   // that take a class, or may
	Undrawn int    `json:"undrawn"` // of these rules, those that are not in the drawing
	// classes of which it is not known which rule takes them; the way by each rule that is known to
	// compete for them is marked
	Undecided []prove.Undecided `json:"undecided"`
	// what may get such requests as well and is not looked at, a sentence each
	LeftOut []string `json:"leftOut"`
}

// TakenPaths holds the paths of requests.
type TakenPaths struct {
	summary  GraphRequests
	nodes    []topology.NodeID
	steps    map[[2]topology.NodeID]bool // from one node of a way to another
	rules    map[topology.NodeID]bool
	problems []model.Problem
}

// Nodes returns the nodes on the paths.
func (t *TakenPaths) Nodes() []topology.NodeID { return t.nodes }

// FindTakenPaths finds the paths of all requests that are asked about; asked says in words which
// these are.
func FindTakenPaths(r *resolve.Resolution, m *request.Matcher, scope space.Scope, asked string) (*TakenPaths, error) {
	t := takenPathFinder{res: r, writer: requests.Writer{Collector: collect.NewForRequests(r, nil)},
		knownPaths: map[requests.RulePath]bool{}, markedNodes: map[topology.NodeID]bool{},
		undecided: map[undecidedReason]*undecidedClasses{}, reported: map[string]bool{},
		out: &TakenPaths{summary: GraphRequests{Asked: asked, Undecided: []prove.Undecided{},
			LeftOut: prove.ListUnexamined(r, m, scope.Destination)}, steps: map[[2]topology.NodeID]bool{},
			rules: map[topology.NodeID]bool{}}}
	if err := space.Walk(m, scope, t.addClass); err != nil {
		return nil, err
	}
	t.buildSummary()
	return t.out, nil
}

type takenPathFinder struct {
	res         *resolve.Resolution
	writer      requests.Writer
	out         *TakenPaths
	knownPaths  map[requests.RulePath]bool
	markedNodes map[topology.NodeID]bool
	undecided   map[undecidedReason]*undecidedClasses
	reported    map[string]bool
}

// undecidedClasses counts the classes of which something is not known for one reason.
type undecidedClasses struct {
	prove.Undecided
	command string // that makes a request of one of them
}

// undecidedReason is why it is not known what becomes of requests: which rule takes them, or only
// what the rule does with them.
type undecidedReason struct {
	why       string
	ruleKnown bool
	code      model.Code
}

// addClass marks the paths of one class.
func (t *takenPathFinder) addClass(c *space.Class) bool {
	t.out.summary.Classes++
	if why := requests.FindDoubt(c); why != "" {
		t.addUndecided(c, why)
		return true
	}
	t.markPath(c.Answer)
	t.addDecided(c, c.Answer)
	return true
}

// addDecided counts a class of which it is known which rule takes it, or that none does.
func (t *takenPathFinder) addDecided(c *space.Class, a *request.Answer) {
	if a.Rule == topology.None {
		t.out.summary.Untaken++
		return
	}
	t.out.summary.Taken++
	if a.Outcome == request.Conditional {
		t.countUndecided(c, undecidedReason{requests.FindCondition(a), true, model.NotEvaluated})
	}
}

// addUndecided marks the paths by all rules that may take a class. If these are one rule, or none,
// it is known which takes it.
func (t *takenPathFinder) addUndecided(c *space.Class, why string) {
	may := c.Possible
	if may == nil {
		may = []*request.Answer{c.Answer}
	}
	for _, a := range may {
		t.markPath(a)
	}
	if len(c.Possible) > 0 && !slices.ContainsFunc(may, func(a *request.Answer) bool {
		return a.RuleUncertain ||
			a.Rule != may[0].Rule
	}) {
		t.addDecided(c, may[0])
		return
	}
	code := model.NotEvaluated
	if c.Unknown == "" && requests.HasUncertainOrder(c.Answer) && !c.Answer.RuleUncertain {
		code = model.OrderUncertain
	}
	t.countUndecided(c, undecidedReason{why, false, code})
	for _, p := range c.Answer.Problems {
		if p.IsIncomplete() && c.Answer.RuleUncertain && !t.reported[p.Message] {
			t.reported[p.Message] = true
			t.out.problems = append(t.out.problems, p)
		}
	}
}

func (t *takenPathFinder) countUndecided(c *space.Class, reason undecidedReason) {
	u := t.undecided[reason]
	if u == nil {
		u = &undecidedClasses{prove.Undecided{Why: reason.why, Example: c.Request.Text},
			requests.FormatCommand(&c.Request)}
		t.undecided[reason] = u
	}
	u.Classes++
}

// markPath marks the path of an answer, if a rule takes the request.
func (t *takenPathFinder) markPath(a *request.Answer) {
	at := requests.RulePathOf(a)
	if a.Rule == topology.None || t.knownPaths[at] {
		return
	}
	t.knownPaths[at], t.out.rules[a.Rule] = true, true
	chain := requests.NodesOnPath(t.res, a)
	backends := t.writer.FindBackendNodes(a.Backends)
	for _, id := range slices.Concat(chain, backends) {
		if !t.markedNodes[id] {
			t.markedNodes[id] = true
			t.out.nodes = append(t.out.nodes, id)
		}
	}
	for i, from := range chain {
		for _, to := range chain[i+1:] {
			t.out.steps[[2]topology.NodeID{from, to}] = true
		}
	}
	for _, to := range backends {
		t.out.steps[[2]topology.NodeID{a.Rule, to}] = true
	}
}

// buildSummary sums up the classes, and says what is not known.
func (t *takenPathFinder) buildSummary() {
	said := &t.out.summary
	rules := map[model.Ref]bool{}
	for id := range t.out.rules {
		rules[t.res.Node(id).Ref] = true
	}
	said.Rules = len(rules)
	for reason, u := range t.undecided {
		p := model.Problem{Severity: model.Warning, Code: reason.code, Undecided: true, Hint: "one of them: " +
			u.command + "; kubectl dopolicy request says what may become of it"}
		of := view.FormatCount(u.Classes, "class of requests|classes of requests") + said.formatAsked()
		if reason.ruleKnown {
			p.Message = fmt.Sprintf("what becomes of %s after a rule took them is not known: %s", of, u.Why)
		} else {
			said.Undecided = append(said.Undecided, u.Undecided)
			p.Message = fmt.Sprintf("cannot tell which rule takes %s: %s", of, u.Why)
		}
		t.out.problems = append(t.out.problems, p)
	}
	slices.SortFunc(said.Undecided, func(a, b prove.Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
}

// formatAsked names the requests that are asked about, behind a noun; "" if all are.
func (q *GraphRequests) formatAsked() string {
	if rest, some := strings.CutPrefix(q.Asked, "requests "); some {
		return " " + rest
	}
	return ""
}

// maxLeftOut is how much of what is not looked at is said by name beside a picture.
const maxLeftOut = 3

// RequestLines says what becomes of the requests whose paths are marked; nothing if no class of
// requests is asked about.
func (t *Topology) RequestLines() []string {
	q := t.Requests
	if q == nil {
		return nil
	}
	text := q.Asked + ": " + q.formatCounts()
	if q.Undrawn > 0 {
		text += ", " + view.FormatCount(q.Undrawn, "of the rules is not drawn|of the rules are not drawn")
	}
	out := []string{text}
	for i, what := range q.LeftOut {
		if i == maxLeftOut-1 && len(q.LeftOut) > maxLeftOut {
			return append(out, fmt.Sprintf("not looked at: %d more", len(q.LeftOut)-i))
		}
		out = append(out, "not looked at: "+what)
	}
	return out
}

// formatCounts says how many classes rules take, and how many rules.
func (q *GraphRequests) formatCounts() string {
	all, rules := view.FormatCount(q.Classes, "class|classes"), view.FormatCount(q.Rules, "rule")
	switch open := q.Classes - q.Taken - q.Untaken; {
	case q.Classes == 0:
		return "none comes to a Gateway"
	case q.Untaken == q.Classes:
		return "no rule takes them (" + all + ")"
	case q.Taken == q.Classes:
		return all + ", taken by " + rules
	case open == 0:
		return fmt.Sprintf("%s, %d taken by %s, %d by none", all, q.Taken, rules, q.Untaken)
	default:
		return fmt.Sprintf("%s, %d taken by a rule, %d by none, %d not known; %s", all, q.Taken, q.Untaken, open,
			view.FormatCount(q.Rules, "rule takes them, or may|rules take them, or may"))
	}
}

// addRequests adds the summary of the requests whose paths are marked, if it is more than one
// request.
func (d *topologyBuilder) addRequests(t *Topology) {
	ways := d.query.TakenPaths
	if ways == nil {
		return
	}
	drawn := make(map[string]bool, len(t.Nodes))
	for i := range t.Nodes {
		drawn[t.Nodes[i].ID] = true
	}
	said, missing := ways.summary, map[string]bool{}
	for id := range ways.rules {
		if name := nodeID(d.res.Node(id)); !drawn[name] {
			missing[name] = true
		}
	}
	said.Undrawn = len(missing)
	t.Requests = &said
}

// isOnTakenPath reports whether a marked path leads from one node to another. If there are several
// paths, one may pass only the first node and another only the second.
func (d *topologyBuilder) isOnTakenPath(from, to topology.NodeID) bool {
	switch ways := d.query.TakenPaths; {
	case !d.requestNodes[from] || !d.requestNodes[to]:
		return false
	case ways == nil || d.res.Node(from).Role == topology.Backend: // its ports
		return true
	default:
		return ways.steps[[2]topology.NodeID{from, to}]
	}
}

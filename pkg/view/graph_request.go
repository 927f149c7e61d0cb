package view

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
)

// GraphRequests says which requests a drawing marks the ways of, and how many there are, where more than one request is asked about.
type GraphRequests struct {
	Asked     string      `json:"asked"`     // which requests, in words
	Classes   int         `json:"classes"`   // of requests, that no rule tells apart
	Taken     int         `json:"taken"`     // classes that a rule takes
	Untaken   int         `json:"untaken"`   // classes that no rule takes
	Rules     int         `json:"rules"`     // that take a class, or may
	Undrawn   int         `json:"undrawn"`   // of these rules, those that are not in the drawing
	Undecided []Undecided `json:"undecided"` // classes of which it is not known which rule takes them; the way by each rule that is known to compete for them is marked
	LeftOut   []string    `json:"leftOut"`   // what may get such requests as well and is not looked at, a sentence each
}

// WaysTaken are the ways of requests.
type WaysTaken struct {
	said     GraphRequests
	nodes    []topology.NodeID
	steps    map[[2]topology.NodeID]bool // from one node of a way to another
	rules    map[topology.NodeID]bool
	problems []model.Problem
}

// TakenBy finds the ways of all requests that are asked about; asked says in words which these are.
func TakenBy(r *resolve.Resolution, m *request.Matcher, scope space.Scope, asked string) (*WaysTaken, error) {
	t := takingWays{res: r, w: requestWriter{survey: newCollector(r, nil)}, known: map[way]bool{}, marked: map[topology.NodeID]bool{}, open: map[openReason]*openClasses{}, told: map[string]bool{},
		out: &WaysTaken{said: GraphRequests{Asked: asked, Undecided: []Undecided{}, LeftOut: unlooked(r, m, scope.Where)}, steps: map[[2]topology.NodeID]bool{}, rules: map[topology.NodeID]bool{}}}
	if err := space.Walk(m, scope, t.class); err != nil {
		return nil, err
	}
	t.finish()
	return t.out, nil
}

type takingWays struct {
	res    *resolve.Resolution
	w      requestWriter
	out    *WaysTaken
	known  map[way]bool
	marked map[topology.NodeID]bool
	open   map[openReason]*openClasses
	told   map[string]bool
}

// openClasses are the classes of which something is not known for one reason.
type openClasses struct {
	Undecided
	command string // that makes a request of one of them
}

// openReason is why it is not known what becomes of requests: of the rule that takes them, or only of what it does with them.
type openReason struct {
	why     string
	settled bool
	code    model.Code
}

// class marks the ways of one class.
func (t *takingWays) class(c *space.Class) bool {
	t.out.said.Classes++
	if why := doubtAbout(c); why != "" {
		t.doubtful(c, why)
		return true
	}
	t.mark(c.Answer)
	t.settled(c, c.Answer)
	return true
}

// settled counts a class of which it is known which rule takes it, or that none does.
func (t *takingWays) settled(c *space.Class, a *request.Answer) {
	if a.Rule == topology.None {
		t.out.said.Untaken++
		return
	}
	t.out.said.Taken++
	if a.Outcome == request.Conditional {
		t.note(c, openReason{depends(a), true, model.NotEvaluated})
	}
}

// doubtful marks the ways by all rules that may take a class. Where these are one rule, or none, it is known which takes it.
func (t *takingWays) doubtful(c *space.Class, why string) {
	may := c.Possible
	if may == nil {
		may = []*request.Answer{c.Answer}
	}
	for _, a := range may {
		t.mark(a)
	}
	if len(c.Possible) > 0 && !slices.ContainsFunc(may, func(a *request.Answer) bool { return a.Unsettled || a.Rule != may[0].Rule }) {
		t.settled(c, may[0])
		return
	}
	code := model.NotEvaluated
	if c.Unknown == "" && uncertain(c.Answer) && !c.Answer.Unsettled {
		code = model.OrderUncertain
	}
	t.note(c, openReason{why, false, code})
	for _, p := range c.Answer.Problems {
		if p.Incomplete() && c.Answer.Unsettled && !t.told[p.Message] {
			t.told[p.Message] = true
			t.out.problems = append(t.out.problems, p)
		}
	}
}

func (t *takingWays) note(c *space.Class, reason openReason) {
	u := t.open[reason]
	if u == nil {
		u = &openClasses{Undecided{Why: reason.why, Example: c.Request.Text}, command(&c.Request)}
		t.open[reason] = u
	}
	u.Classes++
}

// mark marks the way of an answer, if a rule takes the request.
func (t *takingWays) mark(a *request.Answer) {
	at := wayOf(a)
	if a.Rule == topology.None || t.known[at] {
		return
	}
	t.known[at], t.out.rules[a.Rule] = true, true
	chain := chainOf(t.res, a)
	backends := t.w.backends(a.Backends)
	for _, id := range slices.Concat(chain, backends) {
		if !t.marked[id] {
			t.marked[id] = true
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

// chainOf are the nodes that a request passes up to the rule that takes it, in the order in which it does.
func chainOf(r *resolve.Resolution, a *request.Answer) []topology.NodeID {
	var out []topology.NodeID
	up := func(id topology.NodeID) []topology.NodeID { return r.Graph.Parents(topology.Traffic, id) }
	if a.Gateway != topology.None {
		out = append(slices.Clone(up(a.Gateway)), a.Gateway)
		if a.Listener != topology.None { // a ListenerSet between the two
			out = append(out, slices.DeleteFunc(slices.Clone(up(a.Listener)), func(id topology.NodeID) bool { return id == a.Gateway })...)
		}
	}
	if a.Listener != topology.None {
		out = append(out, a.Listener)
	}
	return slices.DeleteFunc(append(out, a.Route, a.Rule), func(id topology.NodeID) bool { return id == topology.None })
}

// finish says what is not known.
func (t *takingWays) finish() {
	said := &t.out.said
	rules := map[model.Ref]bool{}
	for id := range t.out.rules {
		rules[t.res.Node(id).Ref] = true
	}
	said.Rules = len(rules)
	for reason, u := range t.open {
		p := model.Problem{Severity: model.Warning, Code: reason.code, Undecided: true, Hint: "one of them: " + u.command + "; kubectl dopolicy request says what may become of it"}
		of := Counted(u.Classes, "class of requests|classes of requests") + said.of()
		if reason.settled {
			p.Message = fmt.Sprintf("what becomes of %s after a rule took them is not known: %s", of, u.Why)
		} else {
			said.Undecided = append(said.Undecided, u.Undecided)
			p.Message = fmt.Sprintf("which rule takes %s is not known: %s", of, u.Why)
		}
		t.out.problems = append(t.out.problems, p)
	}
	slices.SortFunc(said.Undecided, func(a, b Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
}

// of names the requests that are asked about, behind a noun; "" if all are.
func (q *GraphRequests) of() string {
	if rest, some := strings.CutPrefix(q.Asked, "requests "); some {
		return " " + rest
	}
	return ""
}

// mostLeftOut is how much of what is not looked at is said by name beside a picture.
const mostLeftOut = 3

// RequestsLines say what becomes of the requests whose ways are marked; none if no class of requests is asked about.
func (t *Topology) RequestsLines() []string {
	q := t.Requests
	if q == nil {
		return nil
	}
	text := q.Asked + ": " + q.counts()
	if q.Undrawn > 0 {
		text += ", " + Counted(q.Undrawn, "of the rules is not drawn|of the rules are not drawn")
	}
	out := []string{text}
	for i, what := range q.LeftOut {
		if i == mostLeftOut-1 && len(q.LeftOut) > mostLeftOut {
			return append(out, fmt.Sprintf("not looked at: %d more", len(q.LeftOut)-i))
		}
		out = append(out, "not looked at: "+what)
	}
	return out
}

// counts says how many classes rules take, and how many rules.
func (q *GraphRequests) counts() string {
	all, rules := Counted(q.Classes, "class|classes"), Counted(q.Rules, "rule")
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
		return fmt.Sprintf("%s, %d taken by a rule, %d by none, %d not known; %s", all, q.Taken, q.Untaken, open, Counted(q.Rules, "rule takes them, or may|rules take them, or may"))
	}
}

// requests says what the drawing marks the ways of, if it is more than one request.
func (d *drawing) requests(t *Topology) {
	ways := d.query.Ways
	if ways == nil {
		return
	}
	drawn := make(map[string]bool, len(t.Nodes))
	for i := range t.Nodes {
		drawn[t.Nodes[i].ID] = true
	}
	said, missing := ways.said, map[string]bool{}
	for id := range ways.rules {
		if name := nodeID(d.res.Node(id)); !drawn[name] {
			missing[name] = true
		}
	}
	said.Undrawn = len(missing)
	t.Requests = &said
}

// passes reports whether what is marked goes from one node to another. Of several ways, some may pass the one and others the other.
func (d *drawing) passes(from, to topology.NodeID) bool {
	switch ways := d.query.Ways; {
	case !d.taken[from] || !d.taken[to]:
		return false
	case ways == nil || d.res.Node(from).Role == topology.Backend: // its ports
		return true
	default:
		return ways.steps[[2]topology.NodeID{from, to}]
	}
}

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
	t := takingWays{res: r, w: requestWriter{survey: newCollector(r, nil)}, known: map[way]bool{}, marked: map[topology.NodeID]bool{}, open: map[openReason]*Undecided{}, told: map[string]bool{},
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
	open   map[openReason]*Undecided
	told   map[string]bool
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
	t.count(c.Answer)
	if c.Answer.Outcome == request.Conditional {
		t.note(c, openReason{depends(c.Answer), true, model.NotEvaluated})
	}
	return true
}

// count counts a class of which it is known which rule takes it, or that none does.
func (t *takingWays) count(a *request.Answer) {
	if a.Rule == topology.None {
		t.out.said.Untaken++
	} else {
		t.out.said.Taken++
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
	if len(c.Possible) > 0 && !slices.ContainsFunc(may, func(a *request.Answer) bool { return a.Rule != may[0].Rule }) {
		t.count(may[0])
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
		u = &Undecided{Why: reason.why, Example: c.Request.Text}
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
	for i, to := range backends {
		t.out.steps[[2]topology.NodeID{a.Rule, to}] = true
		if i > 0 { // a port of it
			t.out.steps[[2]topology.NodeID{backends[i-1], to}] = true
		}
	}
}

// chainOf are the nodes that a request passes up to its rule, in the order in which it does.
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
	return append(append(out, handedOver(r, a.Route)...), stepsOf(&request.Answer{Gateway: topology.None, Listener: topology.None, Route: a.Route, Rule: a.Rule})...)
}

// handedOver are the routes and rules that handed a request over, one after the other, until a route got it.
func handedOver(r *resolve.Resolution, route topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for at := route; at != topology.None; {
		next := topology.None
		for _, rule := range r.Graph.Parents(topology.Traffic, at) {
			if r.Node(rule).Role != topology.Rule {
				continue
			}
			if routes := r.Graph.Parents(topology.Traffic, rule); len(routes) > 0 {
				next = routes[0]
				out = append(out, rule, next)
			}
			break
		}
		at = next
	}
	slices.Reverse(out)
	return out
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
		p := model.Problem{Severity: model.Warning, Code: reason.code, Undecided: true, Hint: "one of them is " + u.Example + "; ask about it with: kubectl dopolicy request"}
		of := Counted(u.Classes, "class of requests|classes of requests") + said.of()
		if reason.settled {
			p.Message = fmt.Sprintf("what becomes of %s is not known, but for the rule that takes them: %s", of, u.Why)
		} else {
			said.Undecided = append(said.Undecided, *u)
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

// RequestsLine says in a sentence what becomes of the requests whose ways are marked; "" if no class of requests is asked about.
func (t *Topology) RequestsLine() string {
	q := t.Requests
	if q == nil {
		return ""
	}
	open := q.Classes - q.Taken - q.Untaken
	text := q.Asked + ": "
	switch {
	case q.Classes == 0:
		text += "none comes to a Gateway"
	case q.Rules == 0 && open == 0:
		text += fmt.Sprintf("no rule takes them (%s)", Counted(q.Classes, "class|classes"))
	case open == 0:
		text += fmt.Sprintf("%s, %d taken by %s, %d by none", Counted(q.Classes, "class|classes"), q.Taken, Counted(q.Rules, "rule"), q.Untaken)
	default:
		text += fmt.Sprintf("%s, %d taken by a rule, %d by none, %d not known; %s", Counted(q.Classes, "class|classes"), q.Taken, q.Untaken, open,
			Counted(q.Rules, "rule takes them, or may|rules take them, or may"))
	}
	if q.Undrawn > 0 {
		text += fmt.Sprintf(", %d of them not drawn", q.Undrawn)
	}
	const most = 2
	for i, what := range q.LeftOut {
		if i == most && len(q.LeftOut) > most+1 {
			return text + fmt.Sprintf("; and %d more", len(q.LeftOut)-most)
		}
		text += "; not looked at: " + what
	}
	return text
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

// passes reports whether what is marked goes from one node to another.
func (d *drawing) passes(from, to topology.NodeID) bool {
	return d.taken[from] && d.taken[to] && (d.query.Ways == nil || d.query.Ways.steps[[2]topology.NodeID{from, to}])
}

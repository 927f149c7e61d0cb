package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// BehaviorQuery is what is compared.
type BehaviorQuery struct {
	Kinds     []model.GroupKind // of policies; nil: all
	Namespace string            // only requests that routes of it take on a side; "": all
	Protects  []model.GroupKind // policy kinds that keep requests out; nil: those of which their descriptions say so, and those of which nothing is known
	Log       *AccessLog        // nil: none
}

// Behavior compares what every request gets in two inputs. Names of routes, rules and policies are not compared.
func Behavior(before, after DiffInput, q BehaviorQuery) (*BehaviorDiff, error) {
	d := &behavior{q: &q, log: newLogCount(q.Log), unsure: map[string]*Undecided{}, at: map[string]int{}, kinds: map[string]bool{}}
	d.out = &BehaviorDiff{Items: []BehaviorChange{}, Undecided: []Undecided{}, LeftOut: []string{}, Protects: []string{}}
	var sides [2]space.Side
	for i, in := range []DiffInput{before, after} {
		d.sides[i] = newReacting(in, &q)
		sides[i] = space.Side{Matcher: in.Matcher, Apart: d.sides[i].protector.apart, Name: func(id topology.NodeID) model.Ref { return in.Resolution.Node(id).Ref }}
	}
	if err := space.Compare(sides[0], sides[1], space.Scope{Where: space.Everywhere()}, d.pair); err != nil {
		return nil, err
	}
	if err := d.settle(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// behavior compares, class by class.
type behavior struct {
	q      *BehaviorQuery
	sides  [2]*reacting
	out    *BehaviorDiff
	found  []changed
	at     map[string]int // by what changes: its place among those found
	unsure map[string]*Undecided
	kinds  map[string]bool // that protect
	log    *logCount
}

// changed is a change with its classes.
type changed struct {
	of            BehaviorChange
	before, after *reaction
	least         *space.Pair
	n             int
}

// pair compares the two sides of a class.
func (d *behavior) pair(p *space.Pair) bool {
	classes := [2]*space.Class{p.Before, p.After}
	if !d.asked(classes) {
		return true
	}
	d.out.Classes++
	var got [2]*reaction
	why := ""
	for i, c := range classes {
		got[i] = d.sides[i].of(c)
		if why == "" {
			why = got[i].doubt
		}
		for _, kind := range append(slices.Clone(got[i].protected), got[i].denied...) {
			d.kinds[kind] = true
		}
	}
	found := unlike
	switch {
	case why != "":
		found = d.compare(classes, got)
	case got[0].print == got[1].print:
		found = alike
	}
	switch found {
	case mayDiffer:
		d.undecided(p, why)
	case unlike:
		d.changes(p, got[0], got[1])
	}
	return true
}

// asked reports whether a class is one of those that are asked about.
func (d *behavior) asked(classes [2]*space.Class) bool {
	if d.q.Namespace == "" {
		return true
	}
	for i, c := range classes {
		if c == nil {
			continue
		}
		if c.Unknown != "" || c.Answer.Unsettled || c.Answer.Route != topology.None && d.sides[i].survey.res.Node(c.Answer.Route).Ref.Namespace == d.q.Namespace {
			return true
		}
	}
	return false
}

// compared is what is known of two sides of which not everything is.
type compared uint8

const (
	mayDiffer compared = iota // they may be the same or not
	alike
	unlike
)

// compare tells whether what is not known of a class can be a change. It cannot, if every rule that may take it gives the same on both sides, or if
// the same is open on both sides between the same rules. It is one, whatever is true, if no rule that may take it before gives what one gives after.
func (d *behavior) compare(classes [2]*space.Class, got [2]*reaction) compared {
	var all [2][]string
	settled := true
	for i, c := range classes {
		if c == nil || got[i].doubt == "" {
			all[i] = []string{got[i].plain}
			continue
		}
		if c.Unknown != "" || got[i].handed {
			return mayDiffer
		}
		settled = settled && got[i].tie
		for _, rule := range c.Rivals() {
			print, known := d.sides[i].rival(c.Answer, rule)
			if !known {
				return mayDiffer
			}
			all[i] = append(all[i], print)
		}
	}
	other := func(side int, than string) bool {
		return slices.ContainsFunc(all[side], func(s string) bool { return s != than })
	}
	switch {
	case got[0].doubt == got[1].doubt && got[0].print == got[1].print && slices.Equal(slices.Compact(all[0]), slices.Compact(all[1])):
		return alike
	case settled && got[0].print == got[1].print && !other(0, got[0].plain) && !other(1, got[0].plain):
		return alike
	case settled && !slices.ContainsFunc(all[0], func(s string) bool { return slices.Contains(all[1], s) }):
		return unlike
	}
	return mayDiffer
}

func (d *behavior) undecided(p *space.Pair, why string) {
	u := d.unsure[why]
	if u == nil {
		u = &Undecided{Why: why, Example: p.Any().Request.Text}
		d.unsure[why] = u
	}
	u.Classes++
}

// changes notes a class for which something changes.
func (d *behavior) changes(p *space.Pair, before, after *reaction) {
	found := d.opened(before, after)
	access, reason := found.access, found.reason
	if access == "" && len(found.doubts) == 0 && d.opened(after, before).access != "" {
		access = AccessClosed
	}
	d.out.Changed++
	for _, doubt := range found.doubts {
		d.undecided(p, doubt)
	}
	shifts := d.shifts(before, after)
	for i := range shifts {
		if protectionChange(shifts[i].Property, &shifts[i].Before, &shifts[i].After) == protectionLost {
			*d.out.Loses.of(shifts[i].Property)++
		}
	}
	key := strings.Join([]string{before.alike, before.names, after.alike, after.names, access, reason, shiftsText(shifts)}, "\x00")
	at, known := d.at[key]
	if !known {
		at = len(d.found)
		d.at[key] = at
		d.found = append(d.found, changed{before: before, after: after, of: BehaviorChange{Access: access, Reason: reason, Changes: whatChanges(before, after), Protection: shifts, Policies: settingChanges(before, after), lost: found.lost}})
	}
	c := &d.found[at]
	c.n++
	switch access {
	case AccessOpened:
		d.out.Opened++
	case AccessClosed:
		d.out.Closed++
	}
	if c.least == nil || smaller(&p.Any().Request, &c.least.Any().Request) {
		c.least = p
	}
	if one := p.Any(); len(c.of.Classes) < mostBehaviorClasses {
		c.of.Classes = append(c.of.Classes, ChangedClass{one.Text(), command(&one.Request)})
	} else {
		c.of.More++
	}
	d.weigh(at, p)
}

// settle puts the changes in order and tells them.
func (d *behavior) settle() error {
	out := d.out
	order := make([]int, len(d.found))
	for i := range order {
		order[i] = i
	}
	rank := map[string]int{AccessOpened: 0, "": 1, AccessClosed: 2}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &d.found[i], &d.found[j]
		return cmp.Or(rank[a.of.Access]-rank[b.of.Access], compareSize(&a.least.Any().Request, &b.least.Any().Request))
	})
	for n, i := range order {
		if n == mostBehaviorItems {
			out.More = len(order) - n
			break
		}
		c := &d.found[i]
		one := c.least.Any()
		c.of.Request, c.of.Command = requestText(&one.Request), command(&one.Request)
		for side, class := range []*space.Class{c.least.Before, c.least.After} {
			told, err := d.sides[side].told(class, []*reaction{c.before, c.after}[side])
			if err != nil {
				return err
			}
			*[]*BehaviorSide{&c.of.Before, &c.of.After}[side] = told
		}
		if d.log != nil {
			c.of.Traffic = d.log.share(i)
		}
		out.Items = append(out.Items, c.of)
	}
	if d.log != nil {
		out.Traffic = d.log.traffic()
	}
	for _, u := range d.unsure {
		out.Undecided = append(out.Undecided, *u)
	}
	slices.SortFunc(out.Undecided, func(a, b Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	for kind := range d.kinds {
		out.Protects = append(out.Protects, kind)
	}
	slices.Sort(out.Protects)
	d.leftOut()
	problems, news := diffProblems(d.sides[0].allProblems(), d.sides[1].allProblems())
	out.news = model.SortProblems(news)
	out.Seal("BehaviorDiff", problems)
	out.Complete = out.Complete && len(out.Undecided) == 0
	out.access = len(out.Undecided) == 0 && !d.sides[0].leavesAccessOpen() && !d.sides[1].leavesAccessOpen()
	return nil
}

func (d *behavior) leftOut() {
	for _, s := range d.sides {
		g, all := s.survey.res.Graph, request.Competition{Matcher: s.matcher}
		for _, id := range all.Unspoken(space.Everywhere()) {
			d.leave("connections to listener " + g.Node(id).Ref.String() + " (" + g.Listener(id).Protocol + ")")
		}
		if len(all.MeshServices()) > 0 {
			d.leave("requests in the mesh")
		}
	}
}

func (d *behavior) leave(what string) {
	if !slices.Contains(d.out.LeftOut, what) {
		d.out.LeftOut = append(d.out.LeftOut, what)
	}
}

// Different reports whether anything changes.
func (d *BehaviorDiff) Different() bool { return d.Changed > 0 }

// Certain reports whether it is known that nothing else changes.
func (d *BehaviorDiff) Certain() bool { return d.Complete && len(d.Undecided) == 0 && d.Classes > 0 }

// AccessCertain reports whether it is known that no other requests get access that they did not have.
func (d *BehaviorDiff) AccessCertain() bool { return d.access && d.Classes > 0 }

// News are the problems that only one of the inputs has, and those of both that leave the answer open.
func (d *BehaviorDiff) News() []model.Problem { return d.news }

// told is what a request gets on a side, with why.
func (s *reacting) told(c *space.Class, got *reaction) (BehaviorSide, error) {
	if c == nil {
		return BehaviorSide{Outcome: string(request.NoMatch), Backends: []RequestBackend{}, Protected: []string{}, Denied: []string{}, Why: []string{"no listener takes it"}}, nil
	}
	a, err := s.matcher.Find(c.Request, request.Where{Gateway: c.Entry.Gateway})
	if err != nil {
		return BehaviorSide{}, err
	}
	if a.Rule != c.Answer.Rule {
		return BehaviorSide{}, errors.New("comparing " + a.Request.Text + ": two answers about it differ")
	}
	r := s.survey.res
	out := BehaviorSide{Outcome: string(a.Outcome), Assumed: string(a.Assumed), Status: a.Status, Gateway: r.Node(a.Gateway).Ref.FullName(), Filters: a.Filters, Failing: a.Failing,
		Backends: []RequestBackend{}, Protected: append([]string{}, got.protected...), Denied: append([]string{}, got.denied...), Why: append([]string{}, a.Why...), filters: got.filters}
	if a.Listener != topology.None {
		out.Listener = r.Node(a.Listener).Ref.Section
	}
	if a.Rule != topology.None {
		ref, index := r.Node(a.Rule).Ref, r.Node(a.Rule).Index
		out.Route, out.Rule = &ref, &index
	}
	if a.Location != nil {
		out.Location = a.Location.URL
	}
	for _, b := range a.Backends {
		out.Backends = append(out.Backends, RequestBackend{b.Ref, b.Weight})
	}
	return out, nil
}

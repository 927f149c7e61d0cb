package behavior

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Query is what is compared.
type Query struct {
	Kinds     []model.GroupKind // of policies; nil: all
	Namespace string            // only requests that routes of it take on a side; "": all
	// policy kinds that keep requests out; nil: those whose descriptors say so, and those without a
	// descriptor
	Protects []model.GroupKind
	Log      *AccessLog // nil: none

	// Of a comparison with the proxy of Ingresses:
	Requests []request.Request // each is compared, beside all others
	Also     []string          // settings that the verdict is about as well
	// IngressHostsOnly leaves out requests to hosts that no Ingress names.
	IngressHostsOnly bool
}

// Compare compares what every request gets in two inputs. Names of routes, rules and policies are
// not compared.
func Compare(before, after view.Input, q Query) (*BehaviorDiff, error) {
	d := &behaviorComparer{query: &q, log: newTrafficCounter(q.Log), undecided: map[string]*prove.Undecided{},
		changeIndex: map[string]int{}, protectingKinds: map[string]bool{}}
	d.out = &BehaviorDiff{Items: []BehaviorChange{}, Undecided: []prove.Undecided{}, LeftOut: []string{},
		Protects: []string{}}
	var sides [2]space.Side
	for i, in := range []view.Input{before, after} {
		d.sides[i] = newBehaviorEvaluator(in, &q)
		sides[i] = space.Side{Matcher: in.Matcher, ExtraTests: d.sides[i].protector.FindPathTests,
			GatewayRef: func(id topology.NodeID) model.Ref { return in.Resolution.Node(id).Ref }}
	}
	if err := space.Compare(sides[0], sides[1], space.Scope{Destination: space.AnyDestination()},
		d.comparePair); err != nil {
		return nil, err
	}
	if err := d.buildResult(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// behaviorComparer compares what requests get on two sides, class by class.
type behaviorComparer struct {
	query           *Query
	sides           [2]*behaviorEvaluator
	out             *BehaviorDiff
	changes         []foundChange
	changeIndex     map[string]int // the position of a change, by what changes
	undecided       map[string]*prove.Undecided
	protectingKinds map[string]bool // that protect
	log             *trafficCounter
}

// foundChange is a change with the classes of requests that it touches.
type foundChange struct {
	change        BehaviorChange
	before, after *classBehavior
	smallest      *space.Pair
	classCount    int
}

// comparePair compares what the requests of a class get on the two sides. It returns true, so that
// the walk goes on.
func (d *behaviorComparer) comparePair(p *space.Pair) bool {
	classes := [2]*space.Class{p.Before, p.After}
	if !d.isAsked(classes) {
		return true
	}
	d.out.Classes++
	var got [2]*classBehavior
	why := ""
	for i, c := range classes {
		got[i] = d.sides[i].evaluateClass(c)
		if why == "" {
			why = got[i].doubt
		}
		for _, kind := range append(slices.Clone(got[i].protected), got[i].denied...) {
			d.protectingKinds[kind] = true
		}
	}
	found := surelyDifferent
	switch {
	case why != "":
		found = d.compareUncertain(classes, got)
	case got[0].key == got[1].key:
		found = surelySame
	}
	switch found {
	case mayDiffer:
		d.addUndecided(p, why)
	case surelyDifferent:
		d.addChange(p, got[0], got[1])
	}
	return true
}

// isAsked reports whether a class of requests is asked about.
func (d *behaviorComparer) isAsked(classes [2]*space.Class) bool {
	if d.query.Namespace == "" {
		return true
	}
	for i, c := range classes {
		if c == nil {
			continue
		}
		if c.Unknown != "" || c.Answer.RuleUncertain || c.Answer.Route != topology.None &&
			d.sides[i].collector.Resolution.Node(c.Answer.Route).Ref.Namespace == d.query.Namespace {
			return true
		}
	}
	return false
}

// comparison is what is known of two sides when not everything about them is known.
type comparison uint8

const (
	mayDiffer comparison = iota // they may be the same or not
	surelySame
	surelyDifferent
)

// compareUncertain compares a class of which not everything is known. The sides are the same if
// every rule that may take it gives the same on both, or if the same is open on both between the
// same rules. They differ, whatever is true, if no rule that may take it before gives what one
// gives after.
func (d *behaviorComparer) compareUncertain(classes [2]*space.Class, got [2]*classBehavior) comparison {
	var all [2][]string
	settled := true
	for i, c := range classes {
		if c == nil || got[i].doubt == "" {
			all[i] = []string{got[i].keyWithoutDecisions}
			continue
		}
		if c.Unknown != "" || got[i].delegated {
			return mayDiffer
		}
		settled = settled && got[i].onlyOrderUnknown
		for _, rule := range c.CompetingRules() {
			print, known := d.sides[i].keyOfRival(c.Answer, rule)
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
	case got[0].doubt == got[1].doubt && got[0].key == got[1].key && slices.Equal(slices.Compact(all[0]),
		slices.Compact(all[1])):
		return surelySame
	case settled && got[0].key == got[1].key && !other(0, got[0].keyWithoutDecisions) &&
		!other(1, got[0].keyWithoutDecisions):
		return surelySame
	case settled && !slices.ContainsFunc(all[0], func(s string) bool { return slices.Contains(all[1], s) }):
		return surelyDifferent
	}
	return mayDiffer
}

func (d *behaviorComparer) addUndecided(p *space.Pair, why string) {
	u := d.undecided[why]
	if u == nil {
		u = &prove.Undecided{Why: why, Example: p.AnyClass().Request.Text}
		d.undecided[why] = u
	}
	u.Classes++
}

// addChange counts a class for which something changes.
func (d *behaviorComparer) addChange(p *space.Pair, before, after *classBehavior) {
	found := d.findAccessGain(before, after)
	access, reason := found.access, found.reason
	if access == "" && len(found.doubts) == 0 && d.findAccessGain(after, before).access != "" {
		access = AccessClosed
	}
	d.out.Changed++
	for _, doubt := range found.doubts {
		d.addUndecided(p, doubt)
	}
	shifts := d.findShifts(before, after)
	for i := range shifts {
		if diff.ClassifyProtectionChange(shifts[i].Property, &shifts[i].Before,
			&shifts[i].After) == diff.ProtectionLost {
			*d.out.Loses.CountOf(shifts[i].Property)++
		}
	}
	key := strings.Join([]string{before.keyWithoutProtection, before.ruleName, after.keyWithoutProtection,
		after.ruleName, access, reason, shiftsKey(shifts)}, "\x00")
	at, known := d.changeIndex[key]
	if !known {
		at = len(d.changes)
		d.changeIndex[key] = at
		d.changes = append(d.changes, foundChange{before: before, after: after, change: BehaviorChange{Access: access,
			Reason: reason, Changes: listChangedParts(before, after), Protection: shifts, Policies: findSettingChanges(
				before, after), lost: found.lost}})
	}
	c := &d.changes[at]
	c.classCount++
	switch access {
	case AccessOpened:
		d.out.Opened++
	case AccessClosed:
		d.out.Closed++
	}
	if c.smallest == nil || requests.IsSmaller(&p.AnyClass().Request, &c.smallest.AnyClass().Request) {
		c.smallest = p
	}
	if one := p.AnyClass(); len(c.change.Classes) < maxBehaviorClasses {
		c.change.Classes = append(c.change.Classes, ChangedClass{one.Text(), requests.FormatCommand(&one.Request)})
	} else {
		c.change.More++
	}
	d.countTraffic(at, p)
}

// buildResult sorts the changes, and completes the answer.
func (d *behaviorComparer) buildResult() error {
	out := d.out
	order := make([]int, len(d.changes))
	for i := range order {
		order[i] = i
	}
	rank := map[string]int{AccessOpened: 0, "": 1, AccessClosed: 2}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &d.changes[i], &d.changes[j]
		return cmp.Or(rank[a.change.Access]-rank[b.change.Access],
			requests.CompareSizes(&a.smallest.AnyClass().Request, &b.smallest.AnyClass().Request))
	})
	for n, i := range order {
		if n == maxBehaviorItems {
			out.More = len(order) - n
			break
		}
		c := &d.changes[i]
		one := c.smallest.AnyClass()
		c.change.Request, c.change.Command = requests.NewRequestText(&one.Request), requests.FormatCommand(&one.Request)
		for side, class := range []*space.Class{c.smallest.Before, c.smallest.After} {
			told, err := d.sides[side].describeSide(class, []*classBehavior{c.before, c.after}[side])
			if err != nil {
				return err
			}
			*[]*BehaviorSide{&c.change.Before, &c.change.After}[side] = told
		}
		if d.log != nil {
			c.change.Traffic = d.log.shareOf(i)
		}
		out.Items = append(out.Items, c.change)
	}
	if d.log != nil {
		out.Traffic = d.log.buildTraffic()
	}
	out.Undecided = listUndecided(d.undecided)
	for kind := range d.protectingKinds {
		out.Protects = append(out.Protects, kind)
	}
	slices.Sort(out.Protects)
	d.collectLeftOut()
	problems, news := diff.JoinProblems(d.sides[0].allProblems(), d.sides[1].allProblems())
	values := diff.MissingValueProblems(d.sides[0].collector.Resolution, d.sides[1].collector.Resolution)
	out.news = model.SortProblems(append(news, values...))
	out.Finish("BehaviorDiff", append(problems, values...))
	out.Complete = out.Complete && len(out.Undecided) == 0
	out.accessKnown = len(out.Undecided)+len(values) == 0 && !d.sides[0].leavesAccessOpen() &&
		!d.sides[1].leavesAccessOpen()
	return nil
}

func (d *behaviorComparer) collectLeftOut() {
	for _, s := range d.sides {
		g, all := s.collector.Resolution.Graph, request.Competition{Matcher: s.matcher}
		for _, id := range all.UnsupportedListeners(space.AnyDestination()) {
			d.addLeftOut("connections to listener " + g.Node(id).Ref.String() + " (" + g.Listener(id).Protocol + ")")
		}
		if len(all.MeshServices()) > 0 {
			d.addLeftOut("requests in the mesh")
		}
	}
}

func (d *behaviorComparer) addLeftOut(what string) { d.out.AddLeftOut(what) }

// AddNotCompared notes something that gets requests as well and is not compared: the answer is not
// complete.
func (d *BehaviorDiff) AddNotCompared(what string) {
	d.AddLeftOut(what)
	d.Complete, d.accessKnown = false, false
}

// AddLeftOut notes something that may get requests as well and is not compared.
func (d *BehaviorDiff) AddLeftOut(what string) {
	if !slices.Contains(d.LeftOut, what) {
		d.LeftOut = append(d.LeftOut, what)
	}
}

// HasChanges reports whether anything changes for any request.
func (d *BehaviorDiff) HasChanges() bool { return d.Changed > 0 }

// IsCertain reports whether it is known that nothing else changes.
func (d *BehaviorDiff) IsCertain() bool { return d.Complete && len(d.Undecided) == 0 && d.Classes > 0 }

// IsAccessCertain reports whether it is known that no other requests get access that they did not
// have.
func (d *BehaviorDiff) IsAccessCertain() bool { return d.accessKnown && d.Classes > 0 }

// News returns the problems that only one of the inputs has, and those of both that make the answer
// incomplete.
func (d *BehaviorDiff) News() []model.Problem { return d.news }

// listUndecided returns what could not be decided, that of most classes first.
func listUndecided(all map[string]*prove.Undecided) []prove.Undecided {
	out := make([]prove.Undecided, 0, len(all))
	for _, u := range all {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b prove.Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	return out
}

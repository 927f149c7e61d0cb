package graph

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// PointKind is the kind of the nodes of points: places on the way of a request, before or behind the
// Gateway, at which policies let it go on or end it.
const PointKind = "point"

// The labels of points. The Gateway of the request has the last two as well, for what is decided there.
const (
	LabelPoint    = "point"    // client, egress, ingress, waypoint, workload
	LabelEnforcer = "enforcer" // who enforces there
	LabelStep     = "step"     // behind the backend 1, 2, …; before the Gateway …, -2, -1
	LabelVerdict  = "verdict"  // allowed, denied, depends, bypassed
	LabelBecause  = "because"  // one sentence
)

// IsPoint reports whether a node is a point on the way of a request.
func (n *GraphNode) IsPoint() bool { return n.Kind == PointKind }

// PointName says which point a node is, and who enforces there, if that is not the same:
// "workload, ztunnel".
func (n *GraphNode) PointName() string {
	name, enforcer := n.Labels[LabelPoint], n.Labels[LabelEnforcer]
	if enforcer == "" || enforcer == name {
		return name
	}
	return name + ", " + enforcer
}

// FullText is what a node is called where it stands alone: what it stands for, its object, or of a
// point its object with the verdict.
func (n *GraphNode) FullText() string {
	text := cmp.Or(n.CollectiveName(), n.Ref.String()+n.MeshSuffix())
	if n.IsPoint() {
		return n.Labels[LabelPoint] + " " + text + " (" + n.Labels[LabelVerdict] + ")"
	}
	return text
}

// pointAdder adds the points of a request, in the order in which it meets them.
type pointAdder struct {
	*topologyBuilder
	known map[pointKey]int32
}

// pointKey tells points apart: several ways of a request share those that they have in common.
type pointKey struct {
	after   int32 // the node before it
	name    point.Name
	kind    string
	object  model.Ref
	verdict point.Verdict
	because string
}

// passage is how far a request is followed.
type passage struct {
	at      int32 // the last node that it passes; -1: none
	step    int
	stopped bool // something before denies it
}

// addPoints adds the points of the request that is asked about, and leads its way through them:
// those before the Gateway in front of it, the others behind the backends.
func (d *topologyBuilder) addPoints() {
	points := d.points
	if len(points) == 0 {
		return
	}
	a := pointAdder{d, map[pointKey]int32{}}
	edge := slices.IndexFunc(points, func(p point.Point) bool { return p.Name == point.Edge })
	stopped := false
	if edge >= 0 {
		way := passage{at: -1, step: -edge - 1}
		for i := range points[:edge] {
			a.pass(&way, &points[i])
		}
		gateway, drawn := d.numberByID[refID(points[edge].Object)]
		if drawn {
			a.lead(&way, gateway)
			setLabel(d.nodes[gateway].Labels, LabelVerdict, string(points[edge].Verdict))
			setLabel(d.nodes[gateway].Labels, LabelBecause, points[edge].Because)
		}
		stopped = way.stopped || points[edge].Verdict == point.Denied
		points = points[edge+1:]
	}
	for len(points) > 0 {
		end := slices.IndexFunc(points, func(p point.Point) bool { return p.Way != points[0].Way })
		if end < 0 {
			end = len(points)
		}
		a.addWay(points[:end], stopped)
		points = points[end:]
	}
}

// addWay adds the points between a backend and a workload behind it.
func (a *pointAdder) addWay(points []point.Point, stopped bool) {
	backend := points[0].Backend
	if backend.Name == "" && len(a.query.Request.Backends) > 0 {
		backend = a.query.Request.Backends[0].Ref
	}
	from, drawn := a.numberByID[refID(backend.WithoutSection())]
	if !drawn {
		from = -1
	}
	way := passage{at: from, stopped: stopped}
	for i := range points {
		a.pass(&way, &points[i])
	}
	last := &points[len(points)-1]
	if last.Name != point.Workload && last.Name != point.Ingress {
		return
	}
	if to, drawn := a.numberByID[refID(last.Object)]; drawn && to != from {
		a.lead(&way, to)
		if !way.stopped {
			a.nodes[to].Labels["request"] = EdgeTaken
		}
	}
}

// pass adds a point, and leads the way to it or past it.
func (a *pointAdder) pass(way *passage, p *point.Point) {
	way.step++
	key := pointKey{after: way.at, name: p.Name, kind: p.Kind, object: p.Object, verdict: p.Verdict, because: p.Because}
	at, known := a.known[key]
	if !known {
		at = a.addPointNode(way, p)
		a.known[key] = at
	}
	if p.Verdict == point.Bypassed {
		if way.at >= 0 {
			a.edges = append(a.edges, edge{from: way.at, to: at, kind: parentEdge,
				enforcement: enforcement{bypassed: true}})
		}
		return
	}
	a.lead(way, at)
	way.stopped = way.stopped || p.Verdict == point.Denied
}

// lead leads the way on to a node.
func (a *pointAdder) lead(way *passage, to int32) {
	if way.at >= 0 {
		a.edges = append(a.edges, edge{from: way.at, to: to, kind: parentEdge, taken: !way.stopped, stopped: way.stopped})
	}
	way.at = to
}

// addPointNode adds the node of a point, with the policies there.
func (a *pointAdder) addPointNode(way *passage, p *point.Point) int32 {
	id := refID(p.Object) + "@" + string(p.Name)
	for n := 2; ; n++ {
		if _, taken := a.numberByID[id]; !taken {
			break
		}
		id = refID(p.Object) + "@" + string(p.Name) + "-" + strconv.Itoa(n)
	}
	at := a.addGraphNode(id, p.Object, PointKind, func() map[string]string {
		labels := map[string]string{LabelPoint: string(p.Name), LabelEnforcer: p.Kind,
			LabelStep: strconv.Itoa(way.step), LabelVerdict: string(p.Verdict)}
		if p.Verdict != point.Bypassed && !way.stopped {
			labels["request"] = EdgeTaken
		}
		return setLabel(labels, LabelBecause, p.Because)
	})
	for _, ref := range p.Policies {
		k, policy := a.findPolicy(ref)
		if a.query.Kinds != nil && (k == nil || !slices.Contains(a.query.Kinds, k.GroupKind)) ||
			a.query.Affected != nil && !a.chosenPolicies[policy] {
			continue
		}
		e := edge{to: at, kind: enforcementEdge}
		if policy != nil {
			e.from = a.addPolicyNode(policy)
		} else {
			e.from = a.addGraphNode(refID(ref), ref, policyKind,
				func() map[string]string { return map[string]string{"policyKind": ref.GroupKind().String()} })
		}
		e.won, e.bypassed = p.Verdict != point.Bypassed, p.Verdict == point.Bypassed
		a.edges = append(a.edges, e)
	}
	return at
}

// findPoints finds the points of the request that is asked about, if it is known which rule takes it.
func (o *graphScope) findPoints() {
	if a := o.query.Request; a != nil && !a.RuleUncertain {
		o.points, o.pointProblems = requests.FindPoints(o.res, a, o.query.Judges)
	}
}

// choosePointPolicies chooses the policies at the points.
func (o *graphScope) choosePointPolicies() {
	for i := range o.points {
		for _, ref := range o.points[i].Policies {
			if k, p := o.findPolicy(ref); p != nil && slices.Contains(o.kinds, k) {
				o.chosenPolicies[p] = true
			}
		}
	}
}

// findPolicy finds a policy and its kind; nil if it is of no kind that is known.
func (o *graphScope) findPolicy(ref model.Ref) (*resolve.Kind, *policy.Policy) {
	k := o.res.Kind(ref.GroupKind())
	if k == nil {
		return nil, nil
	}
	for _, p := range k.Policies {
		if p.Ref() == ref {
			return k, p
		}
	}
	return k, nil
}

package linkerd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// nowhere finds nothing: what goes out of workloads is not governed by objects of its kind, which there are none of.
func nowhere(*topology.Graph, *model.Snapshot, model.Settings) policy.LegFinder {
	return func(*policy.Policy) ([]topology.NodeID, []model.Problem) { return nil, nil }
}

// outboundParents are the objects that routes of the mesh can have as parents, and that have annotations or rules on them.
type outboundParents struct {
	in     *model.Snapshot
	routes map[*model.Object][]*model.Object // attached, of HTTP and gRPC
	order  []*model.Object
	whole  map[*model.Object]bool    // a route is on all ports
	ports  map[*model.Object][]int64 // that routes are on
}

func readOutbound(in *model.Snapshot, set settings) *outboundParents {
	w := &outboundParents{in: in, routes: map[*model.Object][]*model.Object{}, whole: map[*model.Object]bool{}, ports: map[*model.Object][]int64{}}
	j := newRouteJudge(in, set)
	for _, gk := range []model.GroupKind{grpcRouteKind, httpRouteKind, ownRouteKind} {
		for _, o := range in.Of(gk) {
			if read := blocksOf(o, gk == grpcRouteKind); read.bad != nil { // the route is left out
				continue
			}
			seen := map[*model.Object]bool{}
			for _, p := range o.Body.At("spec", "parentRefs").Items {
				parent := j.parent(o, p)
				if parent == nil || parent.Ref.GroupKind() == serverKind || j.accepted(o, portOf(o, p)).reason != accepted {
					continue
				}
				if n, ok := p.Field("port").Value().(int64); ok {
					w.ports[parent] = append(w.ports[parent], n)
				} else {
					w.whole[parent] = true
				}
				if !seen[parent] {
					seen[parent] = true
					w.routes[parent] = append(w.routes[parent], o)
				}
			}
		}
	}
	for _, gk := range []model.GroupKind{serviceKind, egressKind} {
		for _, o := range in.Of(gk) {
			if outwards(o) || len(w.routes[o]) > 0 {
				w.order = append(w.order, o)
			}
		}
	}
	return w
}

// linkOutbound adds Services and EgressNetworks as parents of routes, and the rules of the routes on each.
func linkOutbound(b *topology.Extender, in *model.Snapshot, set settings) {
	b.Family(outboundFamily, outboundParentRole, outboundRuleRole)
	w := readOutbound(in, set)
	for _, parent := range w.order {
		id := b.Beside(outboundParentRole, parent.Ref, parent)
		for _, route := range w.routes[parent] {
			for i := range rulesOf(route) {
				if outwards(parent) || outwards(route) || ruleTimeout(route, i) != "" {
					b.Connect(outboundFamily, id, b.Beside(outboundRuleRole, route.Ref.In(ruleName(route, i)), route))
				}
			}
		}
	}
}

// rulesOf are the rules of a route; one without any has one that matches all.
func rulesOf(route *model.Object) []model.Body {
	var out []model.Body
	for _, r := range route.Body.At("spec", "rules").Items {
		out = append(out, r)
	}
	if out == nil {
		out = []model.Body{{}}
	}
	return out
}

// ruleName is how a rule is called: its name, unless an earlier one has it, else its number.
func ruleName(route *model.Object, i int) string {
	rules := rulesOf(route)
	name := rules[i].Text("name")
	for _, r := range rules[:i] {
		if r.Text("name") == name {
			name = ""
		}
	}
	return cmp.Or(name, "rule-"+strconv.Itoa(i+1))
}

// ruleTimeout is the request timeout that a rule itself has, "" if it has none: 0 means none.
func ruleTimeout(route *model.Object, i int) string {
	text := rulesOf(route)[i].Text("timeouts", "request")
	if text == "" || zero(text) {
		return ""
	}
	return text
}

// outbound is what annotations say of the traffic to a parent, and of a rule there.
func outbound(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if !present(in, s) {
		return nil
	}
	w := readOutbound(in, readSettings(s))
	return func(id topology.NodeID) *policy.Situation {
		n := g.Node(id)
		switch n.Role {
		case outboundParentRole:
			routed := w.routed(n.Object)
			own := blocksOf(n.Object, false)
			return situationOf(id, id, own, nil, own.any() && !routed)
		case outboundRuleRole:
			up := g.Parents(outboundFamily, id)[0]
			grpc := n.Ref.GroupKind() == grpcRouteKind
			parent, route := blocksOf(g.Node(up).Object, grpc), blocksOf(n.Object, grpc)
			route.accrual, route.bias = nil, nil
			if i := indexOfRule(n.Object, n.Ref.Section); i >= 0 {
				route.rule(n.Object, i)
			}
			return situationOf(id, up, parent, &route, parent.any() || route.any())
		}
		return nil
	}
}

// routed reports whether routes take all that is sent to a parent.
func (w *outboundParents) routed(parent *model.Object) bool {
	if w.whole[parent] || parent.Ref.GroupKind() != serviceKind || len(w.ports[parent]) == 0 {
		return w.whole[parent]
	}
	for _, p := range parent.Body.At("spec", "ports").Items {
		if n, _ := p.Field("port").Value().(int64); !slices.Contains(w.ports[parent], n) {
			return false
		}
	}
	return true
}

func indexOfRule(route *model.Object, section string) int {
	for i := range rulesOf(route) {
		if ruleName(route, i) == section {
			return i
		}
	}
	return -1
}

// blocks are the settings that one object states.
type blocks struct {
	object                         *model.Object
	retry, timeouts, accrual, bias map[string]any
	fromRule                       []string // where in the route the request timeout stands, if no annotation says it
	bad                            error
}

func (b *blocks) any() bool {
	return b.retry != nil || b.timeouts != nil || b.accrual != nil || b.bias != nil
}

// blocksOf reads the annotations of an object; a block that cannot be read is not there.
func blocksOf(o *model.Object, grpc bool) blocks {
	b := blocks{object: o}
	keep := func(block *map[string]any, value map[string]any, err error) {
		if err == nil {
			*block = value
		} else if b.bad == nil {
			b.bad = err
		}
	}
	value, err := retries(o.Annotations, grpc)
	keep(&b.retry, value, err)
	value, err = timeouts(o.Annotations)
	keep(&b.timeouts, value, err)
	value, err = accrual(o.Annotations)
	keep(&b.accrual, value, err)
	if o.Ref.GroupKind() == serviceKind {
		b.bias = bias(o.Annotations)
	}
	return b
}

// rule adds the request timeout of a rule, where no annotation of the route has one.
func (b *blocks) rule(route *model.Object, i int) {
	text := ruleTimeout(route, i)
	if text == "" || b.timeouts["request"] != nil || route.Ref.GroupKind() == grpcRouteKind {
		return
	}
	if b.timeouts == nil {
		b.timeouts = map[string]any{}
	}
	b.timeouts["request"] = text
	b.fromRule = []string{"spec", "rules", strconv.Itoa(i), "timeouts", "request"}
}

// situationOf puts the blocks of a parent and those of a route together: of each sort those of the route, if it has any, replace the parent's.
func situationOf(id, up topology.NodeID, parent blocks, route *blocks, bare bool) *policy.Situation {
	layers := []*policy.Policy{parent.layer()}
	if route != nil {
		layers = append(layers, route.layer())
		if route.fromRule != nil {
			layers = append(layers, policy.NewBuiltin("timeouts of the rule", route.object, route.fromRule, nil))
		}
	}
	return &policy.Situation{Key: strconv.Itoa(int(id)), Builtins: layers, Bare: bare,
		Place: func(p *policy.Policy) (topology.NodeID, topology.Role) {
			if p.Object == parent.object {
				return up, topology.Frontend
			}
			return id, topology.Route
		},
		Fold: func([]*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldBlocks(parent, route) }
		}}
}

// layer is the annotations of an object as a layer.
func (b *blocks) layer() *policy.Policy {
	var units []merge.Unit
	for name, block := range map[string]map[string]any{"retry": b.retry, "timeouts": b.timeouts, "failureAccrual": b.accrual, "loadBias": b.bias} {
		if block != nil {
			units = append(units, merge.Unit{Path: merge.Keys(name), Value: block})
		}
	}
	slices.SortFunc(units, func(a, b merge.Unit) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return policy.NewSettings(b.object, []string{"metadata", "annotations"}, units)
}

func foldBlocks(parent blocks, route *blocks) ([]merge.Unit, []merge.Effect) {
	var m merge.Output
	put := func(name string, ofParent, ofRoute map[string]any) {
		path := merge.Keys(name)
		switch {
		case ofRoute != nil && name == "timeouts" && route.fromRule != nil:
			m.Take(path, ofRoute, 2)
			if len(ofRoute) > 1 {
				m.Units[len(m.Units)-1].From = append(m.Units[len(m.Units)-1].From, merge.From{Layer: 1, Block: merge.Bare})
			}
		case ofRoute != nil:
			m.Take(path, ofRoute, 1)
		case ofParent != nil:
			m.Take(path, ofParent, 0)
			return
		}
		if ofParent != nil && ofRoute != nil {
			m.Lose(path, ofParent, 0, merge.AtomicReplaced, 1)
		}
	}
	var own blocks
	if route != nil {
		own = *route
	}
	put("retry", parent.retry, own.retry)
	put("timeouts", parent.timeouts, own.timeouts)
	put("failureAccrual", parent.accrual, nil)
	put("loadBias", parent.bias, nil)
	return m.Units, m.Effects
}

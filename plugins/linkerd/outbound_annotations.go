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
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// newEmptyFinder finds nothing: what goes out of workloads is not governed by objects of its kind,
// which there are none of.
func newEmptyFinder(*topology.Graph, *model.Snapshot, model.Settings) policy.PointFinder {
	return func(*policy.Policy) ([]topology.NodeID, []model.Problem) { return nil, nil }
}

// outboundParents are the objects that routes of the mesh can have as parents, and that have
// annotations or rules on them.
type outboundParents struct {
	in         *model.Snapshot
	routes     map[*model.Object][]*model.Object // attached, of HTTP and gRPC
	order      []*model.Object
	onAllPorts map[*model.Object]bool    // a route is on all ports
	ports      map[*model.Object][]int64 // that routes are on
}

func readOutbound(in *model.Snapshot, set settings) *outboundParents {
	w := &outboundParents{in: in, routes: map[*model.Object][]*model.Object{}, onAllPorts: map[*model.Object]bool{},
		ports: map[*model.Object][]int64{}}
	j := newRouteJudge(in, set)
	for _, gk := range []model.GroupKind{grpcRouteKind, httpRouteKind, ownRouteKind} {
		for _, o := range in.OfKind(gk) {
			if read := readBlocks(o, gk == grpcRouteKind); read.err != nil { // the route is left out
				continue
			}
			seen := map[*model.Object]bool{}
			for _, p := range o.Body.At("spec", "parentRefs").Items {
				parent := j.findParent(o, p)
				if parent == nil || parent.Ref.GroupKind() == serverKind ||
					j.judgeParent(o, readParentPort(o, p)).reason != accepted {
					continue
				}
				if n, ok := p.Field("port").Value().(int64); ok {
					w.ports[parent] = append(w.ports[parent], n)
				} else {
					w.onAllPorts[parent] = true
				}
				if !seen[parent] {
					seen[parent] = true
					w.routes[parent] = append(w.routes[parent], o)
				}
			}
		}
	}
	for _, gk := range []model.GroupKind{serviceKind, egressKind} {
		for _, o := range in.OfKind(gk) {
			if hasOutboundAnnotations(o) || len(w.routes[o]) > 0 {
				w.order = append(w.order, o)
			}
		}
	}
	return w
}

// linkOutbound adds Services and EgressNetworks as parents of routes, and the rules of the routes
// on each.
func linkOutbound(b *build.Extender, in *model.Snapshot, set settings) {
	b.DeclareFamily(outboundFamily, outboundParentRole, outboundRuleRole)
	w := readOutbound(in, set)
	for _, parent := range w.order {
		id := b.AddExtraNode(outboundParentRole, parent.Ref, parent)
		for _, route := range w.routes[parent] {
			for i := range listRules(route) {
				if hasOutboundAnnotations(parent) || hasOutboundAnnotations(route) || ruleTimeout(route, i) != "" {
					b.Connect(outboundFamily, id, b.AddExtraNode(outboundRuleRole,
						route.Ref.WithSection(ruleName(route, i)), route))
				}
			}
		}
	}
}

// listRules are the rules of a route; one without any has one that matches all.
func listRules(route *model.Object) []model.Body {
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
	rules := listRules(route)
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
	text := listRules(route)[i].Text("timeouts", "request")
	if text == "" || isZeroDuration(text) {
		return ""
	}
	return text
}

// newOutboundSituator is what annotations say of the traffic to a parent, and of a rule there.
func newOutboundSituator(g *topology.Graph, in *model.Snapshot,
	s model.Settings) func(topology.NodeID) *policy.Situation {
	if !isPresent(in, s) {
		return nil
	}
	w := readOutbound(in, readSettings(s))
	return func(id topology.NodeID) *policy.Situation {
		n := g.Node(id)
		switch n.Role {
		case outboundParentRole:
			routed := w.isRouted(n.Object)
			own := readBlocks(n.Object, false)
			return newOutboundSituation(id, id, own, nil, own.hasAny() && !routed)
		case outboundRuleRole:
			up := g.Parents(outboundFamily, id)[0]
			grpc := n.Ref.GroupKind() == grpcRouteKind
			parent, route := readBlocks(g.Node(up).Object, grpc), readBlocks(n.Object, grpc)
			route.accrual, route.bias = nil, nil
			if i := findRuleIndex(n.Object, n.Ref.Section); i >= 0 {
				route.addRuleTimeout(n.Object, i)
			}
			return newOutboundSituation(id, up, parent, &route, parent.hasAny() || route.hasAny())
		}
		return nil
	}
}

// isRouted reports whether routes take all that is sent to a parent.
func (w *outboundParents) isRouted(parent *model.Object) bool {
	if w.onAllPorts[parent] || parent.Ref.GroupKind() != serviceKind || len(w.ports[parent]) == 0 {
		return w.onAllPorts[parent]
	}
	for _, p := range parent.Body.At("spec", "ports").Items {
		if n, _ := p.Field("port").Value().(int64); !slices.Contains(w.ports[parent], n) {
			return false
		}
	}
	return true
}

func findRuleIndex(route *model.Object, section string) int {
	for i := range listRules(route) {
		if ruleName(route, i) == section {
			return i
		}
	}
	return -1
}

// annotationBlocks are the settings that one object states.
type annotationBlocks struct {
	object                         *model.Object
	retry, timeouts, accrual, bias map[string]any
	fromRule                       []string // where in the route the request timeout stands, if no annotation says it
	err                            error
}

func (b *annotationBlocks) hasAny() bool {
	return b.retry != nil || b.timeouts != nil || b.accrual != nil || b.bias != nil
}

// readBlocks reads the annotations of an object; a block that cannot be read is not there.
func readBlocks(o *model.Object, grpc bool) annotationBlocks {
	b := annotationBlocks{object: o}
	keep := func(block *map[string]any, value map[string]any, err error) {
		if err == nil {
			*block = value
		} else if b.err == nil {
			b.err = err
		}
	}
	value, err := readRetries(o.Annotations, grpc)
	keep(&b.retry, value, err)
	value, err = readTimeouts(o.Annotations)
	keep(&b.timeouts, value, err)
	value, err = readAccrual(o.Annotations)
	keep(&b.accrual, value, err)
	if o.Ref.GroupKind() == serviceKind {
		b.bias = readLoadBias(o.Annotations)
	}
	return b
}

// addRuleTimeout adds the request timeout of a rule, where no annotation of the route has one.
func (b *annotationBlocks) addRuleTimeout(route *model.Object, i int) {
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

// newOutboundSituation puts the blocks of a parent and those of a route together: of each sort
// those of the route, if it has any, replace the parent's.
func newOutboundSituation(id, up topology.NodeID, parent annotationBlocks, route *annotationBlocks,
	bare bool) *policy.Situation {
	layers := []*policy.Policy{parent.toLayer()}
	if route != nil {
		layers = append(layers, route.toLayer())
		if route.fromRule != nil {
			layers = append(layers, policy.NewBuiltin("timeouts of the rule", route.object, route.fromRule, nil))
		}
	}
	return &policy.Situation{Key: strconv.Itoa(int(id)), Builtins: layers, AlwaysInForce: bare,
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

// toLayer is the annotations of an object as a layer.
func (b *annotationBlocks) toLayer() *policy.Policy {
	var units []merge.Unit
	for name, block := range map[string]map[string]any{"retry": b.retry, "timeouts": b.timeouts,
		"failureAccrual": b.accrual, "loadBias": b.bias} {
		if block != nil {
			units = append(units, merge.Unit{Path: merge.KeyPath(name), Value: block})
		}
	}
	slices.SortFunc(units, func(a, b merge.Unit) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return policy.NewSettings(b.object, []string{"metadata", "annotations"}, units)
}

func foldBlocks(parent annotationBlocks, route *annotationBlocks) ([]merge.Unit, []merge.Effect) {
	var m merge.Output
	put := func(name string, ofParent, ofRoute map[string]any) {
		path := merge.KeyPath(name)
		switch {
		case ofRoute != nil && name == "timeouts" && route.fromRule != nil:
			m.Take(path, ofRoute, 2)
			if len(ofRoute) > 1 {
				m.Units[len(m.Units)-1].From = append(m.Units[len(m.Units)-1].From,
					merge.Source{Layer: 1, Block: merge.Bare})
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
	var own annotationBlocks
	if route != nil {
		own = *route
	}
	put("retry", parent.retry, own.retry)
	put("timeouts", parent.timeouts, own.timeouts)
	put("failureAccrual", parent.accrual, nil)
	put("loadBias", parent.bias, nil)
	return m.Units, m.Effects
}

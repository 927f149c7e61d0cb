package view

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// SpellingBypasses finds where a spelling of requests gets around the policies that keep requests out of a rule, without being asked about any: where it
// is known that the implementation leaves dots, slashes or escaped characters as they are, the rule that takes the request so spelled has none of
// these policies, and the same backend gets both. What is not certain is left out, and so are spellings that no implementation would undo.
func SpellingBypasses(r *resolve.Resolution, m *request.Matcher, judges Judges) []model.Problem {
	kinds, keeping := guards(r)
	if !keeping {
		return nil
	}
	q := ProofQuery{Scope: space.Scope{Where: space.Everywhere()}, Kinds: kinds, Holds: guarded}
	s := newSpeller(r, m, &q, judges)
	s.sure, s.guarding = true, true
	for _, listener := range r.Graph.Order(topology.Traffic) {
		if r.Node(listener).Role != topology.Listener || s.more || s.err != nil {
			continue
		}
		if left := s.leftAlone(listener); len(left) > 0 {
			s.listener(listener, left)
		}
	}
	out := bypasses(r, s.found)
	if s.err != nil {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: "not all spellings of requests were tried: " + s.err.Error()})
	}
	if s.more {
		out = append(out, model.Problem{Severity: model.Info, Code: model.SpellingBypass, Message: "spellings were tried of the first " + grouped(mostSpelled) + " paths only",
			Hint: "ask about paths and hosts with: kubectl dopolicy prove"})
	}
	return out
}

// guards are the policy kinds in use that may keep requests out, and whether one of them is known to.
func guards(r *resolve.Resolution) (kinds []model.GroupKind, known bool) {
	for _, k := range r.Kinds {
		if !k.InUse() || !k.Generic() && len(k.Protects.Rules) == 0 {
			continue
		}
		known = known || !k.Generic()
		if !slices.Contains(kinds, k.GroupKind) {
			kinds = append(kinds, k.GroupKind)
		}
	}
	return kinds, known
}

// guarded reports whether a policy is in force on a way that keeps requests out. Of kinds that nobody describes, that is not known.
func guarded(w *RequestWay) (held bool, unknown string) {
	for _, f := range w.InForce {
		switch {
		case len(f.Policy.Rules) == 0:
		case f.Kind.Generic():
			unknown = "whether a " + f.Kind.GroupKind.Kind + " keeps requests out is not known"
		case keepsOut(f):
			return true, ""
		}
	}
	return false, unknown
}

func keepsOut(f *InForce) bool {
	return f.Kind.Protects.KeepsOut(func(path string) bool {
		return path == "*" || slices.ContainsFunc(f.Policy.Rules, func(rule Rule) bool { return setsBelow(&rule, path) })
	})
}

// leftAlone are the spellings that the implementation of a listener is known to leave as they are, and others undo.
func (s *speller) leftAlone(listener topology.NodeID) []variant {
	facts := s.survey.res.Graph.Listener(listener)
	if !facts.Accepted || facts.Protocol != "HTTP" && facts.Protocol != "HTTPS" {
		return nil
	}
	all := request.Competition{Matcher: s.matcher}
	var out []variant
	for _, v := range variants {
		r := request.Request{Path: "/a/b"}
		if !v.undone || !v.spell(&r) {
			continue
		}
		if compared, known := all.Compared(listener, r.Path); known && compared != "/a/b" {
			out = append(out, v)
		}
	}
	return out
}

// listener tries spellings of requests to the rules at a listener that share a backend with a rule of which other policies may be in force.
func (s *speller) listener(listener topology.NodeID, left []variant) {
	gateway := gatewayAbove(s.survey.res.Graph, listener)
	if gateway == topology.None {
		return
	}
	all := request.Competition{Matcher: s.matcher}
	for _, rule := range s.mixed(listener) {
		for _, example := range all.Examples(gateway, listener, rule) {
			if example.Path == "/" {
				continue
			}
			if s.example(gateway, example, rule, left); s.more || s.err != nil {
				return
			}
		}
	}
}

// example tries spellings of a request that the rule takes.
func (s *speller) example(gateway topology.NodeID, r request.Request, rule topology.NodeID, left []variant) {
	a, err := s.matcher.Take(r, request.Where{Gateway: gateway})
	if err != nil {
		s.err = err
		return
	}
	c := &space.Class{Entry: request.Entry{Gateway: gateway, Port: r.Port, Secure: r.Secure}, Request: a.Request, Answer: a}
	if a.Rule != rule || doubtAbout(c) != "" || !s.protected(c) || !s.first(c) {
		return
	}
	s.err = s.try(c, left)
}

// gatewayAbove is the Gateway of a listener, by a ListenerSet too.
func gatewayAbove(g *topology.Graph, listener topology.NodeID) topology.NodeID {
	for _, up := range g.Parents(topology.Traffic, listener) {
		if g.Node(up).Role == topology.Gateway {
			return up
		}
		if found := gatewayAbove(g, up); found != topology.None {
			return found
		}
	}
	return topology.None
}

// mixed are the rules at a listener that send to a backend to which another rule there sends that other policies reach.
func (s *speller) mixed(listener topology.NodeID) []topology.NodeID {
	g := s.survey.res.Graph
	first := map[model.Ref]string{}
	mixed := map[model.Ref]bool{}
	var rules []topology.NodeID
	for _, route := range g.Children(topology.All, listener) {
		if n := g.Node(route); n.Role != topology.Route || n.Hop > 0 {
			continue
		}
		above := s.stacks(nil, route)
		for _, rule := range g.Children(topology.All, route) {
			rules = append(rules, rule)
			key := string(s.stacks(slices.Clone(above), rule))
			for _, b := range g.Backends(rule) {
				if known, found := first[b.Ref]; !found {
					first[b.Ref] = key
				} else if known != key {
					mixed[b.Ref] = true
				}
			}
		}
	}
	if len(mixed) == 0 {
		return nil
	}
	return slices.DeleteFunc(rules, func(rule topology.NodeID) bool {
		return !slices.ContainsFunc(g.Backends(rule), func(b topology.BackendRef) bool { return mixed[b.Ref] })
	})
}

// stacks adds to a key what reaches a node: two with the same key have the same policies.
func (s *speller) stacks(key []byte, id topology.NodeID) []byte {
	for i, k := range s.survey.picked {
		if !k.ReachesNode(s.survey.res.Node(id)) {
			continue
		}
		for _, stack := range k.Contexts(id) {
			if !k.Empty(stack) {
				key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(i)), uint64(stack))
			}
		}
	}
	return append(key, 0)
}

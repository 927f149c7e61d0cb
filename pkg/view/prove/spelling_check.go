package prove

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// FindSpellingBypasses finds spellings of requests that get around the policies that keep requests
// out of a rule: it is known that the implementation leaves dots, slashes or escaped characters as
// they are, the rule that takes the spelling has none of these policies, and the same backend gets
// both. It leaves out what is not certain, and spellings that no implementation would undo.
func FindSpellingBypasses(r *resolve.Resolution, m *request.Matcher, judges view.Judges) []model.Problem {
	kinds, keeping := protection.FindProtectiveKinds(r)
	if !keeping {
		return nil
	}
	q := Query{Scope: space.Scope{Destination: space.AnyDestination()}, Kinds: kinds, Holds: checkProtection}
	s := newSpellingFinder(r, m, &q, judges)
	s.onlyCertain, s.asksProtection = true, true
	for _, listener := range r.Graph.Order(topology.Traffic) {
		if r.Node(listener).Role != topology.Listener || s.isTruncated || s.err != nil {
			continue
		}
		if left := s.findUnnormalized(listener); len(left) > 0 {
			s.tryListener(listener, left)
		}
	}
	out := buildSpellingProblems(r, s.found)
	if s.err != nil {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "not all spellings of requests were tried: " + s.err.Error()})
	}
	if s.isTruncated {
		out = append(out, model.Problem{Severity: model.Info, Code: model.SpellingBypass,
			Message: "spellings were tried of the first " + view.FormatNumber(mostSpelledPaths) + " paths only",
			Hint:    "ask about paths and hosts with: kubectl dopolicy prove"})
	}
	return out
}

// checkProtection says whether a policy is in force on a path that keeps requests out. Of kinds
// without a descriptor this is not known.
func checkProtection(w *BackendPath) (held bool, unknown string) {
	for _, f := range w.InForce {
		switch {
		case len(f.Policy.Rules) == 0:
		case f.Kind.IsGeneric():
			unknown = "whether a " + f.Kind.GroupKind.Kind + " keeps requests out is not known"
		case protection.HasProtectiveSetting(f):
			return true, ""
		}
	}
	return false, unknown
}

// findUnnormalized returns the spellings that the implementation of a listener is known to leave as
// they are, and others undo.
func (s *spellingFinder) findUnnormalized(listener topology.NodeID) []spellingVariant {
	facts := s.collector.Resolution.Graph.Listener(listener)
	if !facts.Accepted || facts.Protocol != "HTTP" && facts.Protocol != "HTTPS" {
		return nil
	}
	all := request.Competition{Matcher: s.matcher}
	var out []spellingVariant
	for _, v := range spellingVariants {
		r := request.Request{Path: "/a/b"}
		if !v.normalized || !v.apply(&r) {
			continue
		}
		if compared, known := all.NormalizedPath(listener, r.Path); known && compared != "/a/b" {
			out = append(out, v)
		}
	}
	return out
}

// tryListener tries spellings of requests to the rules at a listener that share a backend with a
// rule on which other policies may be in force.
func (s *spellingFinder) tryListener(listener topology.NodeID, left []spellingVariant) {
	gateway := protection.FindGatewayAbove(s.collector.Resolution.Graph, listener)
	if gateway == topology.None {
		return
	}
	all := request.Competition{Matcher: s.matcher}
	for _, rule := range s.findMixedRules(listener) {
		for _, example := range all.ExampleRequests(gateway, listener, rule) {
			if example.Path == "/" {
				continue
			}
			if s.tryExample(gateway, example, rule, left); s.isTruncated || s.err != nil {
				return
			}
		}
	}
}

// tryExample tries spellings of a request that the rule takes.
func (s *spellingFinder) tryExample(gateway topology.NodeID, r request.Request, rule topology.NodeID,
	left []spellingVariant) {
	a, err := s.matcher.FindRule(r, request.Destination{Gateway: gateway})
	if err != nil {
		s.err = err
		return
	}
	c := &space.Class{Entry: request.Entry{Gateway: gateway, Port: r.Port, Secure: r.Secure},
		Request: a.Request, Answer: a}
	if a.Rule != rule || requests.FindDoubt(c) != "" || !s.isFulfilled(c) || !s.isNewPath(c) {
		return
	}
	s.err = s.trySpellings(c, left)
}

// findMixedRules returns the rules at a listener whose backend also gets requests from another rule
// there that other policies reach.
func (s *spellingFinder) findMixedRules(listener topology.NodeID) []topology.NodeID {
	g := s.collector.Resolution.Graph
	first := map[model.Ref]string{}
	mixed := map[model.Ref]bool{}
	var rules []topology.NodeID
	for _, route := range g.Children(topology.All, listener) {
		if n := g.Node(route); n.Role != topology.Route || n.Hop > 0 {
			continue
		}
		above := s.appendStacksKey(nil, route)
		for _, rule := range g.Children(topology.All, route) {
			rules = append(rules, rule)
			key := string(s.appendStacksKey(slices.Clone(above), rule))
			for _, b := range g.BackendRefs(rule) {
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
		return !slices.ContainsFunc(g.BackendRefs(rule), func(b topology.BackendRef) bool { return mixed[b.Ref] })
	})
}

// appendStacksKey adds to a key which stacks reach a node: equal keys mean the same policies.
func (s *spellingFinder) appendStacksKey(key []byte, id topology.NodeID) []byte {
	for i, k := range s.collector.AskedKinds {
		if !k.HasResultsAtNode(s.collector.Resolution.Node(id)) {
			continue
		}
		for _, stack := range k.Contexts(id) {
			if !k.IsEmpty(stack) {
				key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(i)), uint64(stack))
			}
		}
	}
	return append(key, 0)
}

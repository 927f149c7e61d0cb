package envoygateway

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// conditions are those that the controller writes about policies that can target routes. They presume that what the policies
// hold can be translated.
func conditions(r *resolve.Resolution, k *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	all := places(r, k, fates)
	s := survey(r, k, all)
	return inBooks(r, all, s.judge)
}

// inBooks has every place judged into the ledger of its policy.
func inBooks(r *resolve.Resolution, all []place, judge func(*place, *ledger)) map[*policy.Policy][]status.Ancestor {
	books := map[*policy.Policy]*ledger{}
	for i := range all {
		p := &all[i]
		if books[p.policy] == nil {
			books[p.policy] = &ledger{controller: controllerName(r)}
		}
		judge(p, books[p.policy])
	}
	for _, book := range books {
		status.LeaveSetsOpen(r, book.ancestors)
	}
	out := make(map[*policy.Policy][]status.Ancestor, len(books))
	for p, book := range books {
		out[p] = book.written()
	}
	return out
}

// judge writes what becomes of a policy at one target.
func (s *scopes) judge(p *place, book *ledger) {
	ancestors := s.ancestors(p)
	switch {
	case p.node == topology.None:
		book.refuse(ancestors, "TargetNotFound", "%s", missing(p))
		return
	case p.holder != nil:
		book.refuse(ancestors, "Conflicted", "Unable to target %s, another %s has already attached to it", described(p), s.kind.GroupKind.Kind)
		return
	}
	if fault := s.invalid(p, nil); fault != "" {
		book.refuse(ancestors, "Invalid", "%s", sentence(fault))
		return
	}
	if fault := s.broken(p.policy, nil); fault != "" && !s.asks(p) {
		book.refuse(ancestors, "Invalid", "%s", sentence(fault))
	}
	s.mergers(p, book)
	book.accept(ancestors)
	book.warn(ancestors, p.policy)
	s.overrides(p, book, ancestors)
}

// ancestors are the objects in whose name a policy for a target is reported: the target itself, for a route the parents as it names them.
func (s *scopes) ancestors(p *place) []model.Ref {
	if !isRoute(p.target.GroupKind()) {
		return []model.Ref{p.target}
	}
	var out []model.Ref
	for _, parent := range parents(s.res, s.kind, p.object) {
		out = append(out, parent.ref)
	}
	return out
}

// asks reports whether a place is a route whose policy asks to be merged: it is judged listener by listener.
func (s *scopes) asks(p *place) bool {
	return isRoute(p.target.GroupKind()) && mergeType(p.policy) != ""
}

// mergers writes with whom a route's policy is merged, listener by listener.
func (s *scopes) mergers(p *place, book *ledger) {
	if !s.asks(p) {
		return
	}
	for _, parent := range parents(s.res, s.kind, p.object) {
		for _, listener := range parent.listeners {
			ref := s.res.Node(listener).Ref
			m := s.pairs[p.policy][ref]
			if m != nil && m.route != p.target.WithoutSection() {
				continue
			}
			var above *policy.Policy
			if m != nil {
				above = m.parent
			}
			switch fault := s.fault(p, above); {
			case fault != "":
				book.refuse(only(ref), "Invalid", "%s", sentence(fault))
			case m != nil:
				book.say(only(ref), "Merged", "Merged with policy %s", above.Ref().FullName())
			}
		}
	}
}

// fault is why a route's policy, merged with a parent if there is one, cannot be translated, "" if nothing is known against it.
func (s *scopes) fault(p *place, parent *policy.Policy) string {
	if fault := s.invalid(p, parent); fault != "" {
		return fault
	}
	return s.broken(p.policy, parent)
}

// invalid is what the controller holds against the policy of a route before it translates it.
func (s *scopes) invalid(p *place, parent *policy.Policy) string {
	if s.kind.GroupKind.Kind != "SecurityPolicy" || !isRoute(p.target.GroupKind()) {
		return ""
	}
	fault := invalidSecurity(settings{p.policy, parent}, p.target.Kind)
	switch {
	case fault == "" || parent != nil:
		return fault
	case p.target.Kind == "TCPRoute":
		return "invalid SecurityPolicy for TCP route: " + fault
	}
	return "invalid SecurityPolicy: " + fault
}

// overrides writes what is below the target of a policy and goes before it.
func (s *scopes) overrides(p *place, book *ledger, ancestors []model.Ref) {
	plural := pluralOf(s.kind.GroupKind.Kind)
	if isRoute(p.target.GroupKind()) {
		if rules := s.rules[p.target]; p.target.Section == "" && len(rules) > 0 {
			var names []string
			for name := range rules {
				names = append(names, name)
			}
			if s.kind.GroupKind.Kind == "BackendTrafficPolicy" {
				plural = "backendTrafficPolicy"
			}
			book.say(ancestors, "Overridden", "This policy is being overridden by other %s for these route rules: %s", plural, bracketed(names))
		}
		return
	}
	if routes := s.merging(p.target); len(routes) > 0 {
		book.say(ancestors, "Merged", "This policy is being merged by other %s for these routes: %s", plural, bracketed(routes))
	}
	if by := s.overriding(p.target); by != "" {
		book.say(ancestors, "Overridden", "This policy is being overridden by other %s for %s", plural, by)
	}
}

// pluralOf is the controller's word for several policies of a kind.
func pluralOf(kind string) string {
	stem := strings.TrimSuffix(strings.ToLower(kind[:1])+kind[1:], "y")
	return stem + "ies"
}

// described names a target as conflicts do.
func described(p *place) string {
	name, section := p.target.Name, p.target.Section
	switch {
	case section == "":
		return p.target.Kind + " " + name
	case isRoute(p.target.GroupKind()):
		return "RouteRule " + name + "/" + section
	case p.target.Kind == "Gateway" && p.policy.Ref().Kind == "BackendTrafficPolicy":
		return "Listener " + p.target.FullName() + "/" + section
	}
	return "Listener " + name + "/" + section
}

// missing says which section is not there.
func missing(p *place) string {
	if topology.IsListenerSet(p.target.GroupKind()) && p.policy.Ref().Kind == "ClientTrafficPolicy" {
		return fmt.Sprintf("ListenerSet %s does not have a listener named %q", p.target.FullName(), p.target.Section)
	}
	return fmt.Sprintf("No section name %s found for %s %s", p.target.Section, p.target.Kind, p.target.FullName())
}

// sentence is an error as the controller writes it into a condition.
func sentence(fault string) string {
	if fault == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(fault)
	fault = string(unicode.ToUpper(first)) + fault[size:]
	if strings.HasSuffix(fault, ".") {
		return fault
	}
	return fault + "."
}

// deprecated lists the deprecated fields that a policy uses, with what to use instead, as the controller does.
func deprecated(p *policy.Policy) []string {
	var out []string
	for _, d := range []struct {
		kinds []string
		path  []string
		use   string
	}{
		{nil, []string{"spec", "targetRef"}, "spec.targetRefs"},
		{[]string{"BackendTrafficPolicy"}, []string{"spec", "compression"}, "spec.compressor"},
		{[]string{"ClientTrafficPolicy"}, []string{"spec", "enableProxyProtocol"}, "spec.proxyProtocol"},
		{[]string{"ClientTrafficPolicy"}, []string{"spec", "headers", "preserveXRequestID"}, "spec.headers.requestID"},
		{[]string{"SecurityPolicy"}, []string{"spec", "extAuth", "grpc", "backendRef"}, "spec.extAuth.grpc.backendRefs"},
		{[]string{"SecurityPolicy"}, []string{"spec", "extAuth", "http", "backendRef"}, "spec.extAuth.http.backendRefs"},
	} {
		if (d.kinds == nil || slices.Contains(d.kinds, p.Ref().Kind)) && written(p.Object.Body.At(d.path...)) {
			out = append(out, strings.Join(d.path, ".")+" is deprecated, use "+d.use+" instead")
		}
	}
	return out
}

// written reports whether a field is there as Go's types see it: no null, no empty list.
func written(b model.Body) bool { return !b.IsNull() && !(b.IsList() && b.Len() == 0) }

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
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// routeConditions are those that the controller writes about policies that can target routes. They
// presume that what the policies hold can be translated.
func routeConditions(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	all := listPolicyTargets(r, k, fates)
	s := buildScopeTree(r, k, all)
	return writeConditions(r, all, s.writeTarget)
}

// writeConditions has every target judged into the status of its policy.
func writeConditions(r *resolve.Resolution, all []policyTarget, judge func(*policyTarget,
	*statusWriter)) map[*policy.Policy][]status.Ancestor {
	books := map[*policy.Policy]*statusWriter{}
	for i := range all {
		p := &all[i]
		if books[p.policy] == nil {
			books[p.policy] = &statusWriter{controller: controllerName(r)}
		}
		judge(p, books[p.policy])
	}
	for _, book := range books {
		status.MarkUnknownSets(r, book.ancestors)
	}
	out := make(map[*policy.Policy][]status.Ancestor, len(books))
	for p, book := range books {
		out[p] = book.buildAncestors()
	}
	return out
}

// writeTarget writes what becomes of a policy at one target.
func (s *scopeTree) writeTarget(p *policyTarget, book *statusWriter) {
	ancestors := s.listAncestors(p)
	switch {
	case p.node == topology.None:
		book.setRefused(ancestors, "TargetNotFound", "%s", formatMissingSection(p))
		return
	case p.holder != nil:
		book.setRefused(ancestors, "Conflicted", "Unable to target %s, another %s has already attached to it",
			formatConflictTarget(p), s.kind.GroupKind.Kind)
		return
	}
	if fault := s.validationFault(p, nil); fault != "" {
		book.setRefused(ancestors, "Invalid", "%s", formatSentence(fault))
		return
	}
	if fault := s.translationFault(p.policy, nil); fault != "" && !s.asksToMerge(p) {
		book.setRefused(ancestors, "Invalid", "%s", formatSentence(fault))
	}
	s.writeMerged(p, book)
	book.setAccepted(ancestors)
	book.setDeprecated(ancestors, p.policy)
	s.writeOverrides(p, book, ancestors)
}

// listAncestors are the objects in whose name a policy for a target is reported: the target itself,
// for a route the parents as it names them.
func (s *scopeTree) listAncestors(p *policyTarget) []model.Ref {
	if !isRoute(p.target.GroupKind()) {
		return []model.Ref{p.target}
	}
	var out []model.Ref
	for _, parent := range listParents(s.res, s.kind, p.object) {
		out = append(out, parent.ref)
	}
	return out
}

// asksToMerge reports whether a target is a route whose policy asks to be merged: it is judged
// listener by listener.
func (s *scopeTree) asksToMerge(p *policyTarget) bool {
	return isRoute(p.target.GroupKind()) && mergeTypeOf(p.policy) != ""
}

// writeMerged writes with whom a route's policy is merged, listener by listener.
func (s *scopeTree) writeMerged(p *policyTarget, book *statusWriter) {
	if !s.asksToMerge(p) {
		return
	}
	for _, parent := range listParents(s.res, s.kind, p.object) {
		for _, listener := range parent.listeners {
			ref := s.res.Node(listener).Ref
			m := s.mergePairs[p.policy][ref]
			if m != nil && m.route != p.target.WithoutSection() {
				continue
			}
			var above *policy.Policy
			if m != nil {
				above = m.parent
			}
			switch fault := s.routeFault(p, above); {
			case fault != "":
				book.setRefused(listOne(ref), "Invalid", "%s", formatSentence(fault))
			case m != nil:
				book.setTrue(listOne(ref), "Merged", "Merged with policy %s", above.Ref().FullName())
			}
		}
	}
}

// routeFault is why a route's policy, merged with a parent if there is one, cannot be translated,
// "" if nothing is known against it.
func (s *scopeTree) routeFault(p *policyTarget, parent *policy.Policy) string {
	if fault := s.validationFault(p, parent); fault != "" {
		return fault
	}
	return s.translationFault(p.policy, parent)
}

// validationFault is what the controller holds against the policy of a route before it translates
// it.
func (s *scopeTree) validationFault(p *policyTarget, parent *policy.Policy) string {
	if s.kind.GroupKind.Kind != "SecurityPolicy" || !isRoute(p.target.GroupKind()) {
		return ""
	}
	fault := explainInvalidSecurity(mergedSpec{p.policy, parent}, p.target.Kind)
	switch {
	case fault == "" || parent != nil:
		return fault
	case p.target.Kind == "TCPRoute":
		return "invalid SecurityPolicy for TCP route: " + fault
	}
	return "invalid SecurityPolicy: " + fault
}

// writeOverrides writes what is below the target of a policy and goes before it.
func (s *scopeTree) writeOverrides(p *policyTarget, book *statusWriter, ancestors []model.Ref) {
	plural := pluralizeKind(s.kind.GroupKind.Kind)
	if isRoute(p.target.GroupKind()) {
		if rules := s.rules[p.target]; p.target.Section == "" && len(rules) > 0 {
			var names []string
			for name := range rules {
				names = append(names, name)
			}
			if s.kind.GroupKind.Kind == "BackendTrafficPolicy" {
				plural = "backendTrafficPolicy"
			}
			book.setTrue(ancestors, "Overridden",
				"This policy is being overridden by other %s for these route rules: %s", plural, formatUnique(names))
		}
		return
	}
	if routes := s.listMergedRoutes(p.target); len(routes) > 0 {
		book.setTrue(ancestors, "Merged", "This policy is being merged by other %s for these routes: %s", plural,
			formatUnique(routes))
	}
	if by := s.describeOverriding(p.target); by != "" {
		book.setTrue(ancestors, "Overridden", "This policy is being overridden by other %s for %s", plural, by)
	}
}

// pluralizeKind is the controller's word for several policies of a kind.
func pluralizeKind(kind string) string {
	stem := strings.TrimSuffix(strings.ToLower(kind[:1])+kind[1:], "y")
	return stem + "ies"
}

// formatConflictTarget names a target as conflicts do.
func formatConflictTarget(p *policyTarget) string {
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

// formatMissingSection says which section is not there.
func formatMissingSection(p *policyTarget) string {
	if gatewayapi.IsListenerSet(p.target.GroupKind()) && p.policy.Ref().Kind == "ClientTrafficPolicy" {
		return fmt.Sprintf("ListenerSet %s does not have a listener named %q", p.target.FullName(), p.target.Section)
	}
	return fmt.Sprintf("No section name %s found for %s %s", p.target.Section, p.target.Kind, p.target.FullName())
}

// formatSentence is an error as the controller writes it into a condition.
func formatSentence(fault string) string {
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

// listDeprecatedFields lists the deprecated fields that a policy uses, with what to use instead, as
// the controller does.
func listDeprecatedFields(p *policy.Policy) []string {
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
		{[]string{"SecurityPolicy"}, []string{"spec", "extAuth", "grpc", "backendRef"},
			"spec.extAuth.grpc.backendRefs"},
		{[]string{"SecurityPolicy"}, []string{"spec", "extAuth", "http", "backendRef"},
			"spec.extAuth.http.backendRefs"},
	} {
		if (d.kinds == nil || slices.Contains(d.kinds, p.Ref().Kind)) && isSet(p.Object.Body.At(d.path...)) {
			out = append(out, strings.Join(d.path, ".")+" is deprecated, use "+d.use+" instead")
		}
	}
	return out
}

// isSet reports whether a field is there as Go's types see it: no null, no empty list.
func isSet(b model.Body) bool { return !b.IsNull() && !(b.IsList() && b.Len() == 0) }

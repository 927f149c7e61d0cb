package main

import "github.com/kuadrant/policy-machinery/machinery"

// effective is the effective policy of one path: from the gateway down to a route rule.
type effective struct {
	path  []machinery.Targetable
	rules ruleSet
}

// effectivePolicies computes the effective policy of every route rule for every path from every gateway, in the way of
// policy-machinery's own example for Kuadrant: the paths between each gateway and each rule, and on each path the policies folded
// from the most to the least specific one.
func effectivePolicies(topology *machinery.Topology) []effective {
	targetables := topology.Targetables()
	gateways := targetables.Items(isA[*machinery.Gateway])
	rules := targetables.Items(isA[*machinery.HTTPRouteRule])
	var out []effective
	for _, gateway := range gateways {
		for _, rule := range rules {
			for _, path := range targetables.Paths(gateway, rule) {
				if p := fold(path); p != nil {
					out = append(out, effective{path, rulesOf(p)})
				}
			}
		}
	}
	return out
}

func isA[T machinery.Object](o machinery.Object) bool {
	_, ok := o.(T)
	return ok
}

// fold merges the policies of a path. The topology has at most one policy on a target, so there is nothing to sort.
func fold(path []machinery.Targetable) machinery.Policy {
	var p machinery.Policy
	for i := len(path) - 1; i >= 0; i-- {
		for _, next := range path[i].Policies() {
			if p == nil {
				p = next
				continue
			}
			p = p.Merge(next)
		}
	}
	return p
}

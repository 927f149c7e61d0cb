package main

import (
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/workloadapi/security"
)

// tunnel notes the policies that ztunnel has about a workload by action, and their rules.
func (w *world) tunnel(out facts, t target) {
	var own []string // those that select it
	addresses, _ := w.server.Env().AddressInformation(nil)
	for _, a := range addresses {
		if p := a.GetWorkload(); p != nil && p.Namespace == t.proxy.ConfigNamespace && p.Name+"."+p.Namespace == t.proxy.ID {
			own = p.AuthorizationPolicies
		}
	}
	lists := map[string][]string{}
	for _, p := range w.server.Env().Policies(nil) {
		a := p.Authorization
		if p.Source.Kind.String() != "AuthorizationPolicy" {
			continue
		}
		name := a.Namespace + "/" + a.Name
		if a.Scope == security.Scope_GLOBAL || a.Scope == security.Scope_NAMESPACE && a.Namespace == t.proxy.ConfigNamespace || slices.Contains(own, name) {
			lists[a.Action.String()] = append(lists[a.Action.String()], name)
			out.note("tunnelrules "+t.key+" "+name, groups(p))
		}
	}
	for action, names := range lists {
		slices.Sort(names)
		out.note("tunnel "+t.key+" "+action, names)
	}
}

// groups are the rules of a policy, one of which has to match. Conditions that match everything are left out: they stand for those that ztunnel
// does not see.
func groups(p model.WorkloadAuthorization) []json.RawMessage {
	var out []json.RawMessage
	for _, g := range p.Authorization.Groups {
		g = proto.CloneOf(g)
		g.Rules = slices.DeleteFunc(g.Rules, func(r *security.Rules) bool {
			return slices.ContainsFunc(r.Matches, func(m *security.Match) bool { return proto.Equal(m, &security.Match{}) })
		})
		out = append(out, json.RawMessage(`{"all":`+text(g)+`}`))
	}
	return out
}

package main

import (
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	"istio.io/istio/pkg/workloadapi"
	"istio.io/istio/pkg/workloadapi/security"
)

// tunnel notes the policies that ztunnel has about a workload by action, and their rules. Those that deny and have no rule that may match are left
// out: they are sent, and do nothing.
func (w *world) tunnel(out facts, t target) {
	lists := map[string][]string{}
	for _, a := range w.sent(w.workloads()[t.proxy.ConfigNamespace+"/"+t.name()], true) {
		name := a.Namespace + "/" + a.Name
		rules := groups(a)
		if a.Action == security.Action_DENY && len(rules) == 0 {
			continue
		}
		lists[a.Action.String()] = append(lists[a.Action.String()], name)
		out.note("tunnelrules "+t.key+" "+name, rules)
	}
	for action, names := range lists {
		slices.Sort(names)
		out.note("tunnel "+t.key+" "+action, names)
	}
}

// sent lists the policies that ztunnel has about a workload: AuthorizationPolicies, or what PeerAuthentications become.
func (w *world) sent(p *workloadapi.Workload, authorization bool) []*security.Authorization {
	var out []*security.Authorization
	for _, one := range w.server.Env().Policies(nil) {
		a := one.Authorization
		if a == nil || (one.Source.Kind.String() == "AuthorizationPolicy") != authorization {
			continue
		}
		if a.Scope == security.Scope_GLOBAL || a.Scope == security.Scope_NAMESPACE && a.Namespace == p.Namespace || slices.Contains(p.AuthorizationPolicies, a.Namespace+"/"+a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// groups are the rules of a policy, one of which has to match, without those that never do, and without the entries that never do. A rule without
// conditions always matches.
func groups(a *security.Authorization) []json.RawMessage {
	var out []json.RawMessage
	for _, g := range a.Groups {
		g = proto.CloneOf(g)
		void := false
		for _, clause := range g.Rules {
			entries := len(clause.Matches)
			clause.Matches = slices.DeleteFunc(clause.Matches, func(m *security.Match) bool { return proto.Equal(m, &security.Match{}) })
			void = void || entries > 0 && len(clause.Matches) == 0
		}
		if !void {
			out = append(out, json.RawMessage(`{"all":`+text(g)+`}`))
		}
	}
	return out
}

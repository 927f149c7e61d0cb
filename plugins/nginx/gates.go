package nginx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"nginx.Limit": buildLimitGate, "nginx.Single": buildSingleGate,
		"nginx.Refused": buildRefusedGates}
}

// The limit of a rule that does not say it (nginx-gateway-fabric
// internal/controller/nginx/config/policies/ratelimit/generator.go:47-54 @ e55bfe339).
const (
	defaultRate = "100r/s"
	defaultKey  = "$binary_remote_addr"
)

// buildLimitGate is one rule of a RateLimitPolicy. Its zone is named after the policy, and each
// replica of nginx has its own.
func buildLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	at := func(field string) string { return in.Text(append(slices.Clone(in.Path), field)...) }
	rate, key := at("rate"), at("key")
	if rate == "" {
		rate = defaultRate
	}
	if key == "" {
		key = defaultKey
	}
	c := protect.Counter{Limit: rate, Scope: "policy", Key: []string{key}, Replicas: "each"}
	if number, unit, found := strings.Cut(rate, "r/"); found {
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			c.Limit, c.Per = n, "1"+unit
		}
	}
	g.Counters = []protect.Counter{c}
	return []protect.Gate{g}
}

// buildSingleGate is the gate of an AuthenticationFilter. A rule may have one: with another one its
// requests are answered with 500 (internal/controller/state/graph/common_filter.go:152-165,
// internal/controller/nginx/config/servers.go:1218 @ e55bfe339).
func buildSingleGate(in protect.Input, g protect.Gate) []protect.Gate {
	others := slices.ContainsFunc(in.InForce, func(s *protect.Settings) bool {
		return s.Kind == in.Kind &&
			s.Source() != g.Object
	})
	if others {
		g.AddReason(gate.DeniesAll, g.Field)
		g.Answers, g.Missing, g.Refuses = []string{"500"}, []string{"500"}, protect.AlwaysRefuses
	}
	return []protect.Gate{g}
}

// buildRefusedGates are those of filters whose objects the API refuses: they do not exist then, and
// requests of the rule are answered with 500.
func buildRefusedGates(in protect.Input, _ protect.Gate) []protect.Gate {
	if in.RouteRule() == topology.None {
		return nil
	}
	n := in.Resolution().Node(in.RouteRule())
	if n.Object == nil {
		return nil
	}
	for _, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		to := f.Field("extensionRef")
		ref := model.Ref{Group: group, Kind: "AuthenticationFilter", Namespace: n.Ref.Namespace, Name: to.Text("name")}
		if to.Text("group") != ref.Group || to.Text("kind") != ref.Kind || in.Snapshot().Get(ref) == nil {
			continue
		}
		if slices.ContainsFunc(in.InForce, func(s *protect.Settings) bool {
			return s.Kind == in.Kind &&
				s.Source() == ref
		}) {
			continue
		}
		g := protect.Gate{Property: gate.Authentication, Object: ref, Answers: []string{"500"},
			Missing: []string{"500"}, Refuses: protect.AlwaysRefuses}
		g.AddReason(gate.DeniesAll, "")
		g.Reasons[0].Message = "the API refuses " + ref.String() + ", so requests of the rule fail"
		return []protect.Gate{g}
	}
	return nil
}

// newFilterReader prepares what says of filters that gates tell all about them: those that
// authenticate.
func newFilterReader(in *model.Snapshot) topology.FilterReader {
	return func(filter model.Ref) (topology.FilterEffect, bool) {
		return topology.FilterEffect{}, filter.Group == group && filter.Kind == "AuthenticationFilter" &&
			in.Get(filter) != nil
	}
}

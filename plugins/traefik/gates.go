package traefik

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"traefik.Plain": withFilterOrder(protect.AsDescribed),
		"traefik.Addresses": withFilterOrder(buildAddressGate), "traefik.RateLimit": withFilterOrder(
			buildRateLimitGate),
		"traefik.InFlight": withFilterOrder(buildInFlightGate), "traefik.Origins": withFilterOrder(buildOriginGate),
		"traefik.Redirect": withFilterOrder(buildRedirectGate), "traefik.Chain": withFilterOrder(buildChainGate)}
}

// chainPartFunctions are those for one part of a chain, which has no chains itself.
func chainPartFunctions() protect.Functions {
	out := gateFunctions()
	out["traefik.Chain"] = func(protect.Input, protect.Gate) []protect.Gate { return nil }
	return out
}

// maxParts is how many parts of a chain, with those of chains in it, are read.
const maxParts = 1000

// withFilterOrder gives gates the place of the filter that names their Middleware; parts of a chain
// are numbered in it.
func withFilterOrder(complete protect.Func) protect.Func {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		at := 0
		for i := range in.Verdict.Result.Rules {
			if &in.Verdict.Result.Rules[i] == in.Settings.Rule {
				at = i * maxParts
			}
		}
		out := complete(in, g)
		for i := range out {
			out[i].Order += at
		}
		return out
	}
}

// buildAddressGate is the gate of a list of addresses, of which one may be every address.
func buildAddressGate(in protect.Input, g protect.Gate) []protect.Gate {
	if protect.CoversAll(in.Value(append(slices.Clone(in.Path), "sourceRange")...)) {
		g.AddReason(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// buildRateLimitGate is the gate of a limit, which counts nothing without an average. Each router
// has counters of its own; with Redis all replicas share them (traefik
// pkg/middlewares/ratelimiter/rate_limiter.go @ fd5a576df2).
func buildRateLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	average := in.Text("rateLimit", "average")
	if average == "" || average == "0" {
		g.AddReason(gate.Unlimited, g.Field)
		return []protect.Gate{g}
	}
	period := in.Text("rateLimit", "period")
	if period == "" {
		period = "1s"
	}
	c := protect.Counter{Limit: in.Value("rateLimit", "average"), Per: period, Scope: "rule",
		Key: listSourceKeys(in, "rateLimit", "source address"), Replicas: "each"}
	if in.Value("rateLimit", "redis") != nil {
		c.Replicas = "all"
	}
	g.Counters = []protect.Counter{c}
	return []protect.Gate{g}
}

// buildInFlightGate is the gate of a limit of requests at one time.
func buildInFlightGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Counters = []protect.Counter{{Limit: in.Value("inFlightReq", "amount"), Scope: "rule",
		Key: listSourceKeys(in, "inFlightReq", "host"), Replicas: "each"}}
	return []protect.Gate{g}
}

// listSourceKeys is by what requests are told apart.
func listSourceKeys(in protect.Input, field, otherwise string) []string {
	switch {
	case in.Text(field, "sourceCriterion", "requestHeaderName") != "":
		return []string{"header " + in.Text(field, "sourceCriterion", "requestHeaderName")}
	case in.Text(field, "sourceCriterion", "requestHost") == "true":
		return []string{"host"}
	case in.Value(field, "sourceCriterion", "ipStrategy") != nil:
		return []string{"source address"}
	}
	return []string{otherwise}
}

// buildOriginGate is the gate of the origins that browsers may read answers for.
func buildOriginGate(in protect.Input, g protect.Gate) []protect.Gate {
	for _, origin := range append(in.List("headers", "accessControlAllowOriginList"),
		in.List("headers", "accessControlAllowOriginListRegex")...) {
		if origin == "*" || origin == ".*" || origin == "^.*$" {
			g.AddReason(gate.AnyOrigin, g.Field)
			break
		}
	}
	g.Refuses = protect.NeverRefuses
	return []protect.Gate{g}
}

// buildRedirectGate sends plain requests to https: none of them gets through.
func buildRedirectGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Answers = []string{strconv.Itoa(redirectStatus(in.Reader.Request.Method,
		in.Text("redirectScheme", "permanent") == "true"))}
	g.Refuses = protect.AlwaysRefuses
	if in.Reader.Request.Secure {
		g.Answers, g.Refuses = nil, protect.NeverRefuses
	} else {
		g.AddReason(gate.DeniesAll, g.Field)
		g.Reasons[0].Message = g.Field + " of Middleware " + g.Object.FullName() + " redirects every request to https"
	}
	return []protect.Gate{g}
}

// buildChainGate stands for the parts of a chain, in their order.
func buildChainGate(in protect.Input, g protect.Gate) []protect.Gate {
	var chain chainReader
	chain.addChain(in, g, g.Object, in.List("chain", "middlewares"), nil)
	return chain.gates
}

// chainReader numbers the parts of a chain.
type chainReader struct {
	parts int
	gates []protect.Gate
}

// addChain adds the gates of one property that the named Middlewares make.
func (c *chainReader) addChain(in protect.Input, g protect.Gate, chain model.Ref, names []any, above []model.Ref) {
	for _, entry := range names {
		if c.parts == maxParts-1 {
			g.Object, g.Field, g.Reasons, g.Order = chain, "chain.middlewares", nil, c.parts
			g.AddReason(gate.NotRead, g.Field)
			g.Reasons[0].Message = fmt.Sprintf("the chain has more than %d parts, which are not read", maxParts-1)
			c.gates = append(c.gates, g)
			c.parts++
		}
		if c.parts >= maxParts {
			return
		}
		c.parts++
		fields, _ := entry.(map[string]any)
		name, _ := fields["name"].(string)
		ref := model.Ref{Group: middlewareKind.Group, Kind: middlewareKind.Kind, Namespace: chain.Namespace, Name: name}
		if namespace, _ := fields["namespace"].(string); namespace != "" {
			ref.Namespace = namespace
		}
		if slices.Contains(above, ref) { // a chain in itself
			continue
		}
		o := in.Snapshot().Get(ref)
		if o == nil {
			g.Object, g.Field, g.Reasons, g.Order = chain, "chain.middlewares", nil, c.parts
			g.AddReason(gate.MissingObject, g.Field)
			g.Reasons[0].Message += fmt.Sprintf(": Middleware %s", ref.FullName())
			c.gates = append(c.gates, g)
			continue
		}
		for _, part := range in.GatesOf(o, chainPartFunctions()) {
			if part.Property == g.Property {
				part.Order = c.parts
				c.gates = append(c.gates, part)
			}
		}
		inner, _ := o.Body.At("spec", "chain", "middlewares").Value().([]any)
		c.addChain(in, g, ref, inner, append(slices.Clone(above), ref))
	}
}

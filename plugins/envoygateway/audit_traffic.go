package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// ifForwarding asks only of routes that send somewhere, for settings that are part of the sending, or
// that the translator gives to no others. Filters run on redirects, too.
func ifForwarding(want func(*audit.Case, any) any) func(*audit.Case, any) any {
	return func(c *audit.Case, v any) any {
		if v == nil || c.ServedRoute.Route.Action() != "route" {
			return nil
		}
		return want(c, v)
	}
}

func wantAnything(*audit.Case, any) any { return true }

// routeAction is what the route does with requests that it forwards.
func routeAction(c *audit.Case) map[string]any {
	return dataplane.Map(c.ServedRoute.Route.Config, "route")
}

func wantDuration(c *audit.Case, v any) any {
	return ifForwarding(func(c *audit.Case, v any) any {
		d, ok := audit.ParseDuration(v)
		if !ok {
			c.SetUncertain("the duration cannot be read")
			return nil
		}
		return d
	})(c, v)
}

func routeDuration(path ...string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		if d, ok := dataplane.Seconds(routeAction(c), path...); ok {
			return d.String()
		}
		return nil
	}
}

// hasOwnTimeouts reports whether the rule has timeouts: they win over the policy's.
func hasOwnTimeouts(c *audit.Case) bool { return dataplane.Has(c.RuleContent, "timeouts") }

func wantTimeout(c *audit.Case, v any) any {
	if hasOwnTimeouts(c) {
		return nil
	}
	return wantDuration(c, v)
}

func foundTimeout(c *audit.Case) any {
	if hasOwnTimeouts(c) {
		return nil
	}
	return routeDuration("timeout")(c)
}

// wantRetry is what the policy says; the retry of a rule wins over it.
func wantRetry(c *audit.Case, v any) any {
	if v == nil || routeAction(c) == nil || dataplane.Has(c.RuleContent, "retry") {
		return nil
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("numRetries", dataplane.Get(v, "numRetries"))
	out.Duration("perTryTimeout", dataplane.Get(v, "perRetry", "timeout"))
	out.Duration("baseInterval", dataplane.Get(v, "perRetry", "backOff", "baseInterval"))
	var codes []float64
	for _, x := range dataplane.List(v, "retryOn", "httpStatusCodes") {
		if n, ok := audit.ParseNumber(x); ok {
			codes = append(codes, n)
		}
	}
	if len(codes) > 0 {
		slices.Sort(codes)
		out.Value["statusCodes"] = codes
	}
	return out.Value
}

func foundRetry(c *audit.Case) any {
	p := dataplane.Map(routeAction(c), "retry_policy")
	if p == nil {
		return nil
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("numRetries", dataplane.Get(p, "num_retries"))
	out.Duration("perTryTimeout", dataplane.Get(p, "per_try_timeout"))
	out.Duration("baseInterval", dataplane.Get(p, "retry_back_off", "base_interval"))
	var codes []float64
	for _, x := range dataplane.List(p, "retriable_status_codes") {
		if n, ok := audit.ParseNumber(x); ok {
			codes = append(codes, n)
		}
	}
	slices.Sort(codes)
	out.Value["statusCodes"] = codes
	return out.Value
}

// wantFault is the delay and the abort, with percentages of a million.
func wantFault(_ *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	out := audit.Copier{Value: audit.Value{"hasDelay": dataplane.Has(v, "delay"),
		"hasAbort": dataplane.Has(v, "abort")}}
	out.Duration("delay", dataplane.Get(v, "delay", "fixedDelay"))
	out.Number("abort", dataplane.Get(v, "abort", "httpStatus"))
	out.Number("abortGRPC", dataplane.Get(v, "abort", "grpcStatus"))
	for _, part := range []string{"delay", "abort"} {
		if n, ok := audit.ParseNumber(dataplane.Get(v, part, "percentage")); ok {
			out.Value[part+"Percent"] = n * 10_000
		}
	}
	return out.Value
}

func foundFault(c *audit.Case) any {
	r, on := c.FindFilter(filterPrefix + "fault")
	if !on || !r.PerRoute {
		return nil
	}
	out := audit.Copier{Value: audit.Value{"hasDelay": dataplane.Has(r.Config, "delay"),
		"hasAbort": dataplane.Has(r.Config, "abort")}}
	out.Duration("delay", dataplane.Get(r.Config, "delay", "fixed_delay"))
	out.Number("abort", dataplane.Get(r.Config, "abort", "http_status"))
	out.Number("abortGRPC", dataplane.Get(r.Config, "abort", "grpc_status"))
	for _, part := range []string{"delay", "abort"} {
		if p := dataplane.Map(r.Config, part, "percentage"); p != nil {
			out.Value[part+"Percent"] = audit.PartsPerMillion(p)
		}
	}
	return out.Value
}

func wantBuffer(c *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	return c.ReadBytes(dataplane.Get(v, "limit"))
}

// wantCompression is the types. `compressor` wins over the older `compression`, and of its types
// only those count that have a configuration (backendtrafficpolicy.go:buildCompression).
func wantCompression(c *audit.Case, _ any) any {
	set := map[string]bool{}
	list, older := dataplane.List(c.Spec, "compressor"), false
	if len(list) == 0 {
		list, older = dataplane.List(c.Spec, "compression"), true
	}
	for _, x := range list {
		if kind := strings.ToLower(dataplane.Text(x, "type")); older || dataplane.Has(x, kind) {
			set[kind] = true
		}
	}
	if len(set) == 0 || routeAction(c) == nil {
		return nil
	}
	return audit.SortedKeys(set)
}

func foundCompression(c *audit.Case) any {
	set := map[string]bool{}
	for _, name := range c.FilterNames() {
		if kind, ok := strings.CutPrefix(name, filterPrefix+"compressor."); ok {
			if _, on := c.FindFilter(name); on {
				set[kind] = true
			}
		}
	}
	if len(set) == 0 {
		return nil
	}
	return audit.SortedKeys(set)
}

func foundOverride(c *audit.Case) any {
	owners, _ := findOwners(c, "custom_response", "backendtrafficpolicy")
	return describeOwners(c, owners)
}

func wantBandwidth(_ *audit.Case, v any) any {
	set := map[string]bool{}
	for _, side := range []string{"request", "response"} {
		if dataplane.Has(v, side) {
			set[side] = true
		}
	}
	if len(set) == 0 {
		return nil
	}
	return audit.SortedKeys(set)
}

func foundBandwidth(c *audit.Case) any {
	set := map[string]bool{}
	for _, side := range []string{"request", "response"} {
		if r, on := c.FindFilter(filterPrefix + "bandwidth_limit/" + side); on && r.PerRoute {
			set[side] = true
		}
	}
	if len(set) == 0 {
		return nil
	}
	return audit.SortedKeys(set)
}

// wantUpgrade is the protocols; GRPCRoutes and buffered requests have none.
func wantUpgrade(c *audit.Case, v any) any {
	if c.Rule.Ref.Kind == "GRPCRoute" || dataplane.Has(c.Spec, "requestBuffer") {
		return nil
	}
	return ifForwarding(func(_ *audit.Case, v any) any {
		set := map[string]bool{}
		for _, x := range dataplane.List(map[string]any{"x": v}, "x") {
			set[dataplane.Text(x, "type")] = true
		}
		if len(set) == 0 {
			return nil
		}
		return audit.SortedKeys(set)
	})(c, v)
}

func foundUpgrade(c *audit.Case) any {
	set := map[string]bool{}
	for _, x := range dataplane.List(routeAction(c), "upgrade_configs") {
		set[dataplane.Text(x, "upgrade_type")] = true
	}
	if len(set) == 0 {
		return nil
	}
	return audit.SortedKeys(set)
}

// wantCount is how many extensions there are.
func wantCount(c *audit.Case, v any) any {
	l, _ := v.([]any)
	if len(l) == 0 {
		return nil
	}
	return len(l)
}

// foundCount is how many of a sort run, or whose do instead of the rule's policies.
func foundCount(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		noteNotForwarded(c)
		owners, n := findOwners(c, filter, "envoyextensionpolicy")
		if others := filterForeign(c, owners); len(others) > 0 && c.Spec != nil {
			return "of " + strings.Join(others, ", ")
		}
		if n == 0 {
			return nil
		}
		return n
	}
}

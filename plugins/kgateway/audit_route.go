package kgateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// routeAction is what the route does with requests that it forwards; nil: it does not forward.
func routeAction(c *audit.Case) map[string]any {
	return dataplane.Map(c.ServedRoute.Route.Config, "route")
}

// isDelegated reports whether a route is delegated to: it takes over what the rules above it say
// themselves, which is not looked at.
func isDelegated(c *audit.Case) bool { return len(c.Graph.Instances(c.ID)) > 0 }

func wantTimeout(c *audit.Case, v any) any {
	if v == nil || routeAction(c) == nil || dataplane.Has(c.RuleContent, "timeouts") {
		return nil
	}
	d, ok := audit.ParseDuration(v)
	if !ok {
		c.SetUncertain("the duration cannot be read")
		return nil
	}
	return d
}

// foundTimeout: those of a rule win over the policy's.
func foundTimeout(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		d, ok := dataplane.Seconds(routeAction(c), field)
		if !ok || dataplane.Has(c.RuleContent, "timeouts") {
			return nil
		}
		if isDelegated(c) {
			c.SetUncertain("the rule may take over a timeout of the rule that delegates to it")
		}
		return d.String()
	}
}

func wantRetry(c *audit.Case, v any) any {
	if v == nil || routeAction(c) == nil || dataplane.Has(c.RuleContent, "retry") {
		return nil
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("attempts", dataplane.Get(v, "attempts"))
	out.Duration("perTryTimeout", dataplane.Get(v, "perTryTimeout"))
	out.Duration("backoffBaseInterval", dataplane.Get(v, "backoffBaseInterval"))
	return out.Value
}

func foundRetry(c *audit.Case) any {
	p := dataplane.Map(routeAction(c), "retry_policy")
	if p == nil {
		return nil
	}
	if isDelegated(c) {
		c.SetUncertain("the rule may take over the retries of the rule that delegates to it")
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("attempts", dataplane.Get(p, "num_retries"))
	out.Duration("perTryTimeout", dataplane.Get(p, "per_try_timeout"))
	out.Duration("backoffBaseInterval", dataplane.Get(p, "retry_back_off", "base_interval"))
	return out.Value
}

// wantAction asks only of routes that forward.
func wantAction(c *audit.Case, v any) any {
	if v == nil || routeAction(c) == nil {
		return nil
	}
	return true
}

func foundAction(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		switch v := dataplane.Get(routeAction(c), field).(type) {
		case nil:
			return nil
		case bool:
			if !v {
				return nil
			}
		}
		return true
	}
}

func foundField(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		if dataplane.Has(c.ServedRoute.Route.Config, field) {
			return true
		}
		return nil
	}
}

// wantHostRewrite: a rewrite of the route wins.
func wantHostRewrite(c *audit.Case, v any) any {
	if on, _ := v.(bool); !on || c.HasFilter("URLRewrite") {
		return nil
	}
	return wantAction(c, v)
}

func wantPathRewrite(c *audit.Case, v any) any {
	if c.HasFilter("URLRewrite") || !dataplane.Has(v, "pathRegex") {
		return nil
	}
	return wantAction(c, v)
}

func wantStatPrefix(c *audit.Case, v any) any {
	text, _ := v.(string)
	if text == "" || routeAction(c) == nil {
		return nil
	}
	return text
}

func foundStatPrefix(c *audit.Case) any {
	if text := dataplane.Text(c.ServedRoute.Route.Config, "stat_prefix"); text != "" {
		return text
	}
	return nil
}

// sameStatPrefix: what a template makes is not known.
func sameStatPrefix(want, found any) bool {
	w, _ := want.(string)
	return strings.Contains(w, "{{") || slices.Equal([]any{want}, []any{found})
}

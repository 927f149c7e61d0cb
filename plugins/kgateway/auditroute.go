package kgateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// action is what the route does with requests that it forwards; nil: it does not forward.
func action(c *audit.Case) map[string]any { return dataplane.Map(c.Place.Route.Config, "route") }

// delegated: a route that is delegated to takes over what the rules above it say themselves, which is not looked at.
func delegated(c *audit.Case) bool { return len(c.Graph.Instances(c.ID)) > 0 }

func wantTimeout(c *audit.Case, v any) any {
	if v == nil || action(c) == nil || dataplane.Has(c.Route, "timeouts") {
		return nil
	}
	d, ok := audit.Duration(v)
	if !ok {
		c.Doubt("the duration cannot be read")
		return nil
	}
	return d
}

// foundTimeout: those of a rule win over the policy's.
func foundTimeout(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		d, ok := dataplane.Seconds(action(c), field)
		if !ok || dataplane.Has(c.Route, "timeouts") {
			return nil
		}
		if delegated(c) {
			c.Doubt("the rule may take over a timeout of the rule that delegates to it")
		}
		return d.String()
	}
}

func wantRetry(c *audit.Case, v any) any {
	if v == nil || action(c) == nil || dataplane.Has(c.Route, "retry") {
		return nil
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("attempts", dataplane.Get(v, "attempts"))
	out.Duration("perTryTimeout", dataplane.Get(v, "perTryTimeout"))
	out.Duration("backoffBaseInterval", dataplane.Get(v, "backoffBaseInterval"))
	return out.Value
}

func foundRetry(c *audit.Case) any {
	p := dataplane.Map(action(c), "retry_policy")
	if p == nil {
		return nil
	}
	if delegated(c) {
		c.Doubt("the rule may take over the retries of the rule that delegates to it")
	}
	out := audit.Copier{Value: audit.Value{}}
	out.Number("attempts", dataplane.Get(p, "num_retries"))
	out.Duration("perTryTimeout", dataplane.Get(p, "per_try_timeout"))
	out.Duration("backoffBaseInterval", dataplane.Get(p, "retry_back_off", "base_interval"))
	return out.Value
}

// ofAction asks only of routes that forward.
func ofAction(c *audit.Case, v any) any {
	if v == nil || action(c) == nil {
		return nil
	}
	return true
}

func hasAction(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		switch v := dataplane.Get(action(c), field).(type) {
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

func ofRoute(field string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		if dataplane.Has(c.Place.Route.Config, field) {
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
	return ofAction(c, v)
}

func wantPathRewrite(c *audit.Case, v any) any {
	if c.HasFilter("URLRewrite") || !dataplane.Has(v, "pathRegex") {
		return nil
	}
	return ofAction(c, v)
}

func wantStatPrefix(c *audit.Case, v any) any {
	text, _ := v.(string)
	if text == "" || action(c) == nil {
		return nil
	}
	return text
}

func foundStatPrefix(c *audit.Case) any {
	if text := dataplane.Text(c.Place.Route.Config, "stat_prefix"); text != "" {
		return text
	}
	return nil
}

// sameStatPrefix: what a template makes is not known.
func sameStatPrefix(want, found any) bool {
	w, _ := want.(string)
	return strings.Contains(w, "{{") || slices.Equal([]any{want}, []any{found})
}

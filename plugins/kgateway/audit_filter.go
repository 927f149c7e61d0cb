package kgateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// isSwitchedOff reports whether a setting only switches off what holds above.
func isSwitchedOff(v any) bool { return dataplane.Has(v, "disable") }

// wantUnlessDisabled asks for a filter.
func wantUnlessDisabled(c *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	if isSwitchedOff(v) {
		c.SetUncertain("how a setting is switched off is not compared")
		return nil
	}
	return true
}

// foundRunning reports whether a filter runs because the route, or what is above it, says so.
func foundRunning(name string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		if r, on := c.FindFilter(name); on && r.PerRoute {
			return true
		}
		return nil
	}
}

// wantExtensions is the extensions that are referred to: one, or several where levels add up.
func wantExtensions(c *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	set := map[string]bool{}
	for _, x := range list {
		if isSwitchedOff(x) {
			return []string{"none: disabled"}
		}
		ref := dataplane.Map(x, "extensionRef")
		namespace := dataplane.Text(ref, "namespace")
		if namespace == "" {
			c.SetUncertain("the extension is referred to without a namespace")
		}
		set[namespace+"/"+dataplane.Text(ref, "name")] = true
	}
	return audit.SortedKeys(set)
}

// foundExtensions is the extensions whose filters run. The filters of the levels add up; a switch
// on the route turns all of them off.
func foundExtensions(prefix, off string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		if off != "" {
			if r, on := c.FindFilter("global_disable/" + off); on && r.PerRoute {
				return []string{"none: disabled"}
			}
		}
		set := map[string]bool{}
		for _, name := range c.FilterNames() {
			extension, ok := strings.CutPrefix(name, prefix)
			if !ok || strings.Count(extension, "/") != 1 {
				continue
			}
			if _, on := c.FindFilter(name); on {
				set[extension] = true
			}
		}
		if len(set) == 0 {
			return nil
		}
		return audit.SortedKeys(set)
	}
}

func wantLocalLimit(c *audit.Case, v any) any {
	bucket := dataplane.Map(v, "tokenBucket")
	if bucket == nil {
		return nil // an empty one switches the limit off
	}
	return readBucket(c, bucket, "maxTokens", "tokensPerFill", "fillInterval")
}

func foundLocalLimit(c *audit.Case) any {
	r, on := c.FindFilter("ratelimit/local")
	if !on || !r.PerRoute || !dataplane.Has(r.Config, "token_bucket") {
		return nil
	}
	return readBucket(c, dataplane.Map(r.Config, "token_bucket"), "max_tokens", "tokens_per_fill", "fill_interval")
}

func readBucket(c *audit.Case, bucket map[string]any, most, fill, interval string) any {
	out := audit.Copier{Value: audit.Value{"tokensPerFill": 1.0}}
	out.Number("maxTokens", dataplane.Get(bucket, most))
	out.Number("tokensPerFill", dataplane.Get(bucket, fill))
	out.Duration("fillInterval", dataplane.Get(bucket, interval))
	if len(out.Value) < 3 {
		c.SetUncertain("the bucket cannot be read")
	}
	return out.Value
}

func wantCORS(c *audit.Case, v any) any {
	if v == nil || isSwitchedOff(v) || c.HasFilter("CORS") {
		return nil
	}
	if n := len(dataplane.List(v, "allowOrigins")); n > 0 {
		return n
	}
	return nil
}

func foundCORS(c *audit.Case) any {
	r, on := c.FindFilter(filterPrefix + "cors")
	if !on || !r.PerRoute || c.HasFilter("CORS") {
		return nil
	}
	if n := len(dataplane.List(r.Config, "allow_origin_string_match")); n > 0 {
		return n
	}
	return nil
}

func wantBuffer(c *audit.Case, v any) any {
	if v == nil || isSwitchedOff(v) {
		return nil
	}
	return c.ReadBytes(dataplane.Get(v, "maxRequestSize"))
}

func wantFault(_ *audit.Case, v any) any {
	if v == nil || isSwitchedOff(v) || !dataplane.Has(v, "delay") && !dataplane.Has(v, "abort") {
		return nil
	}
	out := audit.Copier{Value: audit.Value{"hasDelay": dataplane.Has(v, "delay"),
		"hasAbort": dataplane.Has(v, "abort")}}
	out.Number("abort", dataplane.Get(v, "abort", "httpStatus"))
	out.Duration("delay", dataplane.Get(v, "delay", "fixedDelay"))
	return out.Value
}

// foundFault: an empty message switches off what is above.
func foundFault(c *audit.Case) any {
	r, on := c.FindFilter(filterPrefix + "fault")
	if !on || !r.PerRoute || !dataplane.Has(r.Config, "delay") && !dataplane.Has(r.Config, "abort") {
		return nil
	}
	out := audit.Copier{Value: audit.Value{"hasDelay": dataplane.Has(r.Config, "delay"),
		"hasAbort": dataplane.Has(r.Config, "abort")}}
	out.Number("abort", dataplane.Get(r.Config, "abort", "http_status"))
	out.Duration("delay", dataplane.Get(r.Config, "delay", "fixed_delay"))
	return out.Value
}

// wantLibraries is the libraries; nothing in the list where the policy leaves them open.
func wantLibraries(_ *audit.Case, v any) any {
	if v == nil || isSwitchedOff(v) {
		return nil
	}
	out := []string{}
	for _, l := range dataplane.Texts(v, "libraries") {
		out = append(out, strings.ToLower(l))
	}
	return audit.SortedSet(out)
}

func foundLibraries(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		set := map[string]bool{}
		for _, name := range c.FilterNames() {
			library, ok := strings.CutPrefix(name, filterPrefix+filter)
			if !ok || library != "" && library[0] != '.' {
				continue
			}
			if _, on := c.FindFilter(name); !on {
				continue
			}
			if library == "" {
				library = ".gzip"
			}
			set[library[1:]] = true
		}
		if len(set) == 0 {
			return nil
		}
		return audit.SortedKeys(set)
	}
}

func equalLibraries(want, found any) bool {
	w, _ := want.([]string)
	f, _ := found.([]string)
	return len(w) == 0 || slices.Equal(w, f)
}

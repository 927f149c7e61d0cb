package envoygateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// unlimited is the bucket that the translator writes where no rule is for all requests.
const unlimited = "4294967295 in 1s"

// secondsPerUnit are the units of rate limits.
var secondsPerUnit = map[string]float64{"Second": 1, "Minute": 60, "Hour": 3600, "Day": 86400}

// wantLocalLimit is the buckets: that of the rule without selectors, which is for all requests that
// no other rule is for, and those of the others.
func wantLocalLimit(c *audit.Case, v any) any {
	return ifForwarding(func(c *audit.Case, v any) any {
		out, others := audit.Value{"all": unlimited}, map[string]bool{}
		for _, rule := range dataplane.List(v, "rules") {
			n, ok := audit.ParseNumber(dataplane.Get(rule, "limit", "requests"))
			unit, known := secondsPerUnit[dataplane.Text(rule, "limit", "unit")]
			if !ok || !known {
				c.SetUncertain("a limit is in a unit that is not compared")
				continue
			}
			bucket := formatBucket(n, unit)
			if len(dataplane.List(rule, "clientSelectors")) > 0 {
				others[bucket] = true
				continue
			}
			if out["all"] != unlimited {
				c.SetUncertain("several rules are for all requests")
			}
			out["all"] = bucket
		}
		if len(others) > 0 {
			out["some"] = audit.SortedKeys(others)
		}
		return out
	})(c, v)
}

func formatBucket(n, seconds float64) string { return fmt.Sprintf("%.0f in %.0fs", n, seconds) }

func foundLocalLimit(c *audit.Case) any {
	r, on := c.FindFilter(filterPrefix + "local_ratelimit")
	if !on || !r.PerRoute {
		return nil
	}
	out, others := audit.Value{}, map[string]bool{}
	out["all"] = readBucket(dataplane.Get(r.Config, "token_bucket"))
	for _, d := range dataplane.List(r.Config, "descriptors") {
		others[readBucket(dataplane.Get(d, "token_bucket"))] = true
	}
	if len(others) > 0 {
		out["some"] = audit.SortedKeys(others)
	}
	return out
}

func readBucket(bucket any) string {
	n, _ := dataplane.Number(bucket, "max_tokens")
	fill, _ := dataplane.Seconds(bucket, "fill_interval")
	return formatBucket(n, fill.Seconds())
}

// wantGlobalLimit is how many rules there are.
func wantGlobalLimit(c *audit.Case, v any) any {
	return ifForwarding(func(_ *audit.Case, v any) any {
		if n := len(dataplane.List(v, "rules")); n > 0 {
			return n
		}
		return nil
	})(c, v)
}

// foundGlobalLimit is how many limits the proxy asks the rate limit service about.
func foundGlobalLimit(c *audit.Case) any {
	n := 0
	names := c.FilterNames()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != filterPrefix+"ratelimit" && !strings.HasPrefix(name, filterPrefix+"ratelimit/") {
			continue
		}
		if r, on := c.FindFilter(name); on {
			n += len(dataplane.List(r.Config, "rate_limits"))
		}
	}
	if n == 0 {
		return nil
	}
	return n
}

// isEnough reports whether there are at least as many limits as rules: methods and response costs
// make several limits of one rule.
func isEnough(want, found any) bool {
	w, _ := want.(int)
	f, _ := found.(int)
	return f >= w
}

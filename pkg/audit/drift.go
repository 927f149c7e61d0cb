package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// drift compares the proxies of one Gateway with each other.
func drift(about []Proxy, proxies []*dataplane.Proxy) []Drift {
	byGateway := map[string][]int{}
	var names []string
	for i, p := range about {
		for _, g := range p.Gateways {
			if byGateway[g] == nil {
				names = append(names, g)
			}
			byGateway[g] = append(byGateway[g], i)
		}
	}
	slices.Sort(names)
	var out []Drift
	for _, g := range names {
		if d := drifted(g, byGateway[g], proxies); d != nil {
			out = append(out, *d)
		}
	}
	return out
}

// drifted are the proxies of a Gateway that run with something else than most do.
func drifted(gateway string, members []int, proxies []*dataplane.Proxy) *Drift {
	counts := map[dataplane.Versions]int{}
	for _, i := range members {
		counts[proxies[i].Versions]++
	}
	if len(counts) < 2 {
		return nil
	}
	var most dataplane.Versions
	for _, i := range members {
		if v := proxies[i].Versions; counts[v] > counts[most] {
			most = v
		}
	}
	d := &Drift{Gateway: gateway}
	for _, i := range members {
		if proxies[i].Versions != most {
			d.Proxies = append(d.Proxies, proxies[i].Name)
		}
	}
	d.Message = fmt.Sprintf("%d of %d proxies of Gateway %s run with another version than the others: %s", len(d.Proxies), len(members), gateway, strings.Join(d.Proxies, ", "))
	return d
}

package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// findDrift compares the proxies of one Gateway with each other.
func findDrift(about []Proxy, proxies []*dataplane.Proxy) []Drift {
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
		if d := driftOfGateway(g, byGateway[g], proxies); d != nil {
			out = append(out, *d)
		}
	}
	return out
}

// driftOfGateway returns the proxies of a Gateway that run with something else than most do.
func driftOfGateway(gateway string, members []int, proxies []*dataplane.Proxy) *Drift {
	counts := map[dataplane.Versions]int{}
	for _, i := range members {
		counts[proxies[i].Versions]++
	}
	if len(counts) < 2 {
		return nil
	}
	var most dataplane.Versions
	alone := true // no other version is as common
	for _, i := range members {
		switch v := proxies[i].Versions; {
		case counts[v] > counts[most]:
			most, alone = v, true
		case v != most && counts[v] == counts[most]:
			alone = false
		}
	}
	d := &Drift{Gateway: gateway}
	var told []string
	for _, i := range members {
		if v := proxies[i].Versions; v != most || !alone {
			d.Proxies = append(d.Proxies, proxies[i].Name)
			told = append(told, proxies[i].Name+" ("+formatVersions(v)+")")
		}
	}
	d.Message = fmt.Sprintf("%d of %d proxies of gateway/%s run with another version than most: %s", len(d.Proxies),
		len(members), gateway, strings.Join(told, ", "))
	if !alone {
		d.Message = fmt.Sprintf("the %d proxies of gateway/%s do not run with the same version: %s", len(members),
			gateway, strings.Join(told, ", "))
	}
	return d
}

func formatVersions(v dataplane.Versions) string {
	var out []string
	for _, part := range [][2]string{{"listeners", v.Listeners}, {"routes", v.Routes}, {"clusters", v.Clusters}} {
		if part[1] != "" {
			out = append(out, part[0]+" "+part[1])
		}
	}
	if out == nil {
		return "no version"
	}
	return strings.Join(out, ", ")
}

package kuma

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var gatewayKind = model.GroupKind{Group: group, Kind: "MeshGateway"}

// meshGateway is what makes a gateway of builtin proxies (2.14).
type meshGateway struct {
	name, mesh string
	selectors  []model.Body // tags of the proxies
	listeners  []model.Body // their tags
}

func readGateways(in *model.Snapshot, s model.Settings) []meshGateway {
	var out []meshGateway
	for _, o := range in.OfKind(gatewayKind) {
		labels := computeLabels(o, in, s)
		g := meshGateway{name: displayName(labels, o), mesh: labels[meshLabel]}
		for _, selector := range settingsOf(o).Field("selectors").Items {
			g.selectors = append(g.selectors, selector.Field("match"))
		}
		for _, listener := range settingsOf(o).At("conf", "listeners").Items {
			g.listeners = append(g.listeners, listener.Field("tags"))
		}
		out = append(out, g)
	}
	return out
}

// rankFor is how closely a gateway fits a proxy: how many tags it asks for, with values first; not
// ok if it does not fit.
func (g meshGateway) rankFor(d *dataplane) (rank [2]int, ok bool) {
	for _, match := range g.selectors {
		if g.mesh != d.mesh || !hasTags(d.tags, match, "") {
			continue
		}
		var own [2]int
		for _, value := range match.Fields {
			own[1]++
			if value.Text() != "*" {
				own[0]++
			}
		}
		if !ok || slices.Compare(own[:], rank[:]) > 0 {
			rank, ok = own, true
		}
	}
	return rank, ok
}

// matchGateway tests a reference to a gateway: the proxy is builtin, no other gateway fits it
// better, and a listener has the tags that are asked for.
func (p *proxySelector) matchGateway(d *dataplane, all proxySelection) proxySelection {
	if d.gateway != "BUILTIN" {
		return proxySelection{why: "it is no builtin gateway"}
	}
	var fits []meshGateway
	var best [2]int
	for _, g := range p.gateways {
		rank, ok := g.rankFor(d)
		if !ok {
			continue
		}
		switch c := slices.Compare(rank[:], best[:]); {
		case len(fits) == 0 || c > 0:
			fits, best = []meshGateway{g}, rank
		case c == 0:
			fits = append(fits, g)
		}
	}
	switch at := slices.IndexFunc(fits, func(g meshGateway) bool { return g.name == p.ref.Field("name").Text() }); {
	case at < 0:
		return proxySelection{why: "the MeshGateway is not the one of this proxy"}
	case len(fits) > 1:
		return proxySelection{why: "several MeshGateways fit it alike", unknown: true}
	case slices.ContainsFunc(fits[at].listeners,
		func(tags model.Body) bool { return hasTags(tags, p.ref.Field("tags"), "") }):
		return all
	}
	return proxySelection{why: "no listener of the MeshGateway has the tags"}
}

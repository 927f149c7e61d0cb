package request

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Profiles say how the data planes of an input choose the rule for a request.
type Profiles struct {
	All []*routing.Profile // those of Gateways that are described, by name

	// AtGateway returns the profile of a Gateway's data plane, InMesh that of the mesh that a
	// Service is in; nil: it is not described, or the input does not tell whose it is.
	AtGateway func(g *topology.Graph, gateway topology.NodeID) *routing.Profile
	InMesh    func(g *topology.Graph, service model.Ref) *routing.Profile
}

// matchSettings are how the candidates of a request are found and ordered: by the profile of the
// data plane, and by what the user set.
type matchSettings struct {
	routing.Profile
	described       bool // the data plane is; else the Gateway API's text holds
	sharedListeners bool // less specific listeners answer as well: no isolation
	foreignDialect  bool // expressions are of another dialect than RE2

	callCriteria []routing.Criterion // those of GRPCRoutes alone; nil: not made yet
}

// newMatchSettings returns the settings for a data plane; nil: one that is not described. What the
// user set goes before the description.
func newMatchSettings(s model.Settings, p *routing.Profile) *matchSettings {
	out := &matchSettings{Profile: routing.Standard(), described: p != nil}
	if p != nil {
		out.Profile = *p
	}
	counts := func(name string) bool { return p == nil || s.IsChosen(name) }
	if counts(gatewayapi.ListenerIsolation) {
		off := s.IsOff(gatewayapi.ListenerIsolation)
		out.Listeners = routing.Listeners{Share: routing.ShareNothing, Drop: routing.DropNone}
		if off && p != nil {
			out.Listeners.Share = routing.SharePort
		}
		out.sharedListeners = off && p == nil
	}
	if counts(gatewayapi.HostnamePrecedence) {
		out.Hostname = routing.Configured
		if s.Text(gatewayapi.HostnamePrecedence) == "intersection" {
			out.Hostname = routing.Effective
		}
	}
	if counts(gatewayapi.PrefixLength) {
		out.PrefixLength = routing.AsWritten
		if s.Text(gatewayapi.PrefixLength) == "stripped" {
			out.PrefixLength = routing.Trimmed
		}
	}
	if counts(gatewayapi.RegexRank) {
		out.Regex.Rank = routing.RankUnknown
		if rank, known := regexRanks[s.Text(gatewayapi.RegexRank)]; known {
			out.Regex.Rank = rank
		}
	}
	if counts(gatewayapi.RegexAnchored) {
		out.Regex.Tied, out.Regex.HeaderTied = routing.TiedBoth, routing.TiedBoth
		if s.IsOff(gatewayapi.RegexAnchored) {
			out.Regex.Tied, out.Regex.HeaderTied = routing.TiedNowhere, routing.TiedNowhere
		}
	}
	if counts(gatewayapi.MethodRank) && s.Text(gatewayapi.MethodRank) == "header" {
		out.Order = countMethodAsHeader(out.Order)
	}
	if counts(gatewayapi.RouteAgeSource) && s.Text(gatewayapi.RouteAgeSource) == "none" {
		out.Order = removeCriterion(out.Order, routing.Age)
	}
	out.foreignDialect = s.Text(gatewayapi.RegexDialect) == "pcre" && counts(gatewayapi.RegexDialect)
	return out
}

// regexRanks are the values of the setting regexRank that say where expressions stand.
var regexRanks = map[string]routing.Rank{"afterExact": routing.RankBeforePrefix,
	"afterPrefix": routing.RankAfterPrefix, "byLength": routing.RankByLength}

// countMethodAsHeader returns an order in which a method is one more header match.
func countMethodAsHeader(order []routing.Criterion) []routing.Criterion {
	out := removeCriterion(order, routing.Method)
	if at := slices.Index(out, routing.Headers); at >= 0 {
		out[at] = routing.HeadersAndMethod
	}
	return out
}

func removeCriterion(order []routing.Criterion, of routing.Criterion) []routing.Criterion {
	return slices.DeleteFunc(slices.Clone(order), func(c routing.Criterion) bool { return c == of })
}

// RouteWith sets how the data planes choose rules.
func (m *Matcher) RouteWith(p Profiles) *Matcher {
	m.profiles, m.refusals, m.served = p, map[portKey][]refusal{}, map[servedKey]servedHost{}
	m.settingsByGateway, m.settingsByProfile = map[topology.NodeID]*matchSettings{}, map[*routing.Profile]*matchSettings{}
	return m
}

// settingsOf returns the settings for a data plane; nil: one that is not described.
func (m *Matcher) settingsOf(p *routing.Profile) *matchSettings {
	if m.settingsByProfile[p] == nil {
		m.settingsByProfile[p] = newMatchSettings(m.settings, p)
	}
	return m.settingsByProfile[p]
}

// settingsAt returns the settings for a Gateway, or for one that is not known (None).
func (m *Matcher) settingsAt(gateway topology.NodeID) *matchSettings {
	if known := m.settingsByGateway[gateway]; known != nil {
		return known
	}
	var p *routing.Profile
	if gateway != topology.None && m.profiles.AtGateway != nil {
		p = m.profiles.AtGateway(m.graph, gateway)
	}
	m.settingsByGateway[gateway] = m.settingsOf(p)
	return m.settingsByGateway[gateway]
}

// settingsInMesh returns the settings for requests to a Service in the mesh.
func (m *Matcher) settingsInMesh(service model.Ref) *matchSettings {
	if m.profiles.InMesh == nil {
		return m.settingsOf(nil)
	}
	return m.settingsOf(m.profiles.InMesh(m.graph, service))
}

// implementationName names the data plane for people.
func (s *matchSettings) implementationName() string {
	if s.described {
		return s.Name
	}
	return "the Gateway API"
}

// countsAge reports whether the age of routes orders candidates.
func (s *matchSettings) countsAge() bool { return slices.Contains(s.Order, routing.Age) }

// hasUnknownRank reports whether the place of expressions among prefixes is not known.
func (s *matchSettings) hasUnknownRank() bool { return s.Regex.Rank == routing.RankUnknown }

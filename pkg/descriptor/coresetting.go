package descriptor

import "github.com/dopolicy/kubectl-dopolicy/pkg/topology"

// The settings of the Gateway API itself that concern policies.
const (
	SameLevelSetting       = "gatewayapi.sameLevel"
	GenericStrategySetting = "gatewayapi.genericStrategy"
)

// coreSettings are the switches that belong to no vendor (gatewayapi §6).
func coreSettings() []Setting {
	text := func(name, doc string, values ...string) Setting {
		return Setting{Name: name, Type: "text", Values: values, Default: values[0], Doc: doc}
	}
	flag := func(name, byDefault, doc string) Setting {
		return Setting{Name: name, Type: "bool", Default: byDefault, Doc: doc}
	}
	return []Setting{
		text(GenericStrategySetting, "Strategy of generic policy kinds whose API has no field for it.", "atomic", "merge", "patch"),
		text(SameLevelSetting, "Which of several generic policies on one target wins: as GEP-713 says (defaults: the newer, overrides: the older), or always the oldest.",
			"gep713", "oldest"),
		flag(topology.ListenerIsolation, "true", "Whether a request that the most specific listener has no rule for is answered with 404, or by the next listener that fits."),
		text(topology.HostnamePrecedence, "Which hostnames decide between routes: those that the route's spec has, or what its intersection with the listener's leaves of them.",
			"original", "intersection"),
		text(topology.PrefixLength, "Whether a slash at the end of a path prefix counts as one of its characters.", "literal", "stripped"),
		text(topology.RegexRank, "Where regular expressions of paths stand: no portable place, right after exact paths, after prefixes, or among prefixes by length.",
			"ambiguous", "afterExact", "afterPrefix", "byLength"),
		text(topology.RegexDialect, "Dialect of regular expressions. They are evaluated as RE2 all the same; the answer then says that it is an approximation.", "re2", "pcre"),
		flag(topology.RegexAnchored, "true", "Whether a regular expression must match the whole of a path or value."),
		text(topology.MethodRank, "Whether a method match is a criterion of its own, before headers, or counts like one more header.", "own", "header"),
		text(topology.RouteAgeSource, "Whether the age of routes decides between equal matches.", "creationTimestamp", "none"),
		flag(topology.GatewayMerging, "false", "Whether the Gateways of a class share their listeners' ports, so that listeners of different Gateways can conflict."),
		flag(topology.GatewayReachesSets, "true", "Whether a policy on a Gateway holds for the listeners of its ListenerSets as well."),
		flag(topology.TLSTerminate, "true", "Whether the implementation supports TLS listeners with mode Terminate."),
		flag(topology.TLSModeMixed, "true", "Whether the implementation supports TLS listeners of both modes on one port."),
		flag(topology.CheckCertificates, "false", "Whether the content of Secrets and ConfigMaps with certificates is judged, beside their existence."),
	}
}

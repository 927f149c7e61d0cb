package gatewayapi

// The switches of the Gateway API in which implementations differ, as full names of settings. Each
// is documented where the catalogue of policy kinds lists it. Of those that are true or false by
// default true, an absent one counts as true.
const (
	ListenerIsolation  = "gatewayapi.listenerIsolation"
	HostnamePrecedence = "gatewayapi.hostnamePrecedence"
	PrefixLength       = "gatewayapi.prefixLength"
	RegexRank          = "gatewayapi.regexRank"
	RegexDialect       = "gatewayapi.regexDialect"
	RegexAnchored      = "gatewayapi.regexAnchored"
	MethodRank         = "gatewayapi.methodRank"
	RouteAgeSource     = "gatewayapi.routeAgeSource"
	GatewayMerging     = "gatewayapi.gatewayMerging"
	GatewayReachesSets = "gatewayapi.gatewayPolicyReachesListenerSets"
	TLSTerminate       = "gatewayapi.tlsTerminate"
	TLSModeMixed       = "gatewayapi.tlsModeMixed"
	CheckCertificates  = "gatewayapi.checkCertificates"
)

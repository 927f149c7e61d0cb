package routing

import "slices"

// Profile says how a data plane chooses the rule for a request. Every field has the value of the
// Gateway API's text unless a vendor says otherwise; Standard returns those values.
type Profile struct {
	Name          string // of the implementation, for people; "": the Gateway API's text
	Source        string // where its values stand
	Hosts         Hosts
	Hostname      Hostname
	Listeners     Listeners
	SNI           SNI
	Order         []Criterion // the first that differs decides; what is equal in all of them is undecided
	PrefixLength  PrefixLength
	GRPCAny       GRPCRank // where Kinds is KindsTogether: a match of a GRPCRoute without a method
	GRPCBare      GRPCRank // likewise: a rule of a GRPCRoute without matches
	GRPCPath      GRPCPath // likewise: how a service and a method become a path
	Regex         Regex
	Prefix        Prefix
	Commit        bool // the best path is chosen first; if the other conditions of all its matches fail, 404
	Ignored       []Ignored
	Headers       Values
	Query         Values
	RawQuery      bool // query parameters are compared as they are written, not decoded
	Kinds         Kinds
	SameMatch     SameMatch
	RedirectGuard bool // a redirect to a scheme is no candidate for requests that came by that scheme
	HostGroups    HostGroups
	Preflight     Preflight
	Filters       Filters
	Rewrite       []Replacement // how a prefix is replaced in what is sent on; nil: as the Gateway API says
	Redirect      []Replacement // likewise in the Location of a redirect
	RedirectPort  RedirectPort
	RedirectHost  RedirectHost
	Statuses      Statuses
	// of routes, a number that puts them first; whether it counts is up to the data plane's
	// configuration; "": there is none
	WeightAnnotation string
	// a route table in which two listeners of one HTTP port have routes for one hostname is refused
	// by the proxy as a whole
	RefusesSharedHosts bool
}

// Hosts says which hostnames decide.
type Hosts string

// The ways with hostnames. FallThrough: the most specific hostname first, wider ones if none of its
// rules holds (gatewayapi G40). Shadow: the most specific effective hostname decides alone, by 404
// too. Join: the rules of wider hostnames are among those of every narrower one. ByScore: hostnames
// count in the score alone. ByRoute: each route has an address of its own.
const (
	FallThrough Hosts = "fallThrough"
	Shadow      Hosts = "shadow"
	Join        Hosts = "join"
	ByScore     Hosts = "score"
	ByRoute     Hosts = "route"
)

// Hostname says which hostname of a route is compared (gatewayapi G41.2).
type Hostname string

// The hostnames: as the route has it, or what it has in common with the listener's.
const (
	Configured Hostname = "configured"
	Effective  Hostname = "effective"
)

// Listeners says which listeners answer together, and which hostnames are taken from their routes.
type Listeners struct {
	Share    Share
	Drop     Drop
	InObject bool // only listeners of the same object take hostnames from each other
	Secure   bool // hostnames are taken over TLS as well
	Named    bool // only from routes that name the listener
}

// Share says which listeners have one table of routes.
type Share string

// The tables. ShareNothing: exactly one listener answers (gatewayapi G38). SharePlain: the plain
// HTTP listeners of a port. SharePort: the listeners of a port, over TLS too. ShareGateway: all
// plain HTTP listeners of the Gateway, and all HTTPS listeners. ShareClass: those of a port in all
// Gateways of the class.
const (
	ShareNothing Share = "nothing"
	SharePlain   Share = "plainPort"
	SharePort    Share = "port"
	ShareGateway Share = "gateway"
	ShareClass   Share = "class"
)

// Drop says which of a route's effective hostnames at a listener are dropped because of another
// listener of the port.
type Drop string

// The hostnames that are dropped: none, those that are another listener's own, those that a more
// specific listener covers.
const (
	DropNone    Drop = "none"
	DropEqual   Drop = "equal"
	DropCovered Drop = "covered"
)

// SNI says what becomes of a request whose host belongs to another HTTPS listener than its server
// name (gatewayapi G39).
type SNI string

// The answers: 421, the table of the server name's listener alone, the host alone, or not known.
const (
	SNI421     SNI = "421"
	SNI404     SNI = "404"
	SNIHost    SNI = "host"
	SNIUnknown SNI = "unknown"
)

// Criterion is what orders two candidates.
type Criterion string

// The criteria. Those of the Gateway API's text (gatewayapi G41, G42) first, then those of
// implementations.
const (
	ExactHost  Criterion = "exactHost"  // characters of a hostname without wildcard, more first
	HostLength Criterion = "hostLength" // characters of the hostname, more first
	PathType   Criterion = "pathType"
	PathLength Criterion = "pathLength"
	Method     Criterion = "method"  // with one first
	Service    Criterion = "service" // characters of gRPC's service, more first
	Call       Criterion = "call"    // characters of gRPC's method, more first
	Headers    Criterion = "headers" // header matches, more first
	Query      Criterion = "query"   // query matches, more first
	Age        Criterion = "age"     // of the route, older first
	Name       Criterion = "name"    // of the route; "namespace/name" unless Namespace comes before
	Rule       Criterion = "rule"    // the rule's index, smaller first

	Namespace        Criterion = "namespace"
	Labels           Criterion = "labels"           // of the hostname, more first
	WildcardHostLast Criterion = "wildcardHostLast" // exact hostnames, then wildcards and expressions by the length of both, then none
	LongestHost      Criterion = "longestHostOfRoute"
	PathText         Criterion = "pathText" // of the path match, larger first
	MatchedLength    Criterion = "matchedLength"
	HeadersAndMethod Criterion = "headersAndMethod" // header matches, a method is one more
	ExactHeaders     Criterion = "exactHeaders"     // of those the exact ones, more first
	ExactQuery       Criterion = "exactQuery"
	Kind             Criterion = "kind"  // HTTPRoutes before GRPCRoutes
	Score            Criterion = "score" // one number made of all that a match asks for
)

// IsTieBreak reports whether a criterion is about the object rather than about what its match says.
func (c Criterion) IsTieBreak() bool {
	return slices.Contains([]Criterion{Age, Namespace, Name, Rule}, c)
}

// PrefixLength says how many characters a path prefix has (gatewayapi G45).
type PrefixLength string

// The lengths: with or without a slash at the end.
const (
	AsWritten PrefixLength = "asWritten"
	Trimmed   PrefixLength = "trimmed"
)

// GRPCRank says where a match of a GRPCRoute without a path stands in one list with HTTPRoutes.
type GRPCRank string

// The places: as a path prefix /, or behind expressions.
const (
	GRPCRoot GRPCRank = "root"
	GRPCLast GRPCRank = "last"
)

// GRPCPath says how the service and the method of a GRPCRoute's match become a path: an exact one
// where both are given, and else an expression or, for a service alone, a prefix.
type GRPCPath struct {
	Expressions  bool   // the path is always an expression
	CallAsHeader bool   // an exact method alone is one more header match that is not exact, of the end of path and query
	Prefix       string // of a service alone: text in which SERVICE stands for it; "": an expression
	AnyService   string // the expression for a service that is not asked for
	AnyCall      string // the expression for a method that is not asked for
}

// Regex says how regular expressions are ranked and read (gatewayapi G48).
type Regex struct {
	Rank       Rank
	Longer     bool // of two expressions the longer one comes first
	Tied       Tied // of paths
	HeaderTied Tied // of headers and query parameters
	Dialect    Dialect
}

// Rank says where a path expression stands among prefixes.
type Rank string

// The ranks. RankByLength: on one scale with prefixes. RankAsRoot: as a prefix /.
const (
	RankUnknown      Rank = "unknown"
	RankBeforePrefix Rank = "beforePrefix"
	RankAfterPrefix  Rank = "afterPrefix"
	RankByLength     Rank = "byLength"
	RankAsRoot       Rank = "asRoot"
)

// Tied says to which ends of a text an expression is tied.
type Tied string

// The ends.
const (
	TiedBoth    Tied = "both"
	TiedStart   Tied = "start"
	TiedNowhere Tied = "none"
	TiedUnknown Tied = "unknown"
)

// Dialect is the library that reads expressions.
type Dialect string

// The dialects.
const (
	RE2  Dialect = "re2"
	Go   Dialect = "go"
	PCRE Dialect = "pcre"
	Rust Dialect = "rust"
)

// Prefix says what a PathPrefix is compared with (gatewayapi G44).
type Prefix string

// The readings. ByElement is the Gateway API's. ByCharacters: the path begins with it. OwnExact: one
// without a slash at its end is an exact path of its own, before expressions, beside all below it;
// one with a slash takes only what is below it. Typeless: Exact and PathPrefix of one text are one
// path. PatternExact: * and ? in an Exact value are wildcards.
const (
	ByElement    Prefix = "element"
	ByCharacters Prefix = "characters"
	OwnExact     Prefix = "ownExact"
	Typeless     Prefix = "typeless"
	PatternExact Prefix = "patternExact"
)

// Ignored is a part of a match that is not looked at.
type Ignored string

// The parts. IgnoredQueryType: values of query parameters are compared as texts whatever their type.
const (
	IgnoredMethod    Ignored = "method"
	IgnoredQuery     Ignored = "query"
	IgnoredQueryType Ignored = "queryType"
)

// Values says which of several values of one header or query parameter is compared.
type Values string

// The values. SplitValues: each part between commas.
const (
	FirstValue    Values = "first"
	LastValue     Values = "last"
	AnyValue      Values = "any"
	SplitValues   Values = "split"
	UnknownValues Values = "unknown"
)

// Kinds says whether HTTPRoutes and GRPCRoutes compete (gatewayapi G57).
type Kinds string

// The ways.
const (
	KindsSeparate Kinds = "separate"
	KindsTogether Kinds = "one"
)

// SameMatch says which of several rules with one match takes the requests.
type SameMatch string

// The ways.
const (
	SameFirst        SameMatch = "first"
	SameJoinBackends SameMatch = "joinBackends"
	SameUnknown      SameMatch = "unknown"
)

// HostGroups says in which order the rules of routes with different configured hostnames stand under
// one effective hostname.
type HostGroups string

// The orders. GroupsUnsorted: those of one listener and configured hostname stand together, in an
// order that is not known. In each, what comes behind a match of everything is not sent to the proxy;
// matches of everything come after all others.
const (
	GroupsSorted   HostGroups = "sorted"
	GroupsUnsorted HostGroups = "unsorted"
)

// Preflight says whether a CORS preflight reaches authentication.
type Preflight string

// The ways.
const (
	PreflightUnknown    Preflight = "unknown"
	PreflightBeforeAuth Preflight = "beforeAuth"
	PreflightAfterAuth  Preflight = "afterAuth"
)

// Filters says in which order the filters of a rule run.
type Filters string

// The orders. FiltersFixed: redirects and rewrites are last, so that policies see the original path.
const (
	FiltersFixed   Filters = "fixed"
	FiltersInOrder Filters = "inOrder"
)

// Replacement says how a path prefix is replaced otherwise than the Gateway API says.
type Replacement string

// The ways. ByCharacters is replaced character by character: neither is a slash added nor one
// dropped. TrimReplacement: a slash at the end of the replacement is dropped first. TidyRoot: after
// the replacement / one slash is left. TidySlash: one slash is dropped there.
const (
	ReplaceCharacters Replacement = "characters"
	TrimReplacement   Replacement = "trimmed"
	TidyRoot          Replacement = "root"
	TidySlash         Replacement = "rootSlash"
)

// Statuses are those with which the proxy answers where the Gateway API says 500, or nothing; 0: 500.
type Statuses struct {
	ZeroWeights   int // all backends of a rule have weight 0
	NoGRPCBackend int // a rule of a GRPCRoute has no usable backend
}

// RedirectHost says which host the Location of a redirect has that names no hostname.
type RedirectHost string

// The hosts. RequestHost: that of the request, with the port that it came to. HostAsWritten: the Host
// header as the client wrote it, with its port.
const (
	RequestHost   RedirectHost = "request"
	HostAsWritten RedirectHost = "asWritten"
)

// RedirectPort says which ports the Location of a redirect leaves out.
type RedirectPort string

// The ports. StandardPorts: 80 of http and 443 of https. Never80Or443: both of both. AllPorts: none
// that the redirect gives; without one there is none, or the port of the Host header.
const (
	StandardPorts RedirectPort = "asGiven"
	Never80Or443  RedirectPort = "never80or443"
	AllPorts      RedirectPort = "asWritten"
)

// Standard returns the profile of the Gateway API's text.
func Standard() Profile {
	return Profile{Hosts: FallThrough, Hostname: Configured, Listeners: Listeners{Share: ShareNothing, Drop: DropNone},
		SNI: SNI421, Order: []Criterion{ExactHost, HostLength, PathType, PathLength, Method, Headers, Query, Age, Name,
			Rule},
		PrefixLength: AsWritten, GRPCAny: GRPCRoot, GRPCBare: GRPCRoot,
		GRPCPath: GRPCPath{Prefix: "/SERVICE/", AnyService: "[^/]+", AnyCall: "[^/]+"},
		Regex:    Regex{Rank: RankUnknown, Tied: TiedBoth, HeaderTied: TiedBoth, Dialect: RE2}, Prefix: ByElement,
		Headers: FirstValue, Query: FirstValue, Kinds: KindsSeparate, SameMatch: SameFirst, HostGroups: GroupsSorted,
		Preflight: PreflightUnknown, Filters: FiltersFixed, RedirectPort: StandardPorts,
		RedirectHost: RequestHost}
}

// Ignores reports whether a part of matches is not looked at.
func (p *Profile) Ignores(part Ignored) bool { return slices.Contains(p.Ignored, part) }

// TieBreaks returns the criteria at the end of the order that are about objects.
func (p *Profile) TieBreaks() []Criterion {
	at := len(p.Order)
	for at > 0 && p.Order[at-1].IsTieBreak() {
		at--
	}
	return p.Order[at:]
}

// MatchCriteria returns the criteria of the order that are about what matches say.
func (p *Profile) MatchCriteria() []Criterion { return p.Order[:len(p.Order)-len(p.TieBreaks())] }

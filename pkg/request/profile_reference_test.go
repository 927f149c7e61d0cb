package request

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// This file answers requests a second time, for any data plane: from what package routing says of
// each parameter, slowly, with nothing of what the matcher or the graph compute. What is not known
// of a data plane is tried in all ways that the parameter has; a rule that may go first or not is
// one of several answers. A request is certain if there is one answer.

// What becomes of a request beside rules that take it.
const (
	refNone        = "no match"
	refMisdirected = "misdirected"
	refRefused     = "the proxy refuses the table"
	refExpression  = "an expression decides, and nothing is known of them"
	refOrPlain     = "an expression decides, or another match of the same rule"
)

// isOpen reports whether an answer is none, because nothing is known.
func isOpen(answer string) bool { return answer == refRefused || answer == refExpression }

// profileListener is a listener of a Gateway or of a ListenerSet.
type profileListener struct {
	refListener
	gateway string // NAMESPACE/NAME
	kind    string // of the object that it stands in
	object  string // NAMESPACE/NAME of it
}

// entry is one match of one rule of a route under one hostname at one listener: what a data plane
// has in its table of routes.
type entry struct {
	kind, namespace, name, created string
	index, rules                   int // of the rule, and how many there are
	listener                       profileListener
	host                           refHost
	longest, longestExact          int // characters of the hostnames that the route has at the listener
	weight                         string
	pathType, path                 string // Exact, PathPrefix, RegularExpression, itself, any, bare
	method                         string
	headers, query                 []condition
	service, call                  string // of gRPC
	callType                       string
	text                           string // the length of which is the score of a GRPCRoute
	redirect                       string // the scheme of a redirect
}

// condition is what a match asks of a header or of a query parameter.
type condition struct{ name, kind, value string }

// rule is how the answer is called.
func (e entry) rule() string {
	return e.kind + " " + e.namespace + "/" + e.name + " rule-" + strconv.Itoa(e.index+1)
}

// profileReference answers requests as one data plane would.
type profileReference struct {
	routing.Profile
	weighs        bool            // numbers in annotations put routes first
	anyDialect    bool            // nothing is known of expressions (G48)
	assumed       map[string]bool // which conditions hold of those of which that is not known
	grpcFallsBack bool            // where no GRPCRoute is for a host, HTTPRoutes decide about a gRPC request (G57)
}

// referByProfile returns all that may become of a request to the Gateway called gateway, as
// namespace/name, sorted.
func referByProfile(input []doc, gateway string, r *Request, p routing.Profile, grpcFallsBack bool) []string {
	found := map[string]bool{}
	for _, reading := range readingsOf(p) {
		reading.grpcFallsBack = grpcFallsBack
		for _, answer := range reading.answers(input, gateway, r) {
			found[answer] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// readingsOf are the data planes that a profile may be about: one for all that it does not know.
func readingsOf(p routing.Profile) []profileReference {
	out := []profileReference{{Profile: p, anyDialect: p.Regex.Rank == routing.RankUnknown}}
	vary := func(unknown bool, ways ...func(*profileReference)) {
		if !unknown {
			return
		}
		var more []profileReference
		for _, reading := range out {
			for _, way := range ways {
				once := reading
				way(&once)
				more = append(more, once)
			}
		}
		out = more
	}
	sni := func(v routing.SNI) func(*profileReference) { return func(r *profileReference) { r.SNI = v } }
	vary(p.SNI == routing.SNIUnknown, sni(routing.SNI421), sni(routing.SNI404), sni(routing.SNIHost))
	rank := func(v routing.Rank) func(*profileReference) { return func(r *profileReference) { r.Regex.Rank = v } }
	vary(p.Regex.Rank == routing.RankUnknown, rank(routing.RankBeforePrefix), rank(routing.RankAfterPrefix),
		rank(routing.RankByLength))
	vary(p.WeightAnnotation != "", func(r *profileReference) { r.weighs = true }, func(*profileReference) {})
	return out
}

// answers are what may become of a request at one data plane: several where it is not known which of
// several rules goes first.
func (p profileReference) answers(input []doc, gateway string, r *Request) []string {
	all := profileListeners(input)
	protocol := "HTTP"
	if r.Secure {
		protocol = "HTTPS"
	}
	var onPort []profileListener
	isOpen := false
	for _, l := range all {
		if l.protocol == protocol && !l.conflicted && p.areOneTable(input, l, gateway, r) {
			onPort = append(onPort, l)
			isOpen = isOpen || l.gateway == gateway && l.port == int64(r.Port)
		}
	}
	if !isOpen {
		return []string{refNone}
	}

	// Which listener the connection leads to (G37), and whether the host is another one's (G39, R4).
	name := r.Host
	if r.Secure && p.SNI != routing.SNIHost {
		name = r.SNI
	}
	chosen := mostSpecific(onPort, name)
	if r.Secure && chosen == nil {
		return []string{refNone}
	}
	if r.Secure && p.SNI == routing.SNI421 && r.Host != r.SNI {
		forHost := mostSpecific(onPort, r.Host)
		switch {
		case !refMatchesHost(chosen.hostname, r.Host) && forHost != nil:
			return []string{refMisdirected}
		case !refMatchesHost(chosen.hostname, r.Host):
			return []string{refNone}
		case refSpecificity(forHost.hostname) > refSpecificity(chosen.hostname):
			return []string{refMisdirected}
		}
	}

	var table []profileListener
	for _, l := range onPort {
		alone := p.Listeners.Share == routing.ShareNothing || p.Listeners.Share == routing.SharePlain && r.Secure
		if !alone || chosen != nil && isListener(l, *chosen) {
			table = append(table, l)
		}
	}
	entries := p.entries(input, all, table)
	if p.refuses(protocol, entries) {
		return []string{refRefused}
	}
	var out []string
	for _, p := range p.assume(entries, r) {
		out = append(out, p.choose(entries, r)...)
	}
	return out
}

// assume returns a data plane for all that the conditions of entries may come to of which it is not
// known whether they hold.
func (p profileReference) assume(all []entry, r *Request) []profileReference {
	p.assumed = map[string]bool{}
	var unknown []string
	for _, e := range all {
		for _, q := range p.questionsOf(e, r) {
			ways := p.waysOf(q)
			if slices.Contains(ways, true) && slices.Contains(ways, false) && !slices.Contains(unknown, q.key()) {
				unknown = append(unknown, q.key())
			}
		}
	}
	out := []profileReference{p}
	for _, key := range unknown {
		for _, known := range slices.Clone(out) {
			holds := known
			holds.assumed = maps.Clone(known.assumed)
			holds.assumed[key] = true
			out = append(out, holds)
		}
	}
	return out
}

// mostSpecific is the listener for a host: an exact hostname, then wildcards with more labels, then
// none; nil: there is no listener for it.
func mostSpecific(from []profileListener, host string) *profileListener {
	var best *profileListener
	for i, l := range from {
		if refMatchesHost(l.hostname, host) &&
			(best == nil || refSpecificity(l.hostname) > refSpecificity(best.hostname)) {
			best = &from[i]
		}
	}
	return best
}

// profileListeners are all listeners of all Gateways, and of the ListenerSets that belong to them.
func profileListeners(input []doc) []profileListener {
	var out []profileListener
	for _, d := range input {
		gateway := text(d, "metadata", "namespace") + "/" + text(d, "metadata", "name")
		switch text(d, "kind") {
		case "Gateway":
			for _, l := range refListeners(input, gateway) {
				out = append(out, profileListener{l, gateway, "Gateway", gateway})
			}
		case "ListenerSet":
			if !allowsListeners(input, text(d, "metadata", "namespace")+"/"+text(d, "spec", "parentRef", "name")) {
				continue
			}
			for _, v := range entries(d, "spec", "listeners") {
				out = append(out, profileListener{refListener{spec: v.(doc), name: text(v, "name"),
					protocol: text(v, "protocol"), hostname: text(v, "hostname"), port: number(v, "port")},
					text(d, "metadata", "namespace") + "/" + text(d, "spec", "parentRef", "name"), "ListenerSet", gateway})
			}
		}
	}
	return out
}

// allowsListeners reports whether a Gateway takes ListenerSets of its namespace.
func allowsListeners(input []doc, gateway string) bool {
	return slices.ContainsFunc(input, func(d doc) bool {
		return text(d, "kind") == "Gateway" && gateway == text(d, "metadata", "namespace")+"/"+text(d, "metadata", "name") &&
			text(d, "spec", "allowedListeners", "namespaces", "from") == "All"
	})
}

// areOneTable reports whether a listener can answer together with those of a Gateway to which a
// request comes (R3).
func (p profileReference) areOneTable(input []doc, l profileListener, gateway string, r *Request) bool {
	class := func(gateway string) string {
		for _, d := range input {
			if text(d, "kind") == "Gateway" &&
				text(d, "metadata", "namespace")+"/"+text(d, "metadata", "name") == gateway {
				return text(d, "spec", "gatewayClassName")
			}
		}
		return ""
	}
	switch p.Listeners.Share {
	case routing.ShareGateway:
		return l.gateway == gateway
	case routing.ShareClass:
		return l.port == int64(r.Port) && (l.gateway == gateway || class(l.gateway) != "" && class(l.gateway) ==
			class(gateway))
	}
	return l.port == int64(r.Port) && l.gateway == gateway
}

func isListener(l, o profileListener) bool {
	return l.kind == o.kind && l.object == o.object && l.name == o.name
}

// entries are all that a table of routes has.
func (p profileReference) entries(input []doc, all, table []profileListener) []entry {
	var out []entry
	for _, l := range table {
		for _, route := range input {
			kind := text(route, "kind")
			if kind != "HTTPRoute" && kind != "GRPCRoute" {
				continue
			}
			hosts := p.hostsAt(input, all, l, route)
			if len(hosts) == 0 {
				continue
			}
			base := entry{kind: kind, namespace: text(route, "metadata", "namespace"),
				name: text(route, "metadata", "name"), created: text(route, "metadata", "creationTimestamp"),
				listener: l, weight: text(route, "metadata", "annotations", p.WeightAnnotation)}
			for _, h := range hosts {
				base.longest = max(base.longest, len(h.effective))
				if !strings.HasPrefix(h.effective, "*") {
					base.longestExact = max(base.longestExact, len(h.effective))
				}
			}
			rules := entriesOr(route, kind == "HTTPRoute", "spec", "rules")
			for _, h := range hosts {
				for i, rule := range rules {
					for _, m := range entriesOr(rule, true, "matches") {
						e := base
						e.host, e.index, e.rules = h, i, len(rules)
						p.readMatch(&e, rule, m, len(entries(rule, "matches")) == 0)
						out = append(out, e)
					}
				}
			}
		}
	}
	return out
}

// entriesOr are the entries of a list; an empty one if there are none and it has a default (G5).
func entriesOr(v any, byDefault bool, path ...string) []any {
	list := entries(v, path...)
	if len(list) == 0 && byDefault {
		return []any{doc{}}
	}
	return list
}

// hostsAt are the hostnames that a route has at a listener, without those that are dropped (R3).
func (p profileReference) hostsAt(input []doc, all []profileListener, l profileListener, route doc) []refHost {
	var out []refHost
	for _, parent := range entries(route, "spec", "parentRefs") {
		kind := text(parent, "kind")
		if kind == "" {
			kind = "Gateway"
		}
		if kind != l.kind {
			continue
		}
		alone := doc{"kind": route["kind"], "metadata": route["metadata"],
			"spec": doc{"parentRefs": []any{parent}, "hostnames": walk(route, "spec", "hostnames")}}
		for _, h := range refAttached(input, l.object, l.refListener, alone) {
			if !slices.Contains(out, h) && !p.drops(all, l, h.effective, text(parent, "sectionName") != "") {
				out = append(out, h)
			}
		}
	}
	return out
}

// drops reports whether a hostname of a route at a listener is another listener's.
func (p profileReference) drops(all []profileListener, l profileListener, host string, named bool) bool {
	if p.Listeners.Share == routing.ShareNothing || l.protocol == "HTTPS" && !p.Listeners.Secure ||
		p.Listeners.Named && !named {
		return false
	}
	for _, o := range all {
		if isListener(o, l) || o.port != l.port || o.protocol != l.protocol || o.gateway != l.gateway || o.conflicted ||
			p.Listeners.InObject && (o.kind != l.kind || o.object != l.object) {
			continue
		}
		switch p.Listeners.Drop {
		case routing.DropEqual:
			if o.hostname == host {
				return true
			}
		case routing.DropCovered:
			if refSpecificity(o.hostname) > refSpecificity(l.hostname) && refCovers(o.hostname, host) {
				return true
			}
		}
	}
	return false
}

// readMatch reads what a match asks for; bare: its rule has none.
func (p profileReference) readMatch(e *entry, rule, m any, bare bool) {
	for _, f := range entries(rule, "filters") {
		if text(f, "type") == "RequestRedirect" {
			e.redirect = text(f, "requestRedirect", "scheme")
		}
	}
	read := func(list string, fold bool) []condition {
		var out []condition
		for _, v := range entries(m, list) {
			c := condition{text(v, "name"), cmp.Or(text(v, "type"), "Exact"), text(v, "value")}
			if fold {
				c.name = strings.ToLower(c.name)
			}
			if !slices.ContainsFunc(out, func(o condition) bool { return o.name == c.name }) { // G44
				out = append(out, c)
			}
		}
		return out
	}
	e.headers = read("headers", true)
	if e.kind == "HTTPRoute" {
		e.pathType, e.path = cmp.Or(text(m, "path", "type"), "PathPrefix"), cmp.Or(text(m, "path", "value"), "/")
		if !slices.Contains(p.Ignored, routing.IgnoredMethod) {
			e.method = text(m, "method")
		}
		if !slices.Contains(p.Ignored, routing.IgnoredQuery) {
			e.query = read("queryParams", false)
		}
		if slices.Contains(p.Ignored, routing.IgnoredQueryType) {
			for i := range e.query {
				e.query[i].kind = "Exact"
			}
		}
		return
	}
	e.service, e.call = text(m, "method", "service"), text(m, "method", "method")
	e.callType = cmp.Or(text(m, "method", "type"), "Exact")
	asExpression := func(value, any string) string {
		if value != "" && e.callType == "Exact" {
			return regexp.QuoteMeta(value)
		}
		return cmp.Or(value, any)
	}
	path := "/" + asExpression(e.service, p.GRPCPath.AnyService) + "/" + asExpression(e.call, p.GRPCPath.AnyCall)
	e.text = `PathPrefix("/")`
	if e.service != "" || e.call != "" {
		e.text = fmt.Sprintf("PathRegexp(%q)", path)
	}
	for _, h := range entries(m, "headers") {
		function := map[bool]string{false: "Header", true: "HeaderRegexp"}[text(h, "type") == "RegularExpression"]
		e.text += fmt.Sprintf(" && %s(%q,%q)", function, text(h, "name"), text(h, "value"))
	}
	expression := p.GRPCPath.Expressions || e.callType == "RegularExpression"
	switch {
	case bare && p.GRPCBare == routing.GRPCLast:
		e.pathType, e.path = "bare", "/"
	case e.service == "" && e.call == "" && p.GRPCAny == routing.GRPCLast && !bare:
		e.pathType, e.path = "any", "/"
	case e.service == "" && e.call == "":
		e.pathType, e.path = "PathPrefix", "/"
	case e.service == "" && p.GRPCPath.CallAsHeader && !expression && !p.isCall(*e):
		e.pathType, e.path = map[bool]string{false: "PathPrefix", true: "any"}[p.GRPCAny == routing.GRPCLast], "/"
		e.headers = append(e.headers, condition{":path", "Suffix", "/" + e.call})
	case !expression && e.service != "" && e.call != "":
		e.pathType, e.path = "Exact", "/"+e.service+"/"+e.call
	case !expression && e.call == "" && p.GRPCPath.Prefix != "":
		e.pathType, e.path = "PathPrefix", strings.Replace(p.GRPCPath.Prefix, "SERVICE", e.service, 1)
	default:
		e.pathType, e.path = "RegularExpression", path
	}
}

// refuses reports whether two listeners of a table have routes for one hostname, and the proxy takes
// no such table.
func (p profileReference) refuses(protocol string, all []entry) bool {
	if !p.RefusesSharedHosts || p.Listeners.Share != routing.SharePlain || protocol != "HTTP" {
		return false
	}
	for _, a := range all {
		for _, b := range all {
			if a.host.effective == b.host.effective && !isListener(a.listener, b.listener) {
				return true
			}
		}
	}
	return false
}

// choose returns the rules of a table that may take a request.
func (p profileReference) choose(all []entry, r *Request) []string {
	forHost := func(kind string) []entry {
		var out []entry
		for _, e := range all {
			if (kind == "" || e.kind == kind) && refMatchesHost(e.host.effective, r.Host) {
				out = append(out, e)
			}
		}
		return out
	}
	var found []entry
	switch {
	case p.Kinds == routing.KindsTogether:
		found = forHost("")
	case r.Protocol == GRPC:
		if found = forHost("GRPCRoute"); len(found) == 0 && p.grpcFallsBack {
			found = forHost("HTTPRoute")
		}
	default:
		found = forHost("HTTPRoute")
	}
	switch p.Hosts {
	case routing.Shadow:
		best := 0
		for _, e := range found {
			best = max(best, refSpecificity(e.host.effective))
		}
		found = slices.DeleteFunc(found, func(e entry) bool { return refSpecificity(e.host.effective) < best })
		if p.HostGroups == routing.GroupsUnsorted {
			return p.chooseByGroups(found, r)
		}
	case routing.ByRoute:
		var out []string
		byRoute := map[string][]entry{}
		for _, e := range found {
			byRoute[e.kind+e.namespace+"/"+e.name] = append(byRoute[e.kind+e.namespace+"/"+e.name], e)
		}
		for _, ofRoute := range byRoute {
			out = append(out, p.chooseAmong(ofRoute, r)...)
		}
		if out != nil {
			return out
		}
	}
	return p.chooseAmong(found, r)
}

// chooseAmong returns the rules of one list that may take a request.
func (p profileReference) chooseAmong(all []entry, r *Request) []string {
	all = p.withOwnExact(all)
	found := slices.Clone(all)
	if p.Commit {
		found = slices.DeleteFunc(found, func(e entry) bool { return !p.pathHolds(e, r) })
		var upToPath []routing.Criterion
		for i, c := range p.Order {
			if slices.Contains([]routing.Criterion{routing.PathType, routing.PathLength, routing.PathText,
				routing.MatchedLength}, c) {
				upToPath = p.Order[:i+1]
			}
		}
		best := p.best(found, upToPath, r)
		var out []string
		for _, first := range best {
			ofPath := slices.DeleteFunc(slices.Clone(best), func(e entry) bool {
				return e.pathType != first.pathType || e.path != first.path || !p.restHolds(e, r)
			})
			out = append(out, p.rulesOf(ofPath, r)...)
		}
		if out == nil {
			return []string{refNone}
		}
		return out
	}
	found = slices.DeleteFunc(found, func(e entry) bool { return !p.pathHolds(e, r) || !p.restHolds(e, r) })
	return p.rulesOf(found, r)
}

// rulesOf returns the rules of those that go first.
func (p profileReference) rulesOf(holding []entry, r *Request) []string {
	if len(holding) == 0 {
		return []string{refNone}
	}
	first := p.best(holding, p.Order, r)
	var out []string
	for _, e := range holding {
		if slices.ContainsFunc(first, func(f entry) bool {
			return f.rule() == e.rule() || p.SameMatch == routing.SameUnknown && f.asksTheSame(e) &&
				p.compareBy(p.MatchCriteria(), f, e, holding, r) == 0
		}) {
			out = append(out, e.rule())
		}
	}
	if !p.anyDialect || !slices.ContainsFunc(first, p.hasExpression) {
		return out
	}
	plain := slices.DeleteFunc(slices.Clone(holding), p.hasExpression)
	p.anyDialect = false
	if others := p.rulesOf(plain, r); slices.ContainsFunc(others, func(o string) bool { return !slices.Contains(out, o) }) {
		return append(out, refExpression)
	}
	return append(out, refOrPlain)
}

func (p profileReference) hasExpression(e entry) bool {
	isExpression := func(c condition) bool { return c.kind == "RegularExpression" }
	if e.kind == "GRPCRoute" {
		return e.callType == "RegularExpression" && e.service+e.call != "" || slices.ContainsFunc(e.headers, isExpression)
	}
	return e.pathType == "RegularExpression" || slices.ContainsFunc(e.headers, isExpression) ||
		slices.ContainsFunc(e.query, isExpression)
}

// isCall reports whether an entry is compared with the service and the method of gRPC, not with a
// path.
func (p profileReference) isCall(e entry) bool {
	return p.Kinds == routing.KindsSeparate && e.kind == "GRPCRoute"
}

// asksTheSame reports whether two entries of different routes have one match under one hostname.
func (e entry) asksTheSame(o entry) bool {
	sorted := func(of []condition) []condition {
		return slices.SortedFunc(slices.Values(of), func(a, b condition) int { return strings.Compare(a.name, b.name) })
	}
	path := func(e entry) string {
		switch {
		case e.kind == "GRPCRoute":
			return e.service + "/" + e.call + " " + e.callType
		case e.pathType == "PathPrefix":
			return "below " + strings.TrimSuffix(e.path, "/")
		}
		return e.pathType + " " + e.path
	}
	return (e.kind != o.kind || e.namespace != o.namespace || e.name != o.name) &&
		e.kind == o.kind && e.host.effective == o.host.effective && path(e) == path(o) && e.method == o.method &&
		slices.Equal(sorted(e.headers), sorted(o.headers)) && slices.Equal(sorted(e.query), sorted(o.query))
}

// withOwnExact gives path prefixes the exact paths that are theirs as well (R8). Those that are
// written come before.
func (p profileReference) withOwnExact(all []entry) []entry {
	if p.Prefix != routing.OwnExact {
		return all
	}
	var out []entry
	for _, e := range all {
		out = append(out, e)
		if e.pathType != "PathPrefix" || strings.HasSuffix(e.path, "/") {
			continue
		}
		e.pathType = "itself"
		out = append(out, e)
	}
	return out
}

// chooseByGroups is chooseAmong where the rules of one listener and configured hostname stand
// together, in an order of such groups that is not known.
func (p profileReference) chooseByGroups(all []entry, r *Request) []string {
	type group struct{ listener, configured string }
	groups := map[group][]entry{}
	for _, e := range all {
		key := group{e.listener.kind + e.listener.object + "/" + e.listener.name, e.host.configured}
		groups[key] = append(groups[key], e)
	}
	var first, last []string
	for _, in := range groups {
		var everything []entry
		for _, e := range in {
			if p.takesEverything(e) {
				everything = append(everything, e)
			}
		}
		ahead := slices.DeleteFunc(slices.Clone(in), func(e entry) bool {
			// what comes behind a match of everything is not sent
			return p.takesEverything(e) || slices.ContainsFunc(everything, func(o entry) bool {
				return p.compareBy(p.Order, o, e, in, r) < 0
			})
		})
		if rules := p.chooseAmong(ahead, r); rules[0] != refNone {
			first = append(first, rules...)
		} else if rules := p.chooseAmong(everything, r); rules[0] != refNone {
			last = append(last, rules...)
		}
	}
	switch {
	case first != nil:
		return first
	case last != nil:
		return last
	}
	return []string{refNone}
}

// takesEverything reports whether an entry holds for every request.
func (p profileReference) takesEverything(e entry) bool {
	return slices.Contains([]string{"PathPrefix", "any", "bare"}, e.pathType) && e.path == "/" && e.method == "" &&
		len(e.headers) == 0 && len(e.query) == 0 && (e.redirect == "" || !p.RedirectGuard)
}

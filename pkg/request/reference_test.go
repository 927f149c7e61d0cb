package request

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// This file answers requests a second time, from the text of the Gateway API alone: slowly, over
// plain maps, with nothing of what the package or the graph compute. It looks at every match of
// every rule of every route under every hostname, and sorts what holds.

// verdictOf is what the specification makes of a request.
type verdictOf struct {
	kind     string // match, no match or misdirected
	listener string
	winner   string   // KIND NAMESPACE/NAME rule-N
	shadowed []string // best first, one of each other route

	tied []refCandidate // those that age, name and position alone order, the winner first
}

// refSettings are the switches of the Gateway API under which a reference answers, and one reading
// of what it leaves open.
type refSettings struct {
	isolation, intersection, stripped, methodHeader, ageless, loose bool
	regexRank                                                       string // afterExact, afterPrefix or byLength

	// grpcFallsBack: where no GRPCRoute of a listener is for the host, HTTPRoutes decide about a
	// gRPC request. The text says "a gRPC request tries GRPCRoutes, anything else HTTPRoutes"
	// (G57).
	grpcFallsBack bool
}

// refListener is one listener of the one Gateway.
type refListener struct {
	spec                     doc
	name, protocol, hostname string
	port                     int64
	conflicted               bool
}

type doc = map[string]any

func text(v any, path ...string) string {
	s, _ := walk(v, path...).(string)
	return s
}

func entries(v any, path ...string) []any {
	list, _ := walk(v, path...).([]any)
	return list
}

func number(v any, path ...string) int64 {
	n, _ := walk(v, path...).(int64)
	return n
}

func walk(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(doc)
		v = m[key]
	}
	return v
}

// refer answers a request to the Gateway called gateway, as namespace/name, of the input.
func refer(input []doc, gateway string, r *Request, s refSettings) verdictOf {
	listeners := refListeners(input, gateway)

	// G37: port and protocol of the connection select listeners, then the most specific hostname
	// does.
	overTLS := r.Secure || r.Protocol == TLS
	var onPort []refListener
	for _, l := range listeners {
		var speaks bool
		switch {
		case r.Protocol == TCP || r.Protocol == UDP:
			speaks = l.protocol == string(r.Protocol)
		case overTLS:
			speaks = l.protocol == "HTTPS" || l.protocol == "TLS"
		default:
			speaks = l.protocol == "HTTP"
		}
		if l.port == int64(r.Port) && speaks && !l.conflicted {
			onPort = append(onPort, l)
		}
	}
	name := r.Host
	if overTLS {
		name = r.SNI
	}
	named := r.Protocol != TCP && r.Protocol != UDP
	fit := refFitting(onPort, name, named)
	if len(fit) == 0 {
		return verdictOf{kind: "no match"}
	}
	chosen := fit[0]

	// G39: over HTTPS the host may not belong to another listener than the server name.
	if r.Secure && chosen.protocol == "HTTPS" && r.Host != r.SNI {
		forHost := refFitting(onPort, r.Host, true)
		if !refMatchesHost(chosen.hostname, r.Host) {
			if len(forHost) > 0 {
				return verdictOf{kind: "misdirected", listener: chosen.name}
			}
			return verdictOf{kind: "no match", listener: chosen.name}
		}
		if refSpecificity(forHost[0].hostname) > refSpecificity(chosen.hostname) {
			return verdictOf{kind: "misdirected", listener: chosen.name}
		}
	}

	// G38: one listener answers; without isolation, the less specific ones in order.
	if s.isolation {
		fit = fit[:1]
	}
	for _, l := range fit {
		if found := refCandidates(input, gateway, l, r, s); len(found) > 0 {
			refSort(found, s)
			v := verdictOf{kind: "match", listener: l.name, winner: found[0].rule()}
			v.tied = slices.DeleteFunc(slices.Clone(found),
				func(c refCandidate) bool { return refBySpec(found[0], c, s) != 0 })
			seen := map[string]bool{found[0].route: true}
			for _, c := range found {
				if !seen[c.route] {
					seen[c.route] = true
					v.shadowed = append(v.shadowed, c.rule())
				}
			}
			return v
		}
	}
	return verdictOf{kind: "no match", listener: chosen.name}
}

// refListeners are the listeners of a Gateway, with those that cannot be told apart marked (G26,
// G27, G28: inside one Gateway nobody wins).
func refListeners(input []doc, gateway string) []refListener {
	var out []refListener
	for _, d := range input {
		if text(d, "kind") != "Gateway" || text(d, "metadata", "namespace")+"/"+text(d, "metadata", "name") != gateway {
			continue
		}
		for _, v := range entries(d, "spec", "listeners") {
			out = append(out, refListener{spec: v.(doc), name: text(v, "name"), protocol: text(v, "protocol"),
				hostname: text(v, "hostname"), port: number(v, "port")})
		}
	}
	for i := range out {
		for j := range out {
			a, b := &out[i], &out[j]
			if i == j || a.port != b.port || (a.protocol == "UDP") != (b.protocol == "UDP") {
				continue
			}
			pair := func(x, y string) bool {
				return a.protocol == x && b.protocol == y || a.protocol == y && b.protocol == x
			}
			switch {
			case a.protocol == "UDP", a.protocol == "TCP", b.protocol == "TCP":
				a.conflicted = true
			case a.protocol == b.protocol || pair("HTTPS", "TLS"):
				a.conflicted = a.conflicted || a.hostname == b.hostname
			default: // HTTP beside HTTPS or TLS
				a.conflicted = true
			}
		}
	}
	for i := range out { // a TCP listener makes all listeners on the port indistinct
		for j := range out {
			if i != j && out[i].port == out[j].port && out[i].protocol != "UDP" && out[j].protocol == "TCP" {
				out[i].conflicted = true
			}
		}
	}
	return out
}

// refFitting are the listeners for a host: exact, then wildcards with more labels first, then none.
func refFitting(from []refListener, host string, named bool) []refListener {
	var out []refListener
	for _, l := range from {
		if !named || refMatchesHost(l.hostname, host) {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b refListener) int {
		return cmp.Compare(refSpecificity(b.hostname),
			refSpecificity(a.hostname))
	})
	return out
}

// refSpecificity is a number for "exact, then wildcards with more labels first, then none".
func refSpecificity(hostname string) int {
	switch {
	case hostname == "":
		return 0
	case strings.HasPrefix(hostname, "*."):
		return len(strings.Split(hostname, "."))
	}
	return 1000
}

// refMatchesHost: G16 for a host that is no pattern. An address is one that no hostname matches
// (contract).
func refMatchesHost(hostname, host string) bool {
	if hostname == "" {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return refCovers(hostname, host)
}

// refCovers: *.x matches any host that ends in .x with at least one more label, any depth, never x
// itself; a narrower wildcard likewise.
func refCovers(pattern, host string) bool {
	if pattern == "" || pattern == host {
		return true
	}
	p, h := strings.Split(pattern, "."), strings.Split(host, ".")
	if p[0] != "*" {
		return false
	}
	p = p[1:]
	return len(h) > len(p) && slices.Equal(h[len(h)-len(p):], p)
}

// refHost is what survives of one pair of hostnames.
type refHost struct{ effective, configured string }

// refAttached are the hostnames under which a route is attached to a listener, none if it is not
// (G8, G9, G13, G14, G16).
func refAttached(input []doc, gateway string, l refListener, route doc) []refHost {
	kind, namespace := text(route, "kind"), text(route, "metadata", "namespace")
	ofGateway, _, _ := strings.Cut(gateway, "/")
	wanted := false
	for _, p := range entries(route, "spec", "parentRefs") {
		in := text(p, "namespace")
		if in == "" {
			in = namespace
		}
		switch {
		case in+"/"+text(p, "name") != gateway:
		case text(p, "sectionName") != "" && text(p, "sectionName") != l.name:
		case number(p, "port") != 0 && number(p, "port") != l.port:
		default:
			wanted = true
		}
	}
	takes := map[string][]string{"HTTP": {"HTTPRoute", "GRPCRoute"}, "HTTPS": {"HTTPRoute", "GRPCRoute"},
		"TLS": {"TLSRoute"}, "TCP": {"TCPRoute"}, "UDP": {"UDPRoute"}}[l.protocol]
	if named := entries(l.spec, "allowedRoutes", "kinds"); len(named) > 0 {
		takes = slices.DeleteFunc(slices.Clone(takes), func(k string) bool {
			return !slices.ContainsFunc(named, func(n any) bool { return text(n, "kind") == k })
		})
	}
	admitted := false
	switch from := text(l.spec, "allowedRoutes", "namespaces", "from"); from {
	case "All":
		admitted = true
	case "", "Same":
		admitted = namespace == ofGateway
	case "Selector":
		admitted = true
		for key, want := range walk(l.spec, "allowedRoutes", "namespaces", "selector", "matchLabels").(doc) {
			have := ""
			if key == "kubernetes.io/metadata.name" {
				have = namespace
			}
			for _, d := range input {
				if text(d, "kind") == "Namespace" && text(d, "metadata", "name") == namespace &&
					key != "kubernetes.io/metadata.name" {
					have = text(d, "metadata", "labels", key)
				}
			}
			admitted = admitted && have == want
		}
	}
	if !wanted || !admitted || !slices.Contains(takes, kind) {
		return nil
	}
	hostnames := entries(route, "spec", "hostnames")
	if kind == "TCPRoute" || kind == "UDPRoute" {
		return []refHost{{}}
	}
	if len(hostnames) == 0 {
		return []refHost{{effective: l.hostname}}
	}
	var out []refHost
	for _, v := range hostnames {
		h := v.(string)
		switch {
		case h == l.hostname, refCovers(l.hostname, h):
			out = append(out, refHost{h, h})
		case refCovers(h, l.hostname):
			out = append(out, refHost{l.hostname, h})
		}
	}
	return out
}

// refCandidate is one match of one rule under one hostname.
type refCandidate struct {
	kind, route, fullName string
	created               string // "": not known; RFC 3339 in UTC otherwise, which sorts as text
	index                 int
	host                  string // the matching hostname that counts
	match                 doc    // with its defaults filled in
}

func (c refCandidate) rule() string { return c.route + " rule-" + string(rune('1'+c.index)) }

// refCandidates: G40.
func refCandidates(input []doc, gateway string, l refListener, r *Request, s refSettings) []refCandidate {
	kind, host := "HTTPRoute", r.Host
	switch {
	case l.protocol == "TLS":
		kind, host = "TLSRoute", r.SNI
	case l.protocol == "TCP", l.protocol == "UDP":
		kind = l.protocol + "Route"
	case r.Protocol == TLS: // the listener ends the connection; which request it carries is not known
		return nil
	case r.Protocol == GRPC:
		kind = "GRPCRoute"
		if s.grpcFallsBack && !refServes(input, gateway, l, "GRPCRoute", host) &&
			refServes(input, gateway, l, "HTTPRoute", host) {
			kind = "HTTPRoute"
		}
	}
	var out []refCandidate
	for _, route := range input {
		if text(route, "kind") != kind {
			continue
		}
		fullName := text(route, "metadata", "namespace") + "/" + text(route, "metadata", "name")
		for _, h := range refAttached(input, gateway, l, route) {
			if !refMatchesHost(h.effective, host) && kind != "TCPRoute" && kind != "UDPRoute" {
				continue
			}
			c := refCandidate{kind: kind, route: kind + " " + fullName, fullName: fullName,
				created: text(route, "metadata", "creationTimestamp"), host: h.configured}
			if s.intersection {
				c.host = h.effective
			}
			rules := entries(route, "spec", "rules")
			if len(rules) == 0 && kind == "HTTPRoute" { // G5
				rules = []any{doc{}}
			}
			for i, rule := range rules {
				c.index = i
				matches := entries(rule, "matches")
				if len(matches) == 0 { // G5
					matches = []any{doc{}}
				}
				for _, m := range matches {
					c.match = m.(doc)
					if refHolds(kind, c.match, r, s) {
						out = append(out, c)
					}
				}
			}
		}
	}
	return out
}

// refServes reports whether a route of a kind is attached to a listener for a host.
func refServes(input []doc, gateway string, l refListener, kind, host string) bool {
	for _, route := range input {
		if text(route, "kind") != kind {
			continue
		}
		for _, h := range refAttached(input, gateway, l, route) {
			if refMatchesHost(h.effective, host) {
				return true
			}
		}
	}
	return false
}

// refHolds: G44 and G48.
func refHolds(kind string, m doc, r *Request, s refSettings) bool {
	same := func(kind, want, have string) bool {
		if kind == "RegularExpression" {
			at := regexp.MustCompile(want).FindAllStringIndex(have, -1)
			if s.loose {
				return at != nil
			}
			return regexp.MustCompile(`^(?s:(?:` + want + `))$`).MatchString(have)
		}
		return want == have
	}
	switch kind {
	case "HTTPRoute":
		value := text(m, "path", "value")
		if value == "" {
			value = "/"
		}
		switch text(m, "path", "type") {
		case "Exact":
			if value != r.Path {
				return false
			}
		case "RegularExpression":
			if !same("RegularExpression", value, r.Path) {
				return false
			}
		default: // element by element; a slash at the end of the value does not count
			var want []string
			if value = strings.TrimSuffix(value, "/"); value != "" {
				want = strings.Split(value[1:], "/")
			}
			have := strings.Split(r.Path[1:], "/")
			if len(have) < len(want) || !slices.Equal(have[:len(want)], want) {
				return false
			}
		}
		if method := text(m, "method"); method != "" && method != r.Method {
			return false
		}
		seen := map[string]bool{}
		for _, q := range entries(m, "queryParams") {
			name := text(q, "name")
			if seen[name] {
				continue
			}
			seen[name] = true
			at := slices.IndexFunc(r.Query, func(f Field) bool { return f.Name == name })
			if at < 0 || !same(text(q, "type"), text(q, "value"), r.Query[at].Value) {
				return false
			}
		}
	case "GRPCRoute":
		method := walk(m, "method")
		if want := text(method, "service"); want != "" && !same(text(method, "type"), want, r.Service) {
			return false
		}
		if want := text(method, "method"); want != "" && !same(text(method, "type"), want, r.Call) {
			return false
		}
	default:
		return true
	}
	seen := map[string]bool{}
	for _, h := range entries(m, "headers") {
		name := strings.ToLower(text(h, "name"))
		if seen[name] {
			continue
		}
		seen[name] = true
		at := slices.IndexFunc(r.Headers, func(f Field) bool { return strings.ToLower(f.Name) == name })
		if at < 0 || !same(text(h, "type"), text(h, "value"), r.Headers[at].Value) {
			return false
		}
	}
	return true
}

// refSort puts the best candidate first.
func refSort(all []refCandidate, s refSettings) {
	given := slices.Clone(all)
	slices.SortStableFunc(all, func(a, b refCandidate) int {
		if order := refBySpec(a, b, s); order != 0 {
			return order
		}
		// G47: if any of the candidates that only age and name can tell apart has no creation time,
		// age does not count among them.
		aged := !s.ageless
		for _, c := range given {
			if refBySpec(a, c, s) == 0 && c.created == "" {
				aged = false
			}
		}
		if aged && a.created != b.created {
			return strings.Compare(a.created, b.created)
		}
		if a.fullName != b.fullName {
			return strings.Compare(a.fullName, b.fullName)
		}
		return a.index - b.index
	})
}

// refBySpec are the criteria of G41, G42 and G43 before age: less than 0 if a comes first.
func refBySpec(a, b refCandidate, s refSettings) int {
	more := func(a, b int) int { return b - a }
	exact := func(c refCandidate) int {
		if strings.HasPrefix(c.host, "*") {
			return 0
		}
		return len(c.host)
	}
	distinct := func(c refCandidate, list string) int {
		names := map[string]bool{}
		for _, v := range entries(c.match, list) {
			name := text(v, "name")
			if list == "headers" {
				name = strings.ToLower(name)
			}
			names[name] = true
		}
		return len(names)
	}
	method := func(c refCandidate) int {
		if text(c.match, "method") != "" {
			return 1
		}
		return 0
	}
	if order := more(exact(a), exact(b)); order != 0 {
		return order
	}
	if order := more(len(a.host), len(b.host)); order != 0 {
		return order
	}
	switch a.kind {
	case "HTTPRoute":
		if order := refByPath(a, b, s); order != 0 {
			return order
		}
		if s.methodHeader {
			if order := more(distinct(a, "headers")+method(a), distinct(b, "headers")+method(b)); order != 0 {
				return order
			}
		} else {
			if order := more(method(a), method(b)); order != 0 {
				return order
			}
			if order := more(distinct(a, "headers"), distinct(b, "headers")); order != 0 {
				return order
			}
		}
		return more(distinct(a, "queryParams"), distinct(b, "queryParams"))
	case "GRPCRoute":
		if order := more(len(text(a.match, "method", "service")), len(text(b.match, "method", "service"))); order != 0 {
			return order
		}
		if order := more(len(text(a.match, "method", "method")), len(text(b.match, "method", "method"))); order != 0 {
			return order
		}
		return more(distinct(a, "headers"), distinct(b, "headers"))
	}
	return 0
}

// refByPath is criterion 3: Exact, then PathPrefix with more characters; expressions where the
// switch puts them.
func refByPath(a, b refCandidate, s refSettings) int {
	sort := func(c refCandidate) string {
		if kind := text(c.match, "path", "type"); kind != "" {
			return kind
		}
		return "PathPrefix"
	}
	length := func(c refCandidate) int {
		value := text(c.match, "path", "value")
		if value == "" {
			value = "/"
		}
		if s.stripped && sort(c) == "PathPrefix" {
			value = strings.TrimSuffix(value, "/")
		}
		return len(value)
	}
	order := []string{"Exact", "RegularExpression", "PathPrefix"}
	if s.regexRank == "afterPrefix" {
		order = []string{"Exact", "PathPrefix", "RegularExpression"}
	}
	x, y := sort(a), sort(b)
	switch {
	case s.regexRank == "byLength" && x != "Exact" && y != "Exact":
		return length(b) - length(a)
	case x != y:
		return slices.Index(order, x) - slices.Index(order, y)
	case x == "PathPrefix":
		return length(b) - length(a)
	}
	return 0
}

package main

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// drawRequests draws requests for the listeners and rules of a world: most fulfil a match of a rule, some of these with something changed.
//
// With policies, one in eight asks whether a page of another origin may send it.
func drawRequests(s draw.Source, w *world, n int, policies bool) []request {
	g := requestDrawing{Source: s, world: w, listeners: listeners(w)}
	for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
		g.routes = append(g.routes, w.of(kind)...)
	}
	if len(g.listeners) == 0 {
		return nil
	}
	var out []request
	for range n {
		r := g.request()
		if policies && !r.GRPC && g.Chance(12) {
			r.Method = "OPTIONS"
			r.Headers = append(r.Headers, [2]string{"Origin", draw.Pick(g.Source, "https://a.example.com", "https://b.example.com")}, [2]string{"Access-Control-Request-Method", "GET"})
		}
		out = append(out, r)
	}
	return out
}

// requestDrawing draws requests for one world.
type requestDrawing struct {
	draw.Source
	world     *world
	routes    []object
	listeners []listener
}

// listener is a listener of a Gateway or of a ListenerSet.
type listener struct {
	gateway, owner string // namespace/name of its Gateway, and of what it is written in
	kind, name     string
	hostname       string
	port           int
	secure         bool
}

// listeners are those of the world.
func listeners(w *world) []listener {
	var out []listener
	add := func(o object, gateway string) {
		for _, l := range list(o, "spec", "listeners") {
			out = append(out, listener{gateway, named(o), o["kind"].(string), text(l, "name"), text(l, "hostname"), number(l, "port"), text(l, "protocol") == "HTTPS"})
		}
	}
	for _, o := range w.of("Gateway") {
		add(o, named(o))
	}
	for _, o := range w.of("ListenerSet") {
		add(o, text(o, "metadata", "namespace")+"/"+text(o, "spec", "parentRef", "name"))
	}
	return out
}

// attached are the listeners that a route names.
func (g *requestDrawing) attached(route object) []listener {
	var out []listener
	for _, ref := range list(route, "spec", "parentRefs") {
		for _, l := range g.listeners {
			kind := text(ref, "kind")
			if kind == "" {
				kind = "Gateway"
			}
			section, port := text(ref, "sectionName"), number(ref, "port")
			if l.kind == kind && l.owner == text(ref, "namespace")+"/"+text(ref, "name") && (section == "" || section == l.name) && (port == 0 || port == l.port) {
				out = append(out, l)
			}
		}
	}
	return out
}

// hosts that requests are for.
var requestHosts = []string{"shop.example.com", "api.example.com", "a.shop.example.com", "other.example.com", "a.b.shop.example.com", "example.com", "other.net"}

func (g *requestDrawing) request() request {
	r := request{Method: draw.Pick(g.Source, "GET", "GET", "GET", "GET", "POST", "HEAD", "PUT", "OPTIONS"), Path: "/"}
	var route object
	if len(g.routes) > 0 && g.Chance(90) {
		route = draw.Pick(g.Source, g.routes...)
	}
	l := draw.Pick(g.Source, g.listeners...)
	if of := g.attached(route); len(of) > 0 && g.Chance(90) {
		l = draw.Pick(g.Source, of...)
	}
	r.Gateway, r.Port, r.TLS = l.gateway, l.port, l.secure
	r.Host = g.host(l, route)
	if r.TLS {
		r.SNI = r.Host
		if g.Chance(8) {
			r.SNI = draw.Pick(g.Source, requestHosts...)
		}
	}
	switch {
	case route == nil:
		r.Path = draw.Pick(g.Source, pathValues...)
		if r.GRPC = g.Chance(10); r.GRPC {
			g.meetGRPC(&r, nil)
		}
	case route["kind"] == "GRPCRoute":
		g.meetGRPC(&r, g.match(route))
		r.GRPC = g.Chance(75)
	default:
		g.meetHTTP(&r, g.match(route))
	}
	g.noise(&r)
	if r.GRPC {
		r.Method = "POST"
	} else if g.Chance(8) {
		r.Path = g.odd(r.Path)
	}
	if g.Chance(2) {
		r.Host = strings.ToUpper(r.Host[:1]) + r.Host[1:]
	}
	switch standard := r.Port == 80 || r.Port == 443; {
	case !standard && g.Chance(70), g.Chance(4): // as clients do for other ports
		r.Host = fmt.Sprintf("%s:%d", r.Host, r.Port)
	case g.Chance(1):
		r.Host += ":1234"
	}
	if !r.GRPC && g.Chance(15) {
		r.Path += g.query(draw.Pick(g.Source, queryNames...), draw.Pick(g.Source, plainValues...), r.Path)
	}
	return r
}

// host draws the host of a request: most often one that the route has and the listener takes.
func (g *requestDrawing) host(l listener, route object) string {
	under := func(hostname string) string {
		if strings.HasPrefix(hostname, "*.") {
			return draw.Pick(g.Source, "x", "a", "a.b", "shop", "other") + hostname[1:]
		}
		return hostname
	}
	names := list(route, "spec", "hostnames")
	switch {
	case len(names) > 0 && g.Chance(75):
		return under(draw.Pick(g.Source, names...).(string))
	case l.hostname != "" && g.Chance(50):
		return under(l.hostname)
	}
	return draw.Pick(g.Source, requestHosts...)
}

// match draws a match of a route, or nil where a rule has none.
func (g *requestDrawing) match(route object) any {
	rules := list(route, "spec", "rules")
	if len(rules) == 0 {
		return nil
	}
	if matches := list(draw.Pick(g.Source, rules...), "matches"); len(matches) > 0 {
		return draw.Pick(g.Source, matches...)
	}
	return nil
}

func (g *requestDrawing) meetHTTP(r *request, match any) {
	value := text(match, "path", "value")
	switch text(match, "path", "type") {
	case "Exact":
		r.Path = value
	case "RegularExpression":
		r.Path = draw.Pick(g.Source, pattern(pathPatterns, value).values...)
		if !strings.HasPrefix(r.Path, "/") {
			r.Path = "/" + r.Path
		}
	case "PathPrefix":
		r.Path = value + draw.Pick(g.Source, "", "", "/", "/q", "/q", "q", "/b", "/1")
		if strings.HasSuffix(value, "/") {
			r.Path = value + draw.Pick(g.Source, "", "q", "b/c", "a")
		}
	default:
		r.Path = draw.Pick(g.Source, pathValues...)
	}
	if method := text(match, "method"); method != "" && g.Chance(85) {
		r.Method = method
	}
	g.meetHeaders(r, match)
	for _, q := range list(match, "queryParams") {
		if g.Chance(90) {
			r.Path += g.query(text(q, "name"), g.meet(q), r.Path)
		}
	}
}

func (g *requestDrawing) meetGRPC(r *request, match any) {
	service, call := text(match, "method", "service"), text(match, "method", "method")
	if text(match, "method", "type") == "RegularExpression" {
		if service != "" {
			service = draw.Pick(g.Source, pattern(servicePattern, service).values...)
		}
		if call != "" {
			call = draw.Pick(g.Source, pattern(callPattern, call).values...)
		}
	}
	if service == "" || g.Chance(5) {
		service = draw.Pick(g.Source, services...)
	}
	if call == "" || g.Chance(5) {
		call = draw.Pick(g.Source, calls...)
	}
	r.Path, r.Method = "/"+service+"/"+call, draw.Pick(g.Source, "POST", "POST", "GET")
	g.meetHeaders(r, match)
}

func (g *requestDrawing) meetHeaders(r *request, match any) {
	for _, h := range list(match, "headers") {
		if g.Chance(90) {
			r.Headers = append(r.Headers, [2]string{text(h, "name"), g.meet(h)})
		}
	}
}

// meet draws a value that a condition asks for, or nearly.
func (g *requestDrawing) meet(condition any) string {
	if text(condition, "type") == "RegularExpression" {
		return draw.Pick(g.Source, pattern(valuePatterns, text(condition, "value")).values...)
	}
	return text(condition, "value")
}

// query is a parameter as it is written behind a path.
func (g *requestDrawing) query(name, value, path string) string {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	if g.Chance(3) && value != "" {
		value = fmt.Sprintf("%%%02X", value[0]) + value[1:]
	}
	return sep + name + "=" + value
}

// noise adds headers that no rule asked for, and second values of those that are there.
func (g *requestDrawing) noise(r *request) {
	if len(r.Headers) > 0 && g.Chance(12) {
		name := draw.Pick(g.Source, r.Headers...)[0]
		r.Headers = append(r.Headers, [2]string{name, draw.Pick(g.Source, plainValues...)})
		if g.Chance(50) { // in front
			r.Headers[0], r.Headers[len(r.Headers)-1] = r.Headers[len(r.Headers)-1], r.Headers[0]
		}
	}
	if g.Chance(15) {
		r.Headers = append(r.Headers, [2]string{draw.Pick(g.Source, headerNames...), draw.Pick(g.Source, plainValues...)})
	}
	if path, query, has := strings.Cut(r.Path, "?"); has && g.Chance(12) {
		name, _, _ := strings.Cut(query, "=")
		r.Path = path + "?" + draw.Pick(g.Source, query+"&"+name+"="+draw.Pick(g.Source, plainValues...), name+"="+draw.Pick(g.Source, plainValues...)+"&"+query)
	}
}

// odd writes a path in a way that proxies may take for another one.
func (g *requestDrawing) odd(path string) string {
	path, query, has := strings.Cut(path, "?")
	switch g.IntN(9) {
	case 0:
		path = "/" + path
	case 1:
		path = strings.Replace(path, "/", "//", g.Between(1, 2))
	case 2:
		path += "/"
	case 3:
		path = strings.Replace(path, "a", "%61", 1)
	case 4:
		path += "%2Fb"
	case 5:
		path = "/z/.." + path
	case 6:
		path = "/." + path
	case 7:
		path = strings.ToUpper(path)
	case 8:
		path += ";v=1"
	}
	if has {
		path += "?" + query
	}
	return path
}

// hostOnly is a host without its port.
func hostOnly(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return name
}

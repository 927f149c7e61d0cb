package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/middlewares/gatewayapi/headermodifier"
	"github.com/traefik/traefik/v3/pkg/middlewares/gatewayapi/redirect"
	"github.com/traefik/traefik/v3/pkg/middlewares/gatewayapi/urlrewrite"
	"github.com/traefik/traefik/v3/pkg/middlewares/requestdecorator"
	httpmuxer "github.com/traefik/traefik/v3/pkg/muxer/http"
	"github.com/traefik/traefik/v3/pkg/provider"
	"github.com/traefik/traefik/v3/pkg/provider/kubernetes/gateway"
)

// request is what is asked, as world.go of the comparison describes it.
type request struct {
	Port    int         `json:"port"`
	TLS     bool        `json:"tls"`
	Host    string      `json:"host"`
	GRPC    bool        `json:"grpc"`
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Headers [][2]string `json:"headers"`
}

// reply is what becomes of a request, as world.go of the comparison describes it, and more.
type reply struct {
	Status   int    `json:"status"`
	Location string `json:"location,omitempty"`
	Backend  string `json:"backend,omitempty"` // the first of Backends
	Method   string `json:"method,omitempty"`
	Host     string `json:"host,omitempty"`
	Path     string `json:"path,omitempty"`
	Note     string `json:"note,omitempty"`
	// Rule is kind/namespace/name/index of the rule whose router answers.
	Rule string `json:"rule,omitempty"`
	// Ties are other rules whose routers match and have the same number: which of them answers is chance.
	Ties []string `json:"ties,omitempty"`
	// Backends are namespace/name of the Services of which one is drawn, or statuses that stand for them.
	Backends []string `json:"backends,omitempty"`

	router   string
	priority int
}

// proxy answers requests.
type proxy struct {
	conf     *dynamic.HTTPConfiguration
	services map[string]string // by address
	rules    map[string]string // of routes, by the label of their routers
	tables   map[table]*muxer
	parser   httpmuxer.SyntaxParser
}

// table is where routers are looked for.
type table struct {
	port int
	tls  bool
}

// muxer is the one of a table, and one for each of its routers.
type muxer struct {
	whole   http.Handler
	routers map[string]http.Handler
}

func newProxy(ctx context.Context, texts []json.RawMessage) (*proxy, error) {
	o, err := read(texts)
	if err != nil {
		return nil, err
	}
	kube, gateways, err := o.clients(ctx)
	if err != nil {
		return nil, err
	}
	entryPoints := map[string]gateway.Entrypoint{}
	for _, port := range o.ports() {
		entryPoints[entryPoint(int(port))] = gateway.Entrypoint{Address: fmt.Sprintf(":%d", port)}
	}
	conf, err := gateway.LoadFrom(ctx, kube, gateways, entryPoints)
	if err != nil {
		return nil, err
	}
	out := &proxy{conf: conf.HTTP, services: o.services(), rules: o.rules(), tables: map[table]*muxer{}}
	if out.parser, err = httpmuxer.NewSyntaxParser(); err != nil {
		return nil, err
	}
	for _, port := range o.ports() {
		for _, encrypted := range []bool{false, true} {
			at := table{int(port), encrypted}
			if out.tables[at], err = out.newMuxer(ctx, at); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func entryPoint(port int) string { return fmt.Sprintf("port%d", port) }

// rules are the rules of all routes by the label that the provider gives the routers of them, at every Gateway and port.
func (o *objects) rules() map[string]string {
	out := map[string]string{}
	note := func(kind, namespace, name string, rules int) {
		for _, g := range o.gateways {
			for _, port := range o.ports() {
				for i := range rules {
					label := provider.Normalize(fmt.Sprintf("%s-%s-%s-gw-%s-%s-ep-%s-%d", kind, namespace, name, g.Namespace, g.Name, entryPoint(int(port)), i))
					out[label] = fmt.Sprintf("%s/%s/%s/%d", kind, namespace, name, i)
				}
			}
		}
	}
	for _, r := range o.http {
		note("httproute", r.Namespace, r.Name, len(r.Spec.Rules))
	}
	for _, r := range o.grpc {
		note("grpcroute", r.Namespace, r.Name, len(r.Spec.Rules))
	}
	return out
}

// newMuxer builds the muxer of a table, as the router manager of Traefik does. A router that it refuses is not there.
func (p *proxy) newMuxer(ctx context.Context, at table) (*muxer, error) {
	out := &muxer{routers: map[string]http.Handler{}}
	whole := httpmuxer.NewMuxer(p.parser, nil)
	for _, name := range slices.Sorted(maps.Keys(p.conf.Routers)) {
		r := p.conf.Routers[name]
		if (r.TLS != nil) != at.tls || !slices.Contains(r.EntryPoints, entryPoint(at.port)) {
			continue
		}
		handler, err := p.handler(ctx, name, r)
		if err != nil {
			continue
		}
		if whole.AddRoute(r.Rule, r.RuleSyntax, r.Priority, gateway.ProviderName, handler) != nil {
			continue
		}
		alone := httpmuxer.NewMuxer(p.parser, nil)
		matches := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		if err := alone.AddRoute(r.Rule, r.RuleSyntax, r.Priority, gateway.ProviderName, matches); err != nil {
			return nil, err
		}
		out.routers[name] = atEntryPoint(alone)
	}
	out.whole = atEntryPoint(whole)
	return out, nil
}

// atEntryPoint is what an entry point with the default settings does before it looks for a router. The build takes the functions out of the
// package of the server, which needs modules that nobody hands out.
func atEntryPoint(next http.Handler) http.Handler {
	decorated := requestdecorator.New(nil)
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { decorated.ServeHTTP(w, r, next.ServeHTTP) })
	return denyOpaque(denyFragment(normalizePath(sanitizePath(http.AllowQuerySemicolons(h)))))
}

// handler is the chain of the middlewares of a router, with its service behind them.
func (p *proxy) handler(ctx context.Context, name string, r *dynamic.Router) (http.Handler, error) {
	var h http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		o := replyOf(req)
		o.Backends = p.backends(r.Service)
		o.Method, o.Host = req.Method, req.Host
		if sent, err := url.ParseRequestURI(req.RequestURI); err == nil { // which is what is sent on
			o.Path = sent.EscapedPath()
		}
	})
	for _, name := range slices.Backward(r.Middlewares) {
		m := p.conf.Middlewares[name]
		var err error
		switch {
		case m == nil:
			return nil, fmt.Errorf("there is no middleware %s", name)
		case m.RequestRedirect != nil:
			h, err = redirect.NewRequestRedirect(ctx, h, *m.RequestRedirect, name)
		case m.URLRewrite != nil:
			h = urlrewrite.NewURLRewrite(ctx, h, *m.URLRewrite, name)
		case m.RequestHeaderModifier != nil:
			h = headermodifier.NewRequestHeaderModifier(ctx, h, *m.RequestHeaderModifier, name)
		case m.ResponseHeaderModifier != nil:
			h = headermodifier.NewResponseHeaderModifier(ctx, h, *m.ResponseHeaderModifier, name)
		default:
			return nil, fmt.Errorf("middleware %s is of a sort that filters do not make", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		o := replyOf(req)
		o.router, o.priority, o.Rule, o.Note = name, r.Priority, p.rules[label(name)], fmt.Sprintf("%s has %d", r.Rule, r.Priority)
		h.ServeHTTP(w, req)
	}), nil
}

// backends are the Services of a service of Traefik, or the statuses that it answers with in their place.
func (p *proxy) backends(name string) []string {
	s := p.conf.Services[name]
	if s == nil {
		return []string{"500"}
	}
	if s.LoadBalancer != nil {
		if len(s.LoadBalancer.Servers) == 0 {
			return []string{"503"}
		}
		var out []string
		for _, server := range s.LoadBalancer.Servers {
			if u, err := url.Parse(server.URL); err == nil {
				out = append(out, cmp.Or(p.services[u.Hostname()], server.URL))
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	var out []string
	if s.Weighted != nil {
		for _, one := range s.Weighted.Services {
			switch {
			case one.Weight != nil && *one.Weight == 0:
			case one.Status != nil:
				out = append(out, fmt.Sprint(*one.Status))
			case one.GRPCStatus != nil:
				out = append(out, "200") // with the status of gRPC in a body of JSON
			default:
				out = append(out, p.backends(one.Name)...)
			}
		}
	}
	if len(out) == 0 {
		return []string{"503"}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// replyKey is where the reply to a request is while it is being made.
type replyKey struct{}

func replyOf(r *http.Request) *reply {
	o, _ := r.Context().Value(replyKey{}).(*reply)
	if o == nil {
		o = &reply{}
	}
	return o
}

// ask has a request answered.
func (p *proxy) ask(r request) (*reply, error) {
	m := p.tables[table{r.Port, r.TLS}]
	if m == nil {
		return nil, fmt.Errorf("nothing listens on port %d", r.Port)
	}
	out := &reply{}
	whole, err := r.read(out)
	if err != nil { // the server of the standard library answers this way
		return &reply{Status: http.StatusBadRequest, Note: err.Error()}, nil
	}
	answer := httptest.NewRecorder()
	m.whole.ServeHTTP(answer, whole)
	out.Status, out.Location = answer.Code, answer.Header().Get("Location")
	services := slices.DeleteFunc(slices.Clone(out.Backends), func(b string) bool { return !strings.Contains(b, "/") })
	switch {
	case len(services) > 0:
		out.Backend = services[0]
	case len(out.Backends) > 0:
		fmt.Sscan(out.Backends[0], &out.Status)
		out.Method, out.Host, out.Path = "", "", ""
	}
	if out.router == "" {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.routers)) {
		if name == out.router || p.conf.Routers[name].Priority != out.priority {
			continue
		}
		again, err := r.read(&reply{})
		if err != nil {
			return nil, err
		}
		matched := httptest.NewRecorder()
		m.routers[name].ServeHTTP(matched, again)
		if rule := p.rules[label(name)]; matched.Code == http.StatusOK && rule != out.Rule {
			out.Ties = append(out.Ties, rule)
		}
	}
	slices.Sort(out.Ties)
	out.Ties = slices.Compact(out.Ties)
	return out, nil
}

// read reads the request as the server of the standard library does.
func (r request) read(into *reply) (*http.Request, error) {
	method := r.Method
	if r.GRPC {
		method = http.MethodPost
	}
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", method, r.Path, r.Host)
	for _, h := range r.Headers {
		text += fmt.Sprintf("%s: %s\r\n", h[0], h[1])
	}
	if r.GRPC {
		text += "Content-Type: application/grpc\r\nTE: trailers\r\n"
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text + "\r\n")))
	if err != nil {
		return nil, err
	}
	if req.Host == "" {
		return nil, errors.New("there is no host")
	}
	req.RemoteAddr = net.JoinHostPort("192.0.2.1", "1024")
	if r.TLS {
		req.TLS = &tls.ConnectionState{}
	}
	return req.WithContext(context.WithValue(req.Context(), replyKey{}, into)), nil
}

// label is the name of a router without the digest at its end.
func label(router string) string { return router[:strings.LastIndex(router, "-")] }

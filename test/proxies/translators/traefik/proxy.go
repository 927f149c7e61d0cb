package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
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

// request is a request as a client sends it.
type request struct {
	Port int    `json:"port"`
	TLS  bool   `json:"tls"`
	Text string `json:"text"` // of HTTP/1.1, up to the empty line
}

// outcome is what becomes of a request.
type outcome struct {
	Router   string   `json:"router,omitempty"`
	Rule     string   `json:"rule,omitempty"` // in the words of the router
	Priority int      `json:"priority,omitempty"`
	Route    string   `json:"route,omitempty"` // kind/namespace/name/index, of the rule of a route
	Ties     []string `json:"ties,omitempty"`  // other rules that match and have the same number: which of them answers is chance
	Status   int      `json:"status"`
	Location string   `json:"location,omitempty"`
	Backends []string `json:"backends,omitempty"` // namespace/name of a Service, or a status; of which one is drawn
	Method   string   `json:"method,omitempty"`   // as the backend sees it, as the next ones
	Host     string   `json:"host,omitempty"`
	Path     string   `json:"path,omitempty"`
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
	label := name[:strings.LastIndex(name, "-")]
	var h http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		o := outcomeOf(req)
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
		o := outcomeOf(req)
		o.Router, o.Rule, o.Priority, o.Route = name, r.Rule, r.Priority, p.rules[label]
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
				out = append(out, fmt.Sprintf("grpc %d", one.GRPCStatus.Code))
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

// outcomeKey is where the outcome of a request is while it is being answered.
type outcomeKey struct{}

func outcomeOf(r *http.Request) *outcome {
	o, _ := r.Context().Value(outcomeKey{}).(*outcome)
	if o == nil {
		o = &outcome{}
	}
	return o
}

// ask has a request answered.
func (p *proxy) ask(r request) (*outcome, error) {
	m := p.tables[table{r.Port, r.TLS}]
	if m == nil {
		return nil, fmt.Errorf("nothing listens on port %d", r.Port)
	}
	out := &outcome{}
	whole, err := r.read(out)
	if err != nil { // the server of the standard library answers this way
		return &outcome{Status: http.StatusBadRequest}, nil
	}
	answer := httptest.NewRecorder()
	m.whole.ServeHTTP(answer, whole)
	out.Status, out.Location = answer.Code, answer.Header().Get("Location")
	if len(out.Backends) == 1 && len(out.Backends[0]) == 3 { // no Service, but a status
		fmt.Sscan(out.Backends[0], &out.Status)
		out.Backends, out.Method, out.Host, out.Path = nil, "", "", ""
	}
	if out.Router == "" {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.routers)) {
		if name == out.Router || p.conf.Routers[name].Priority != out.Priority {
			continue
		}
		again, err := r.read(&outcome{})
		if err != nil {
			return nil, err
		}
		matched := httptest.NewRecorder()
		m.routers[name].ServeHTTP(matched, again)
		if matched.Code == http.StatusOK {
			out.Ties = append(out.Ties, p.rules[name[:strings.LastIndex(name, "-")]])
		}
	}
	slices.Sort(out.Ties)
	out.Ties = slices.Compact(out.Ties)
	return out, nil
}

// read reads the request as the server of the standard library does.
func (r request) read(into *outcome) (*http.Request, error) {
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(r.Text + "\r\n\r\n")))
	if err != nil {
		return nil, err
	}
	if req.Host == "" {
		return nil, fmt.Errorf("no host")
	}
	req.RemoteAddr = net.JoinHostPort("192.0.2.1", "1024")
	if r.TLS {
		req.TLS = &tls.ConnectionState{}
	}
	return req.WithContext(context.WithValue(req.Context(), outcomeKey{}, into)), nil
}

package ingresstest

import (
	"slices"
	"strconv"
	"strings"

	networking "k8s.io/api/networking/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// anyHost is the name of the server of all hosts that no other has (N8).
const anyHost = "_"

// server is what the proxy does for one host.
type server struct {
	host                string
	aliases             []string
	hasCertificate      bool // N22
	fromToWWW           bool
	certificates        *clientCertificates
	certificatesMissing bool // N4
	locations           []*location
	regex               bool // N16
}

// location is a block of a server.
type location struct {
	path    string
	exact   bool
	implied bool // of N10, and nobody has taken it over
	*settings
	namespace string
	upstream  *upstream
}

// upstream is a Service and its port as an Ingress writes them.
type upstream struct {
	ref      model.Ref
	port     int32
	isReady  bool
	isCanary bool // NoServer: no path leads here
	split    split
	canaries []*upstream // N25
}

// object is an Ingress with what its annotations ask for.
type object struct {
	*networking.Ingress
	*settings
}

// proxy is the whole configuration.
type proxy struct {
	c         *cluster
	objects   []object // in their order (N2), without those that are dropped (N3)
	upstreams map[string]*upstream
	servers   []*server // by name
	redirects []wwwRedirect
	nothing   *upstream // of the default backend, which answers 404
}

// wwwRedirect is a server of its own that leads to another one (N21).
type wwwRedirect struct{ from, to string }

// newProxy builds the configuration, step by step as the controller does.
func newProxy(c *cluster) *proxy {
	p := &proxy{c: c, upstreams: map[string]*upstream{}, nothing: &upstream{isReady: true}}
	for _, ing := range c.listIngresses() {
		if s := c.readSettings(ing); !s.dropped {
			p.objects = append(p.objects, object{ing, s})
		}
	}
	p.addUpstreams()
	p.addServers()
	p.addNames()
	p.addLocations()
	p.mergeCanaries()
	p.useDefaultBackends()
	for _, s := range p.servers {
		s.orderLocations()
	}
	p.addRedirects()
	return p
}

func (p *proxy) find(host string) *server {
	for _, s := range p.servers {
		if s.host == host {
			return s
		}
	}
	return nil
}

func findHost(rule *networking.IngressRule) string {
	if rule.Host == "" {
		return anyHost
	}
	return rule.Host
}

func upstreamName(namespace string, b *networking.IngressServiceBackend) string {
	return namespace + "/" + b.Name + "/" + portText(b)
}

// portText is a port as it is written: a name or a number.
func portText(b *networking.IngressServiceBackend) string {
	if b.Port.Name != "" {
		return b.Port.Name
	}
	return strconv.Itoa(int(b.Port.Number))
}

// addUpstreams makes one of each Service and port that an Ingress names.
func (p *proxy) addUpstreams() {
	add := func(o object, b *networking.IngressServiceBackend) {
		name := upstreamName(o.Namespace, b)
		if p.upstreams[name] == nil {
			p.upstreams[name] = p.newUpstream(o, b)
		}
	}
	for _, o := range p.objects {
		if b := o.Spec.DefaultBackend; b != nil && b.Service != nil {
			add(o, b.Service)
		}
		for _, path := range o.listPaths() {
			if path.Backend.Service != nil {
				add(o, path.Backend.Service)
			}
		}
	}
}

func (o *object) listPaths() []networking.HTTPIngressPath {
	var out []networking.HTTPIngressPath
	for _, rule := range o.Spec.Rules {
		out = append(out, listPaths(&rule)...)
	}
	return out
}

func listPaths(rule *networking.IngressRule) []networking.HTTPIngressPath {
	if rule.HTTP == nil {
		return nil
	}
	return rule.HTTP.Paths
}

// newUpstream finds the port of a Service by its number, its name or its target (N37).
func (p *proxy) newUpstream(o object, b *networking.IngressServiceBackend) *upstream {
	u := &upstream{ref: model.Ref{Kind: "Service", Namespace: o.Namespace, Name: b.Name}, isCanary: o.isCanary,
		split: o.canary}
	service := p.c.findService(o.Namespace, b.Name)
	if service == nil {
		return u
	}
	for _, port := range service.Spec.Ports {
		names := []string{strconv.Itoa(int(port.Port)), port.TargetPort.String(), port.Name}
		if slices.Contains(names, portText(b)) {
			u.port, u.isReady = port.Port, p.c.hasEndpoints(service)
			return u
		}
	}
	return u
}

// addServers makes the servers with their location `/` (N8, N10, N11).
func (p *proxy) addServers() {
	rest := &location{path: "/", implied: true, upstream: p.nothing, settings: &settings{
		bodyLimit: readSize(p.c.value("proxy-body-size", "1m"))}}
	p.servers = []*server{{host: anyHost, hasCertificate: false, locations: []*location{rest}}}
	for _, o := range p.objects {
		if o.isCanary {
			continue
		}
		backend := p.nothing
		if b := o.Spec.DefaultBackend; b != nil && b.Service != nil {
			backend = p.upstreams[upstreamName(o.Namespace, b.Service)]
			if rest.implied && len(o.Spec.Rules) == 0 {
				rest.takeOver(o, backend)
				rest.settings = leaveOutRedirects(o.settings)
			}
		}
		for _, rule := range o.Spec.Rules {
			if p.find(findHost(&rule)) == nil {
				root := &location{path: "/", implied: true, upstream: backend, settings: o.settings, namespace: o.Namespace}
				p.servers = append(p.servers, &server{host: rule.Host, locations: []*location{root}})
			}
		}
	}
	slices.SortFunc(p.servers, func(a, b *server) int { return strings.Compare(a.host, b.host) })
}

func (l *location) takeOver(o object, u *upstream) {
	l.implied, l.settings, l.upstream, l.namespace = false, o.settings, u, o.Namespace
}

// leaveOutRedirects leaves out what does not count where an Ingress serves all other hosts (N11).
func leaveOutRedirects(s *settings) *settings {
	out := *s
	out.target, out.useRegex, out.sslRedirect, out.forceSSL, out.keepsSlash = "", false, false, false, false
	out.appRoot, out.redirect, out.fromToWWW, out.relative = "", "", false, false
	return &out
}

// addNames gives servers their aliases and certificates (N9, N12, N22).
func (p *proxy) addNames() {
	for _, o := range p.objects {
		for _, rule := range o.Spec.Rules {
			if o.isCanary {
				break
			}
			s := p.find(findHost(&rule))
			if len(s.aliases) == 0 {
				s.aliases = o.aliases
			}
			s.hasCertificate = s.hasCertificate || len(o.Spec.TLS) > 0 && s.host != anyHost
		}
	}
	for _, s := range p.servers {
		s.aliases = slices.DeleteFunc(slices.Clone(s.aliases), func(alias string) bool { return p.find(alias) != nil })
	}
}

// addLocations adds the paths of all Ingresses (N10, N13); a canary's lead nowhere (N25).
func (p *proxy) addLocations() {
	for _, o := range p.objects {
		for _, rule := range o.Spec.Rules {
			if o.isCanary || rule.HTTP == nil && rule.Host != "" {
				continue
			}
			s := p.find(findHost(&rule))
			s.certificatesMissing = s.certificatesMissing || o.certificatesMissing
			if s.certificates == nil {
				s.certificates = o.certificates
			}
			for _, path := range listPaths(&rule) {
				if b := path.Backend.Service; b != nil {
					s.addLocation(o, &path, p.upstreams[upstreamName(o.Namespace, b)])
				}
			}
		}
	}
}

// addLocation looks at the first location of the path only: if it has another type, one is added
// whatever follows (N7).
func (s *server) addLocation(o object, path *networking.HTTPIngressPath, u *upstream) {
	if u.isCanary {
		return
	}
	text, exact := findPath(path), isExact(path)
	at := slices.IndexFunc(s.locations, func(l *location) bool { return l.path == text })
	switch {
	case at >= 0 && s.locations[at].exact == exact && !s.locations[at].implied:
		return
	case at >= 0 && s.locations[at].exact == exact:
		s.locations[at].takeOver(o, u)
	default:
		s.locations = append(s.locations, &location{path: text, exact: exact, settings: o.settings, upstream: u,
			namespace: o.Namespace})
	}
	s.fromToWWW = s.fromToWWW || o.fromToWWW
}

func findPath(path *networking.HTTPIngressPath) string {
	if path.Path == "" {
		return "/"
	}
	return path.Path
}

func isExact(path *networking.HTTPIngressPath) bool {
	return path.PathType != nil && *path.PathType == networking.PathTypeExact
}

// useDefaultBackends puts the Service of the annotation where there are no endpoints (N37).
func (p *proxy) useDefaultBackends() {
	for _, s := range p.servers {
		for _, l := range s.locations {
			if l.defaultBackend == "" || l.upstream.isReady {
				continue
			}
			service := p.c.findService(l.namespace, l.defaultBackend)
			if service == nil || len(service.Spec.Ports) == 0 || !p.c.hasEndpoints(service) {
				continue
			}
			l.upstream = &upstream{ref: model.Ref{Kind: "Service", Namespace: l.namespace, Name: l.defaultBackend},
				port: service.Spec.Ports[0].Port, isReady: true, canaries: l.upstream.canaries}
		}
	}
}

// addRedirects makes servers of the other names (N21).
func (p *proxy) addRedirects() {
	for _, s := range p.servers {
		if !s.fromToWWW {
			continue
		}
		from, had := strings.CutPrefix(s.host, "www.")
		if !had {
			from = "www." + s.host
		}
		if p.find(from) == nil {
			p.redirects = append(p.redirects, wwwRedirect{from, s.host})
		}
	}
}

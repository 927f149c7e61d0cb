package ingressnginx

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// proxy is the proxy as the controller configures it.
type proxy struct {
	control   *controller
	entries   []*entry // in the order in which they count
	upstreams map[string]*upstream
	copies    map[string]*upstream // that default-backend makes of others, by their names
	fallback  *upstream
	servers   map[string]*server
	ordered   []*server // by their names
	names     names
	refused   string // what nginx says; "": it takes the configuration
	refusedBy *entry
	global    *externalAuth
}

// server is a host with its locations.
type server struct {
	host        string // defaultHost: all that have no other
	locations   []*location
	byPath      map[string]*location // the first of each path, as the Ingresses have it
	aliases     []string
	certificate certificate
	tls         bool // an Ingress of the host has an entry for certificates
	clientAuth  clientAuth
	authError   clientAuth // that makes the host answer 403
	authUnknown string     // why it is not known whether it does
	snippet     *entry     // whose server-snippet is in force
	passthrough *entry
	toWWW       *entry
	regex       bool // its paths are expressions
	regexBy     *location
	exact       map[string]*location
	prefixes    map[string]*location
	sensitive   []orderNote

	samePath map[string][]*location // by path, before they are sorted
	mains    map[*upstream]int      // where the first location of a group is
}

// orderNote says that an Ingress counts before another only because of their names.
type orderNote struct {
	first, second *entry
	what          string
	at            *location
	root          bool // it is the location / that nobody has
}

// isUndecided reports whether nothing but names decides.
func (n *orderNote) isUndecided() bool {
	return n.first != nil && n.first != n.second && n.first.object.Created.Equal(n.second.object.Created)
}

// isInForce reports whether the location has what was decided: a path may have taken it over.
func (n *orderNote) isInForce() bool { return n.at.owner == n.first && n.at.claimed != n.root }

// certificate says whether a host has a certificate.
type certificate struct {
	set   bool
	known bool // that it covers other names is not asked about; false: the Secret has one, which may
	from  *entry
}

// makeServers makes a server of each host, with a location / (N8, N10).
func (p *proxy) makeServers() {
	bare := p.control.bareSettings()
	p.servers = map[string]*server{defaultHost: newServer(defaultHost,
		&location{path: "/", isDefault: true, upstream: p.fallback, settings: &bare})}
	p.servers[defaultHost].certificate = certificate{set: true, known: true}
	for _, e := range p.entries {
		if e.settings.canary.enabled {
			continue
		}
		rest := p.fallback
		if e.fallback != nil {
			rest = p.upstreams[e.fallback.key()]
			p.claimRest(e, rest)
		}
		for _, rule := range e.rules {
			if s := p.servers[rule.host]; s != nil {
				s.noteRoot(e)
				continue
			}
			p.servers[rule.host] = newServer(rule.host, &location{path: "/", isDefault: true, upstream: rest, owner: e,
				settings: &e.settings, origin: e.object.Origin})
			e.used = true
		}
	}
	for _, e := range p.entries {
		if !e.settings.canary.enabled {
			p.setServers(e)
		}
	}
	p.chooseAliases()
}

func newServer(host string, root *location) *server {
	return &server{host: host, locations: []*location{root}, byPath: map[string]*location{"/": root}}
}

// noteRoot notes that another Ingress might have made the location / of the host, were it older.
func (s *server) noteRoot(e *entry) {
	root := s.locations[0]
	n := orderNote{root.owner, e, "what no path of the host " + s.host + " takes", root, true}
	if n.isUndecided() && (!maps.Equal(root.owner.object.Annotations, e.object.Annotations) ||
		root.owner.fallback != nil || e.fallback != nil) {
		s.sensitive = append(s.sensitive, n)
	}
}

// claimRest makes an Ingress without rules the one of requests to hosts that nobody names (N11).
func (p *proxy) claimRest(e *entry, rest *upstream) {
	root := p.servers[defaultHost].locations[0]
	if !root.isDefault || len(e.rules) > 0 {
		return
	}
	own := e.settings
	own.redirect, own.rewrite = redirect{}, rewrite{}
	root.isDefault, root.upstream, root.owner, root.settings = false, rest, e, &own
	root.origin = e.object.OriginOf("spec", "defaultBackend")
	e.used = true
}

// setServers takes over what an Ingress says of the servers of its hosts. The first counts (N12).
func (p *proxy) setServers(e *entry) {
	for _, rule := range e.rules {
		s := p.servers[rule.host]
		if len(s.aliases) == 0 {
			s.aliases = e.settings.aliases
		}
		if s.snippet == nil && e.settings.serverSnippet {
			s.snippet = e
		}
		if s.passthrough == nil && e.settings.passthrough {
			s.passthrough = e
		}
		s.tls = s.tls || e.tls
		if !s.certificate.set && e.tls {
			s.certificate = p.findCertificate(e, rule.host)
		}
	}
}

// findCertificate returns what is known of the certificate of a host. Any entry for certificates gives it one:
// at least that which comes with the controller (N22).
func (p *proxy) findCertificate(e *entry, host string) certificate {
	c := certificate{set: true, known: true, from: e}
	name := e.findSecret(host)
	if name == "" {
		for _, s := range e.secrets {
			if s.secret != "" {
				name = s.secret
			}
		}
	}
	if name == "" {
		return c
	}
	ref := secretRef(e.object.Ref.Namespace, name)
	if o := p.control.in.Get(ref); o != nil {
		keys := secretKeys{o.Body.At("data")}
		c.known = !keys.isPEM("tls.crt")
		return c
	}
	c.known = p.control.in.FindExistence(ref).IsAbsent()
	return c
}

// chooseAliases leaves out the aliases that are hosts themselves (N9).
func (p *proxy) chooseAliases() {
	for _, s := range p.servers {
		s.aliases = slices.DeleteFunc(slices.Clone(s.aliases), func(a string) bool {
			_, isHost := p.servers[a]
			return isHost
		})
	}
}

// fillServers gives the servers the paths of all Ingresses, those of canaries included where their backend is
// not one of a canary.
func (p *proxy) fillServers() {
	for _, e := range p.entries {
		for _, rule := range e.rules {
			s := p.servers[rule.host]
			if s == nil {
				s = p.servers[defaultHost]
			}
			if !rule.http && rule.host != defaultHost {
				continue
			}
			s.setClientAuth(e)
			for _, path := range rule.paths {
				if path.service == nil {
					continue
				}
				u := p.upstreams[path.service.key()]
				if u.noServer {
					continue
				}
				s.addPath(e, path, u)
				u.setAffinity(e, rule.host, s.aliases, path.path)
			}
		}
	}
	for _, s := range p.servers {
		if s.isDenied() { // nginx then asks nobody for a certificate
			s.clientAuth.hasCA, s.clientAuth.unknown = false, ""
		}
	}
}

// isDenied reports whether the host answers 403 alone: nginx has no locations for it.
func (s *server) isDenied() bool { return s.authError.err != "" }

// setClientAuth takes over what an Ingress says of certificates of clients. The first with authorities counts.
func (s *server) setClientAuth(e *entry) {
	a := e.settings.clientAuth
	if s.authError.err == "" && a.err != "" {
		s.authError = a
	}
	s.authUnknown = cmp.Or(s.authUnknown, a.unknown)
	if !s.clientAuth.hasCA && s.clientAuth.unknown == "" {
		s.clientAuth = a
	}
}

// addPath adds a path. The first Ingress with a path and its type has it (N13).
func (s *server) addPath(e *entry, path pathRule, u *upstream) {
	l := s.byPath[path.path]
	switch {
	case l == nil || l.exact != path.exact:
		l = &location{path: path.path, exact: path.exact}
		s.locations = append(s.locations, l)
		if s.byPath[path.path] == nil {
			s.byPath[path.path] = l
		}
	case !l.isDefault:
		n := orderNote{l.owner, e, "the path " + path.path + " of the host " + s.host, l, false}
		if n.isUndecided() && (l.upstream != u || !maps.Equal(l.owner.object.Annotations, e.object.Annotations)) {
			s.sensitive = append(s.sensitive, n)
		}
		return
	}
	l.isDefault, l.upstream, l.owner, l.settings, l.origin = false, u, e, &e.settings, path.origin
	l.written, l.claimed = path.written, true
	e.used = true
	if e.settings.redirect.fromToWWW && s.toWWW == nil {
		s.toWWW = e
	}
}

// orderServers sorts the servers, and their locations by the length of their paths.
func (p *proxy) orderServers() {
	for _, s := range p.servers {
		slices.SortStableFunc(s.locations, func(a, b *location) int {
			return cmp.Or(cmp.Compare(len(b.path), len(a.path)), strings.Compare(b.path, a.path))
		})
		p.ordered = append(p.ordered, s)
	}
	slices.SortFunc(p.ordered, func(a, b *server) int { return strings.Compare(a.host, b.host) })
}

package ingressnginx

import "slices"

// upstream is a group of endpoints: a port of a Service, or what answers where nothing else does.
type upstream struct {
	name         string
	endpoints    endpointGroup
	builtin      bool   // the controller itself answers, with 404
	noServer     bool   // only canaries of others lead to it
	canary       canary // which requests it gets, if it is one
	from         *entry // the canary
	alternatives []*upstream
	affinity     affinity
	cookiePaths  map[string][]string // the paths that set the cookie, by host
	splitAt      map[*server]map[string]bool
}

// makeUpstreams makes the groups of endpoints that the Ingresses name.
func (p *proxy) makeUpstreams() {
	p.fallback = p.makeDefaultUpstream()
	p.upstreams = map[string]*upstream{p.fallback.name: p.fallback}
	for _, e := range p.entries {
		if e.fallback != nil {
			p.upstreams[e.fallback.key()] = p.newUpstream(e, e.fallback)
		}
		for _, rule := range e.rules {
			for _, path := range rule.paths {
				if path.service == nil || p.upstreams[path.service.key()] != nil {
					continue
				}
				p.upstreams[path.service.key()] = p.newUpstream(e, path.service)
			}
		}
	}
}

func (p *proxy) newUpstream(e *entry, s *serviceRef) *upstream {
	u := &upstream{name: s.key(), endpoints: p.control.findEndpoints(s), cookiePaths: map[string][]string{}}
	if e.settings.canary.enabled {
		u.noServer, u.canary, u.from = true, e.settings.canary, e
	}
	return u
}

// makeDefaultUpstream makes what answers where nothing else does (N11).
func (p *proxy) makeDefaultUpstream() *upstream {
	u := &upstream{name: "upstream-default-backend", builtin: true}
	namespace, name, ok := splitName(p.control.flag("default-backend-service", ""), p.control.namespace)
	if !ok || name == "" {
		return u
	}
	if g := p.control.findFirstPort(&serviceRef{namespace: namespace, name: name}); g.ready {
		u.endpoints, u.builtin = g, false
	}
	return u
}

// setAffinity takes over what an Ingress says of affinity to a group of endpoints.
func (u *upstream) setAffinity(e *entry, host string, aliases []string, path string) {
	a := e.settings.affinity
	if !a.cookie {
		return
	}
	u.affinity = a
	for _, name := range append([]string{host}, aliases...) {
		u.cookiePaths[name] = append(u.cookiePaths[name], path)
	}
}

// isServed reports whether requests may be sent to the group.
func (u *upstream) isServed() bool { return u.builtin || u.endpoints.ready }

// mergeCanaries attaches the backends of canaries to those of the paths that they repeat (N25).
func (p *proxy) mergeCanaries() {
	main := 0
	for _, e := range p.entries {
		if !e.settings.canary.enabled {
			main++
		}
	}
	if main == 0 {
		return
	}
	for _, e := range p.entries {
		if e.settings.canary.enabled {
			p.mergeCanary(e)
		}
	}
}

func (p *proxy) mergeCanary(e *entry) {
	if e.fallback != nil {
		p.attachCanary(e, e.fallback, p.servers[defaultHost], func(*location) bool { return true })
	}
	for _, rule := range e.rules {
		s := p.servers[rule.host]
		if s == nil {
			continue
		}
		for _, path := range rule.paths {
			if path.service != nil {
				p.attachCanary(e, path.service, s,
					func(l *location) bool { return l.path == path.path && l.exact == path.exact })
			}
		}
	}
}

// attachCanary attaches the backend of a canary to those of the locations that are chosen.
func (p *proxy) attachCanary(e *entry, service *serviceRef, s *server, chosen func(*location) bool) {
	other := p.upstreams[service.key()]
	if other == nil {
		return
	}
	for _, l := range p.findCanaryLocations(s, other) {
		main := l.upstream
		if main == other {
			return
		}
		if main == p.fallback || main.noServer || !chosen(l) {
			continue
		}
		main.attach(other, e)
		main.noteSplit(s, l.path)
		e.used = true
	}
}

// findCanaryLocations returns the locations of a server that a canary is compared with, up to the one that has
// its own backend.
func (p *proxy) findCanaryLocations(s *server, other *upstream) []*location {
	for i, l := range s.locations {
		if l.upstream == other {
			return s.locations[:i]
		}
	}
	return s.locations
}

// attach adds a canary to those of a group, unless it is one of them.
func (u *upstream) attach(other *upstream, e *entry) {
	if slices.Contains(u.alternatives, other) {
		return
	}
	if !e.settings.affinity.legacy {
		other.affinity, other.cookiePaths = u.affinity, u.cookiePaths
	}
	u.alternatives = append(u.alternatives, other)
}

// noteSplit notes a path for which a canary was written.
func (u *upstream) noteSplit(s *server, path string) {
	if u.splitAt == nil {
		u.splitAt = map[*server]map[string]bool{}
	}
	if u.splitAt[s] == nil {
		u.splitAt[s] = map[string]bool{}
	}
	u.splitAt[s][path] = true
}

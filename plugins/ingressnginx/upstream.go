package ingressnginx

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// upstream is a group of endpoints: a port of a Service, or what answers where nothing else does.
type upstream struct {
	name         string
	endpoints    endpointGroup
	builtin      bool   // the controller itself answers, with 404
	noServer     bool   // only canaries of others lead to it
	removed      bool   // it is no canary any more
	mixed        bool   // of several that have its name, with other canaries, one is in force
	canary       canary // which requests it gets, if it is one
	from         *entry // the canary
	alternatives []*upstream
	affinity     affinity
	affinityFrom model.Ref           // the Ingress that asks for it
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
	namespace, name, ok := splitName(p.control.readFlag("default-backend-service", ""), p.control.namespace)
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
	u.affinity, u.affinityFrom = a, e.object.Ref
	for _, name := range append([]string{host}, aliases...) {
		u.cookiePaths[name] = append(u.cookiePaths[name], path)
	}
}

// isServed reports whether requests may be sent to the group.
func (u *upstream) isServed() bool { return u.builtin || u.endpoints.ready && !u.removed }

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
		s := p.servers[defaultHost]
		p.attachCanary(e, e.fallback, s, s.locations)
	}
	for _, rule := range e.rules {
		s := p.servers[rule.host]
		if s == nil {
			continue
		}
		for _, path := range rule.paths {
			if path.service != nil {
				p.attachCanary(e, path.service, s, s.findSame(path))
			}
		}
	}
}

// findSame returns the locations with the path and the type of a path, in their order.
func (s *server) findSame(path pathRule) []*location {
	if s.samePath == nil {
		s.samePath = map[string][]*location{}
		for _, l := range s.locations {
			s.samePath[l.path] = append(s.samePath[l.path], l)
		}
	}
	var out []*location
	for _, l := range s.samePath[path.path] {
		if l.exact == path.exact {
			out = append(out, l)
		}
	}
	return out
}

// findMain returns the position of the first location of a server that a group has for itself; that of no
// location if there is none.
func (s *server) findMain(u *upstream) int {
	if s.mains == nil {
		s.mains = map[*upstream]int{}
		for i, l := range slices.Backward(s.locations) {
			s.mains[l.upstream] = i
			l.position = i
		}
	}
	if at, is := s.mains[u]; is {
		return at
	}
	return len(s.locations)
}

// attachCanary attaches the backend of a canary to those of some locations, up to the one of the host that has
// it for itself. If there is none of either, the backend is taken away: from then on it is no canary anywhere.
func (p *proxy) attachCanary(e *entry, service *serviceRef, s *server, to []*location) {
	other := p.upstreams[service.key()]
	if other == nil {
		return
	}
	end, attached := s.findMain(other), false
	for _, l := range to {
		if main := l.upstream; l.position < end && main != p.fallback && !main.noServer {
			main.attachCanary(other, e)
			main.noteSplit(s, l.path)
			e.used, attached = true, true
		}
	}
	if !attached && end == len(s.locations) {
		other.removed = true
		delete(p.upstreams, other.name)
	}
}

// attachCanary adds a canary to those of a group, unless it is one of them.
func (u *upstream) attachCanary(other *upstream, e *entry) {
	if slices.Contains(u.alternatives, other) {
		return
	}
	if !e.settings.affinity.legacy {
		other.affinity, other.affinityFrom, other.cookiePaths = u.affinity, u.affinityFrom, u.cookiePaths
	}
	if other.from == nil { // the backend of a path elsewhere: it asks for nothing
		other.from = e
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

// splitShares returns the parts of the requests that the groups get where nothing but weights decides. Only the first
// canary counts.
func (u *upstream) splitShares() []share {
	if len(u.alternatives) == 0 || !u.alternatives[0].isServed() {
		return []share{{u, 1}}
	}
	other := u.alternatives[0]
	total := max(other.canary.total, 100)
	weight := min(max(other.canary.weight, 0), total)
	return []share{{u, total - weight}, {other, weight}}
}

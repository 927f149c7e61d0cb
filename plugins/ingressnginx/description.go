package ingressnginx

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// describeProxy makes what others ask of the proxy.
func (p *proxy) describeProxy(dropped []*entry) *ingress.Proxy {
	out := &ingress.Proxy{Class: p.control.readFlag("ingress-class", "nginx"), Refused: p.refused != "",
		Problems: p.findProblems(dropped), Answer: p.answerRequest, Tests: p.findTests}
	hosts := map[string]bool{}
	for _, s := range p.ordered {
		hosts[publicHost(s.host)] = true
		for _, a := range s.aliases {
			if a[0] != '~' {
				hosts[a] = true
			}
		}
		for _, l := range s.locations {
			l.inForce = append(p.listSettings(s, l), l.settings.proxy...)
			if !l.split {
				out.Locations = append(out.Locations, p.describeLocation(s, l))
			}
		}
	}
	for name, t := range p.names.exact {
		if t.redirectTo != "" {
			hosts[name] = true
		}
	}
	for host := range hosts {
		out.Hosts = append(out.Hosts, host)
	}
	slices.Sort(out.Hosts)
	for _, e := range append(slices.Clone(p.entries), dropped...) {
		if !e.used {
			out.Unused = append(out.Unused, e.object.Ref)
		}
	}
	slices.SortFunc(out.Unused, model.Ref.Compare)
	return out
}

// publicHost is the name of a host for others.
func publicHost(host string) string {
	if host == defaultHost {
		return ""
	}
	return host
}

// describeLocation makes what others ask of a location.
func (p *proxy) describeLocation(s *server, l *location) ingress.Location {
	out := ingress.Location{Host: publicHost(s.host), Path: l.ingressPath(), Match: s.describeMatch(l), Origin: l.origin,
		Implied: !l.claimed, NeedsAuth: p.listCredentials(l), Barriers: p.findBarriers(s, l),
		Settings:  l.inForce,
		AnyOf:     l.settings.satisfyAny && len(p.listCredentials(l)) > 0 && len(l.settings.allow)+len(l.settings.deny) > 0,
		Redirects: l.settings.redirect.url != "", Unknown: l.unknownReason()}
	if l.owner != nil {
		out.Ingress = l.owner.object.Ref
	}
	if why := p.unknownOfServer(s); why != "" {
		out.Unknown = why
	}
	if l.expression.unknown != "" {
		out.Unknown = l.expression.unknown
	}
	for _, part := range l.backend().splitShares() {
		if g := part.upstream.endpoints; !part.upstream.builtin {
			out.Backends = append(out.Backends, ingress.Backend{Ref: g.ref, Port: g.port, Weight: part.weight})
		}
	}
	return out
}

// unknownOfServer says why it is not known what becomes of requests to a host, "" if it is.
func (p *proxy) unknownOfServer(s *server) string {
	switch o := p.control.findClassless(s.host); {
	case o != nil && p.control.isWrittenFor(o):
		return "Ingress " + o.Ref.FullName() + " has no class: it is not known whether the controller reads it"
	case s.snippet != nil:
		return s.snippet.reader.formatName("server-snippet") + " may do anything on the host"
	case s.passthrough != nil && (p.control.workload == nil || p.control.isFlag("enable-ssl-passthrough", false)):
		return s.passthrough.reader.formatName("ssl-passthrough") + " may hand connections with TLS on as they are"
	}
	return s.clientAuth.unknown
}

// describeMatch says how a location is compared.
func (s *server) describeMatch(l *location) ingress.Match {
	switch {
	case s.regex:
		return ingress.Match{Form: ingress.Expression, Value: l.expression.text}
	case l.exact:
		return ingress.Match{Form: ingress.Exact, Value: l.path}
	}
	return ingress.Match{Form: ingress.Prefix, Value: l.ingressPath()}
}

// findBarriers lists what may refuse the requests of a location, in the order in which it is asked.
func (p *proxy) findBarriers(s *server, l *location) []ingress.Barrier {
	var out []ingress.Barrier
	add := func(is bool, b ingress.Barrier) {
		if is && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	c := p.control.config
	add(s.clientAuth.isAsked() || s.clientAuth.matchCN != "", ingress.ClientCertificate)
	add(len(c.readList("block-user-agents"))+len(c.readList("block-referers")) > 0, ingress.Blocked)
	if s.isDenied() {
		add(true, ingress.Configuration)
		return out
	}
	add(l.bodyLimit() > 0, ingress.BodySize)
	if l.denialReason() != "" {
		add(true, ingress.Configuration)
		return out
	}
	add(len(l.settings.deny) > 0, ingress.DenyList)
	add(len(l.settings.allow) > 0, ingress.AllowList)
	add(len(l.settings.deny)+len(l.settings.allow) == 0 && len(c.readRanges("block-cidrs")) > 0, ingress.Blocked)
	for _, list := range p.listCredentials(l) {
		for _, b := range list {
			add(true, b)
		}
	}
	return out
}

// findTests lists what tells requests to a host apart, but for the paths that the proxy has for itself: its health
// checks and its status.
func (p *proxy) findTests(host string) ingress.Tests {
	t, found, _ := p.names.findHost(host)
	if !found || host == "" {
		t = target{server: p.servers[defaultHost]}
		if s := p.servers[host]; s != nil {
			t.server = s
		}
	}
	b := &testBuilder{proxy: p, server: t.server}
	b.tests.TLS = p.hasTLS(t.server, host)
	b.addServer()
	for _, l := range t.server.locations {
		b.addPath(l)
		b.addLocation(l)
	}
	return b.tests
}

// hasTLS reports whether an Ingress configures TLS for a host of a server: with an entry for certificates of its
// own or of the wildcard above it, or as connections are handed on.
func (p *proxy) hasTLS(s *server, host string) bool {
	has, _, _ := p.hasCertificate(host)
	return has || s.tls || s.passthrough != nil
}

// testBuilder gathers the tests of a host, each once.
type testBuilder struct {
	*proxy
	server *server
	tests  ingress.Tests
	seen   map[request.Test]bool
}

func (b *testBuilder) isNew(t request.Test) bool {
	if b.seen == nil {
		b.seen = map[request.Test]bool{}
	}
	if b.seen[t] {
		return false
	}
	b.seen[t] = true
	return true
}

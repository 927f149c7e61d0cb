package ingresstest

import (
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// mergeCanaries attaches the backends of canaries to those of main Ingresses (N25). A path of which
// nothing comes takes its backend out of use, for all canaries.
func (p *proxy) mergeCanaries() {
	for _, o := range p.objects {
		for _, rule := range o.Spec.Rules {
			s := p.find(findHost(&rule))
			if !o.isCanary || s == nil {
				continue
			}
			for _, path := range listPaths(&rule) {
				if path.Backend.Service == nil {
					continue
				}
				name := upstreamName(o.Namespace, path.Backend.Service)
				canary := p.upstreams[name]
				if canary != nil && !s.attach(canary, path.Path, isExact(&path)) {
					delete(p.upstreams, name)
				}
			}
		}
	}
}

// attach attaches a canary to the backend of a path. false: nobody has the path.
func (s *server) attach(canary *upstream, path string, exact bool) bool {
	found := false
	for _, l := range s.locations {
		if l.path != path || l.exact != exact || l.upstream.ref.Name == "" {
			continue
		}
		found = true
		l.upstream.canaries = append(l.upstream.canaries, canary)
	}
	return found
}

// findBackends lists the backends that may get a request, with their shares (N26).
func (p *proxy) findBackends(u *upstream, r *request.Request) []ingress.Backend {
	weight, total := 0, 100
	var canary *upstream
	if len(u.canaries) > 0 && p.isInUse(u.canaries[0]) {
		canary = u.canaries[0]
		weight, total = canary.split.findShare(r)
	}
	var out []ingress.Backend
	if weight < total {
		out = append(out, ingress.Backend{Ref: u.ref, Port: u.port, Weight: total - weight})
	}
	if weight > 0 {
		out = append(out, ingress.Backend{Ref: canary.ref, Port: canary.port, Weight: weight})
	}
	return out
}

// isInUse reports whether the proxy knows a canary and has somewhere to send its requests.
func (p *proxy) isInUse(canary *upstream) bool {
	for _, u := range p.upstreams {
		if u == canary {
			return u.isReady
		}
	}
	return false
}

// findShare is the share of a canary: header, then cookie, then weight.
func (s *split) findShare(r *request.Request) (weight, total int) {
	if v, has := findHeader(r, s.header); has && s.header != "" {
		switch {
		case s.value != "":
			if v == s.value {
				return 1, 1
			}
		case s.pattern != "":
			form, err := regexp.Compile(s.pattern)
			if err != nil {
				return 0, 1
			}
			if form.MatchString(v) {
				return 1, 1
			}
		case v == "always":
			return 1, 1
		case v == "never":
			return 0, 1
		}
	}
	switch findCookie(r, s.cookie) {
	case "always":
		return 1, 1
	case "never":
		return 0, 1
	}
	total = max(s.total, 100)
	return min(max(s.weight, 0), total), total
}

func findHeader(r *request.Request, name string) (value string, has bool) {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}

func findCookie(r *request.Request, name string) string {
	all, _ := findHeader(r, "Cookie")
	for one := range strings.SplitSeq(all, ";") {
		if n, v, _ := strings.Cut(strings.TrimSpace(one), "="); n == name && name != "" {
			return v
		}
	}
	return ""
}

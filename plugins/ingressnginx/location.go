package ingressnginx

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// location is a path of a server.
type location struct {
	path     string // as nginx has it
	written  string // as the Ingress has it
	exact    bool
	split    bool // it is the second one of a path: that without what is below
	claimed  bool // an Ingress has the path
	owner    *entry
	settings *settings
	upstream *upstream
	origin   model.Origin
	server   *server
	position int // among those of the server, before they are sorted
	// isDefault is set until an Ingress takes the path over.
	isDefault bool

	sorry      *upstream // answers instead of a backend without endpoints, and errors; nil: what answers the rest
	expression expression
	external   *externalAuth // in force; nil: nobody is asked

	inForce []ingress.Setting // with who sets them
}

// needsRewrite reports whether the path of requests is replaced.
func (l *location) needsRewrite() bool {
	return l.settings.rewrite.target != "" && l.settings.rewrite.target != l.path
}

// isRegex reports whether the location makes all paths of its host expressions (N16).
func (l *location) isRegex() bool { return l.needsRewrite() || l.settings.rewrite.useRegex }

// denialReason is why the location answers 503; "": it does not.
func (l *location) denialReason() string {
	if l.owner == nil {
		return ""
	}
	return l.owner.reader.denied
}

// expandLocations makes what nginx has of the paths: a Prefix is everything below it, and the path itself
// unless somebody has it as Exact (N14).
func (s *server) expandLocations() {
	exact := map[string]bool{}
	for _, l := range s.locations {
		if l.exact {
			exact[l.path] = true
		}
	}
	out := make([]*location, 0, len(s.locations))
	for _, l := range s.locations {
		out = append(out, l)
		if l.path == "/" || l.exact || l.isRegex() {
			continue
		}
		itself := *l
		if !strings.HasSuffix(l.path, "/") {
			l.path += "/"
		}
		if !exact[itself.path] {
			itself.exact, itself.split = true, true
			out = append(out, &itself)
		}
	}
	s.locations = out
}

// prepareLocations finds out how the locations of a server are compared, and whether nginx takes them.
func (p *proxy) prepareLocations(s *server) {
	at := slices.IndexFunc(s.locations, func(l *location) bool { return l.isRegex() })
	if s.regex = at >= 0; s.regex {
		s.regexBy = s.locations[at]
	}
	s.exact, s.prefixes = map[string]*location{}, map[string]*location{}
	asked := map[string]bool{}
	for _, l := range s.locations {
		l.server = s
		l.external = p.findExternalAuth(l)
		p.chooseSorry(l)
		if l.external != nil {
			p.addUnique(asked, l, authLocation(l))
		}
		p.checkRewrite(l)
		if s.regex {
			l.expression = compileExpression("(?i)^" + l.path)
			l.expression.prefix = literalPrefix(l.path)
			if l.expression.refused != "" {
				p.refuseLocation(l, "%s in %q", l.expression.refused, "^"+l.path)
			}
			continue
		}
		into := s.prefixes
		if l.exact {
			into = s.exact
		}
		if into[l.path] != nil {
			p.refuseLocation(l, "duplicate location %q", l.path)
			continue
		}
		into[l.path] = l
	}
}

func (p *proxy) addUnique(taken map[string]bool, l *location, name string) {
	if taken[name] {
		p.refuseLocation(l, "duplicate location %q", name)
	}
	taken[name] = true
}

// authLocation is the name of the location through which nginx asks whether a request may pass.
func authLocation(l *location) string {
	kind := "Prefix"
	if l.exact {
		kind = "Exact"
	}
	return "/_external-auth-" + base64.RawURLEncoding.EncodeToString([]byte(l.path)) + "-" + kind
}

// refuseConfiguration notes that nginx refuses the configuration. The first reason counts (N7).
func (p *proxy) refuseConfiguration(by *entry, format string, args ...any) {
	if p.refused == "" {
		p.refused, p.refusedBy = fmt.Sprintf(format, args...), by
	}
}

// refuseLocation notes that nginx refuses the configuration because of a location, unless its host has none there.
func (p *proxy) refuseLocation(l *location, format string, args ...any) {
	if !l.server.isDenied() {
		p.refuseConfiguration(l.owner, format, args...)
	}
}

// findExternalAuth returns who is asked at a location: its own service, else that of the ConfigMap (N29).
func (p *proxy) findExternalAuth(l *location) *externalAuth {
	if l.settings.external != nil {
		return l.settings.external
	}
	if l.settings.globalAuth {
		return p.global
	}
	return nil
}

// chooseSorry chooses what answers in the place of the backend of a location.
func (p *proxy) chooseSorry(l *location) {
	ref := l.settings.fallback
	if ref == nil || l.upstream == p.fallback || l.upstream.removed ||
		p.control.findService(ref.namespace, ref.name).missing ||
		l.upstream.endpoints.ready && len(l.settings.errorCodes) == 0 {
		return
	}
	g := p.control.findFirstPort(ref)
	if !g.ready {
		return
	}
	l.sorry = p.copyUpstream(l.upstream, "custom-default-backend-"+ref.namespace+"-"+ref.name, g)
}

// copyUpstream makes a group of other endpoints that has the canaries and the affinity of a group. Of several of
// one name it is not known which is in force.
func (p *proxy) copyUpstream(of *upstream, name string, endpoints endpointGroup) *upstream {
	u := *of
	u.name, u.endpoints = name, endpoints
	before := p.copies[name]
	if before == nil {
		p.copies[name] = &u
		return &u
	}
	if !slices.Equal(before.alternatives, u.alternatives) || before.affinity != u.affinity {
		before.mixed = true
	}
	return before
}

// backend is the group of endpoints that requests get: the other one where the location's own has none.
func (l *location) backend() *upstream {
	if l.sorry != nil && !l.upstream.isServed() {
		return l.sorry
	}
	return l.upstream
}

// checkRewrite notes a target that nginx refuses.
func (p *proxy) checkRewrite(l *location) {
	target := l.settings.rewrite.target
	for i := 0; i < len(target); i++ {
		if target[i] == '$' && (i+1 == len(target) || !isVariableStart(target[i+1])) {
			p.refuseLocation(l, "invalid variable name in %q", target)
		}
	}
}

func isVariableStart(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// found is the location that takes a path.
type found struct {
	location *location
	addSlash bool   // the client is sent to the path with a slash at its end (N15)
	system   string // a path that the controller itself answers
	unknown  string // why it is not known which location takes it
}

// findLocation finds the location that takes a normalised path.
func (s *server) findLocation(path string) found {
	if s.regex {
		return s.findExpression(path)
	}
	if l := s.exact[path]; l != nil {
		return found{location: l}
	}
	if l := s.findWithSlash(path + "/"); l != nil {
		return found{location: l, addSlash: true}
	}
	at := len(path)
	for at > 0 && s.prefixes[path[:at]] == nil {
		at = strings.LastIndexByte(path[:at-1], '/') + 1
	}
	if system := s.findSystem(path); len(system) > at {
		return found{system: system}
	}
	if at == 0 {
		return found{location: s.prefixes["/"]}
	}
	return found{location: s.prefixes[path[:at]]}
}

// findWithSlash returns the location of a path that ends in a slash, if it sends requests without it there: that
// of the path alone before that of all below it. They do not if all of them answer 503.
func (s *server) findWithSlash(path string) *location {
	exact, prefix := s.exact[path], s.prefixes[path]
	if exact.addsSlash() || prefix.addsSlash() {
		return cmp.Or(exact, prefix)
	}
	return nil
}

func (l *location) addsSlash() bool { return l != nil && l.denialReason() == "" }

// findExpression finds the first expression that takes a path (N16).
func (s *server) findExpression(path string) found {
	lower := strings.ToLower(path)
	for _, l := range s.locations {
		switch {
		case l.expression.regex != nil:
			if l.expression.regex.MatchString(path) {
				return found{location: l}
			}
		case strings.HasPrefix(lower, l.expression.prefix):
			return found{location: l, unknown: l.expression.unknown}
		}
	}
	if system := s.findSystem(path); system != "" {
		return found{system: system}
	}
	return found{}
}

// findSystem returns the path of the controller itself that takes a path, on the server of hosts that nobody
// names; "": none.
func (s *server) findSystem(path string) string {
	if s.host != defaultHost {
		return ""
	}
	for _, p := range []string{"/nginx_status", "/healthz"} {
		if strings.HasPrefix(path, p) {
			return p
		}
	}
	return ""
}

package ingresstest

import (
	"regexp"
	"slices"
	"strings"
)

// needsRewrite reports whether a location has a rewrite that is in force.
func (l *location) needsRewrite() bool { return l.target != "" && l.target != l.path }

// orderLocations sorts the locations of a server, splits prefixes, and says whether they are
// expressions (N14, N16).
func (s *server) orderLocations() {
	slices.SortStableFunc(s.locations, func(a, b *location) int { return strings.Compare(b.path, a.path) })
	slices.SortStableFunc(s.locations, func(a, b *location) int { return len(b.path) - len(a.path) })
	var out []*location
	for _, l := range s.locations {
		if l.path == "/" || l.exact || l.needsRewrite() || l.useRegex {
			out = append(out, l)
			continue
		}
		below, itself := *l, *l
		below.path, itself.exact = strings.TrimSuffix(l.path, "/")+"/", true
		out = append(out, &below)
		if !slices.ContainsFunc(s.locations, func(o *location) bool { return o.exact && o.path == l.path }) {
			out = append(out, &itself)
		}
	}
	s.locations = out
	s.regex = slices.ContainsFunc(out, func(l *location) bool { return l.needsRewrite() || l.useRegex })
}

// expression is what a location of a host with regular expressions is compared by.
func (l *location) expression() string { return "(?i)^" + l.path }

// isRefused reports whether the proxy refuses its configuration, all of it (N7).
func (p *proxy) isRefused() bool {
	return slices.ContainsFunc(p.servers, func(s *server) bool { return s.isRefused(p) })
}

func (s *server) isRefused(p *proxy) bool {
	if s.fromToWWW && strings.HasPrefix(s.host, "*") {
		return true
	}
	if s.certificatesMissing { // it has no locations at all
		return false
	}
	for i, l := range s.locations {
		if s.regex {
			if _, err := regexp.Compile(l.expression()); err != nil {
				return true
			}
		}
		for _, o := range s.locations[:i] {
			same := l.path == o.path && l.exact == o.exact
			if same && (!s.regex || l.isAsked(p) && o.isAsked(p)) {
				return true
			}
		}
	}
	return false
}

// isAsked reports whether a location asks a service, were it not exempt (N28, N29).
func (l *location) isAsked(p *proxy) bool {
	return l.authURL != "" || l.globalAuth && p.c.value("global-auth-url", "") != ""
}

// findServer finds the server of a host: by name, by the longest wildcard, by the first expression,
// else the one for all (N8, N9).
func (p *proxy) findServer(host string) *server {
	for _, s := range p.servers {
		if s.host == host || slices.Contains(s.aliases, host) {
			return s
		}
	}
	var best *server
	longest := 0
	for _, s := range p.servers {
		for _, alias := range s.aliases {
			end, wild := strings.CutPrefix(alias, "*")
			if wild && strings.HasSuffix(host, end) && len(end) > longest {
				best, longest = s, len(end)
			}
		}
	}
	if best != nil {
		return best
	}
	for _, s := range p.servers {
		for _, name := range append([]string{s.host}, s.aliases...) {
			if matchesName(name, host) {
				return s
			}
		}
	}
	return p.find(anyHost)
}

func matchesName(name, host string) bool {
	if end, wild := strings.CutPrefix(name, "*."); wild {
		first, rest, _ := strings.Cut(host, ".")
		return rest == end && regexp.MustCompile(`^[\w-]+$`).MatchString(first)
	}
	text, found := strings.CutPrefix(name, "~")
	return found && regexp.MustCompile("(?i)"+text).MatchString(host)
}

// hasCertificateFor reports whether there is a certificate for the name of a request: of the host itself,
// or of the wildcard above it, whichever server answers (N22).
func (p *proxy) hasCertificateFor(host string) bool {
	_, rest, _ := strings.Cut(host, ".")
	itself, wild := p.find(host), p.find("*."+rest)
	return itself != nil && itself.hasCertificate || wild != nil && wild.hasCertificate
}

// findLocation finds the location of a normalised path; slash: it is one whose requests are sent to the
// path with a slash (N14-N16).
func (s *server) findLocation(path string) (found *location, slash bool) {
	if s.regex {
		first := slices.IndexFunc(s.locations, func(l *location) bool {
			return regexp.MustCompile(l.expression()).MatchString(path)
		})
		return s.locations[first], false // `/` is always there
	}
	for _, l := range s.locations {
		if l.exact && l.path == path {
			return l, false
		}
	}
	if l := s.findSlash(path + "/"); l != nil {
		return l, true
	}
	longest := slices.IndexFunc(s.locations, func(l *location) bool { return !l.exact && strings.HasPrefix(path, l.path) })
	return s.locations[longest], false // `/` is always there
}

// findSlash finds a location by its name. One that is denied passes no request on, and only those that
// do redirect.
func (s *server) findSlash(name string) *location {
	var out *location
	open := false
	for _, l := range s.locations {
		if l.path == name {
			open = open || !l.denied
			if out == nil || l.exact {
				out = l
			}
		}
	}
	if !open {
		return nil
	}
	return out
}

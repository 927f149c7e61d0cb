package ingressnginx

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// names finds the server of a host, as nginx does (N9).
type names struct {
	exact   map[string]target
	heads   map[string]target // *.x, by x
	tails   map[string]target // x.*, by x
	regexes []nameRegex
}

// target is where the requests to a host go: a server, or another name of it.
type target struct {
	server     *server
	redirectTo string // the host that clients are sent to; "": they are not
}

// nameRegex is a name that is an expression; nil: it is not one that can be evaluated.
type nameRegex struct {
	regex *regexp.Regexp
	text  string
	target
}

func secretRef(namespace, name string) model.Ref {
	return model.Ref{Kind: "Secret", Namespace: namespace, Name: name}
}

// equalHosts compares hosts as the controller compares those of certificates.
func equalHosts(a, b string) bool { return strings.EqualFold(a, b) }

// nameServers gives all servers their names. Of a name that comes twice the first counts; names to which
// clients are redirected come before all others.
func (p *proxy) nameServers() {
	p.names = names{exact: map[string]target{}, heads: map[string]target{}, tails: map[string]target{}}
	for _, s := range p.ordered {
		if s.toWWW == nil {
			continue
		}
		if from := otherName(s.host); p.servers[from] == nil {
			p.addName(from, target{s, s.host}, s.toWWW)
		}
	}
	for _, s := range p.ordered {
		p.addName(serverName(s.host), target{server: s}, s.locations[0].owner)
		for _, a := range s.aliases {
			p.addName(a, target{server: s}, s.locations[0].owner)
		}
	}
}

// otherName is a host with www. before it, or without.
func otherName(host string) string {
	if rest, isWWW := strings.CutPrefix(host, "www."); isWWW {
		return rest
	}
	return "www." + host
}

// serverName is the name by which nginx knows a host: a wildcard is an expression for one label.
func serverName(host string) string {
	rest, isWildcard := strings.CutPrefix(host, "*.")
	if !isWildcard {
		return host
	}
	return `~^[\w-]+\.` + strings.ReplaceAll(rest, ".", `\.`) + "$"
}

// addName gives a server a name.
func (p *proxy) addName(name string, t target, by *entry) {
	name = strings.TrimSpace(name)
	if text, isRegex := strings.CutPrefix(name, "~"); isRegex {
		p.addRegex(text, t, by)
		return
	}
	name = strings.ToLower(name)
	tail, isTail := strings.CutSuffix(name, ".*")
	head, isHead := strings.CutPrefix(name, "*.")
	both, isBoth := strings.CutPrefix(name, ".")
	switch {
	case isHead && !strings.Contains(head, "*"):
		addTarget(p.names.heads, head, t)
	case isTail && !strings.Contains(tail, "*"):
		addTarget(p.names.tails, tail, t)
	case strings.Contains(name, "*"):
		p.refuseConfiguration(by, "invalid server name or wildcard %q", name)
	case isBoth:
		addTarget(p.names.heads, both, t)
		addTarget(p.names.exact, both, t)
	default:
		addTarget(p.names.exact, name, t)
	}
}

func addTarget(to map[string]target, name string, t target) {
	if _, taken := to[name]; !taken {
		to[name] = t
	}
}

func (p *proxy) addRegex(text string, t target, by *entry) {
	flags := ""
	if strings.ToLower(text) != text {
		flags = "(?i)"
	}
	e := compileExpression(flags + text)
	if e.refused != "" {
		p.refuseConfiguration(by, "%s", e.refused)
	}
	p.names.regexes = append(p.names.regexes, nameRegex{e.regex, "~" + text, t})
}

// findHost returns the server of a host; unknown is an expression of which it is not known whether it matches.
func (n *names) findHost(host string) (t target, found bool, unknown *nameRegex) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if t, found = n.exact[host]; found {
		return t, true, nil
	}
	for rest := host; ; { // the longest wildcard first
		_, after, more := strings.Cut(rest, ".")
		if !more {
			break
		}
		if t, found = n.heads[after]; found {
			return t, true, nil
		}
		rest = after
	}
	for rest := host; ; {
		at := strings.LastIndexByte(rest, '.')
		if at < 0 {
			break
		}
		if t, found = n.tails[rest[:at]]; found {
			return t, true, nil
		}
		rest = rest[:at]
	}
	for i := range n.regexes {
		r := &n.regexes[i]
		if r.regex == nil {
			return target{}, false, r
		}
		if r.regex.MatchString(host) {
			return r.target, true, nil
		}
	}
	return target{}, false, nil
}

// hasCertificate reports whether a certificate is configured for a host: by its name, or by that of the
// wildcard above it. known is false if that depends on what a certificate covers (N22).
func (p *proxy) hasCertificate(host string) (has, known bool, from *entry) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if s := p.servers[host]; s != nil && s.host != defaultHost && s.certificate.set {
		return true, true, s.certificate.from
	}
	if t, found := p.names.exact[host]; found && (t.redirectTo != "" || slices.Contains(t.server.aliases, host)) &&
		t.server.certificate.set && !t.server.certificate.known {
		return false, false, t.server.certificate.from
	}
	_, rest, _ := strings.Cut(host, ".")
	if s := p.servers["*."+rest]; s != nil && s.certificate.set {
		return true, true, s.certificate.from
	}
	return false, true, nil
}

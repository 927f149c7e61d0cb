package request

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Tidying is what an implementation makes of the path of a request before it is compared (gatewayapi G46).
type Tidying struct {
	Dots    bool // elements of one or two dots are resolved, also where a dot is escaped
	Slashes bool // slashes that follow each other become one
	Escaped EscapedSlashes

	SlashesFirst bool     // slashes become one before dots are resolved
	Backslashes  bool     // a backslash is a slash
	Decode       Decoding // of other characters that are escaped
	HostDot      bool     // a dot at the end of the host does not count
	HostDotKept  bool     // it does; if neither is true, that is not known

	DotsOpen, SlashesOpen, BackslashesOpen bool // it is not known what becomes of them; they are taken to stay
}

// Decoding is which escaped characters are decoded, beside slashes and backslashes.
type Decoding uint8

// The ways with escaped characters.
const (
	UnknownDecoding  Decoding = iota
	DecodeNothing             // they are compared as they are written
	DecodeUnreserved          // letters, digits, and - . _ ~
	DecodeAll                 // every one, slashes included
)

// EscapedSlashes is what becomes of a path with an escaped slash or backslash in it.
type EscapedSlashes uint8

// The ways with escaped slashes.
const (
	KeepEscaped     EscapedSlashes = iota
	DecodeEscaped                  // they are decoded first
	RedirectEscaped                // the client is sent to the decoded path
	RejectEscaped                  // the request is refused
	UnknownEscaped                 // one of these
)

// Tidier says what becomes of paths at a listener; false if it does not know, because the listener is another implementation's.
type Tidier func(r *resolve.Resolution, listener topology.NodeID) (Tidying, bool)

// TidyBy has the paths of requests made as the implementations make them.
func (m *Matcher) TidyBy(r *resolve.Resolution, tidiers []Tidier) *Matcher {
	type told struct {
		how   Tidying
		known bool
	}
	at := map[topology.NodeID]told{}
	m.tidying = func(listener topology.NodeID) (Tidying, bool) {
		found, asked := at[listener]
		if !asked {
			for _, t := range tidiers {
				if found.how, found.known = t(r, listener); found.known {
					break
				}
			}
			at[listener] = found
		}
		return found.how, found.known
	}
	return m
}

// tidy makes the path what the implementation compares; true if it answers the request for the path alone.
func (t *trace) tidy(p entryListener) bool {
	if t.r.Protocol != HTTP || p.facts.Protocol == "TLS" || t.compared {
		return false
	}
	how := t.how
	if t.m.tidying != nil {
		if told, known := t.m.tidying(p.id); known {
			how = told
		}
	}
	t.how = how
	escaped := slashes(t.r.Path) != t.r.Path && how.Decode != DecodeAll
	path := how.apply(t.r.Path)
	switch {
	case escaped && how.Escaped == RejectEscaped:
		t.answer.Status, t.turned = 400, true
		t.because("the path has an escaped slash, for which the request is refused")
		return true
	case path == t.r.Path:
		return false
	}
	tidied := *t.r
	tidied.Path = path
	t.r = &tidied
	if escaped && how.Escaped == RedirectEscaped {
		t.answer.Outcome, t.answer.Status, t.turned = Redirect, 307, true
		t.answer.Location = t.r.redirected(model.Body{}, nil)
		t.answer.Location.Status = 307
		t.because("the path has an escaped slash, for which the client is sent to the decoded path")
		return true
	}
	t.because("the path is compared as " + path)
	return false
}

// apply makes a path what is compared.
func (how Tidying) apply(path string) string {
	if how.Escaped == DecodeEscaped || how.Escaped == RedirectEscaped {
		path = slashes(path)
	}
	switch how.Decode {
	case DecodeUnreserved:
		path = escapes.ReplaceAllStringFunc(path, unreserved)
	case DecodeAll:
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	}
	if how.Backslashes {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if how.Slashes && how.SlashesFirst {
		path = merged(path)
	}
	if how.Dots {
		path = withoutDots(path)
	}
	if how.Slashes {
		path = merged(path)
	}
	return path
}

// merged is a path in which slashes that follow each other are one.
func merged(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

var escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unreserved decodes an escaped character if it need not be escaped (RFC 3986, 2.3).
func unreserved(escape string) string {
	n, _ := strconv.ParseUint(escape[1:], 16, 8)
	c := byte(n)
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-._~", c) >= 0 {
		return string(rune(c))
	}
	return escape
}

// slashes is a path with its escaped slashes and backslashes decoded.
func slashes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", `\`, "%5c", `\`).Replace(path)
}

// withoutDots resolves the elements of a path that are one or two dots, as RFC 3986 says.
func withoutDots(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	out := make([]string, 0, len(parts))
	for i, part := range parts {
		n := dots(part)
		if n == 0 {
			out = append(out, part)
			continue
		}
		if n == 2 && len(out) > 0 {
			out = out[:len(out)-1]
		}
		if i == len(parts)-1 {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// dots is how many dots an element of a path is, escaped or not; 0 if it is something else.
func dots(part string) int {
	switch strings.ReplaceAll(strings.ReplaceAll(part, "%2E", "."), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

// untidy tells that a path may be compared otherwise than it is written, and makes the answer conditional if that would lead elsewhere
// (gatewayapi G46).
func (m *Matcher) untidy(t *trace, w Where) {
	a := t.answer
	t.otherHost(w)
	others := t.how.readings(a.Request.Path)
	if t.r.Protocol != HTTP || len(others) == 0 || t.turned {
		return
	}
	told := "the path " + t.r.Path + " is compared as written; implementations may decode or normalise it first"
	severity := model.Info
	w.Gateway = a.Gateway
	for _, path := range others {
		r := a.Request
		r.Path = path
		o, err := follow(m, &r, w, t.switches, true)
		if err != nil || o.answer.key() == a.key() {
			continue
		}
		instead := "no rule matches"
		if o.answer.Rule != topology.None {
			instead = m.graph.Node(o.answer.Rule).Ref.String() + " takes the request"
		}
		a.conditional(fmt.Sprintf("an implementation may compare the path as %s, and then %s", path, instead))
		severity = model.Warning
		break
	}
	if t.how.Escaped == UnknownEscaped && a.Outcome != Conditional && slashes(t.r.Path) != t.r.Path {
		a.conditional("an implementation may decode an escaped slash, redirect the client or refuse the request")
	}
	a.note(severity, model.NotEvaluated, nil, told, "")
}

// hostDot drops the dot at the end of a host if the implementation of the Gateway does; open is set if that is not known and matters.
func (t *trace) hostDot() {
	host, dotted := strings.CutSuffix(t.r.Host, ".")
	if !dotted || host == "" || t.r.Protocol != HTTP {
		return
	}
	how := Tidying{}
	if t.m.tidying != nil {
		how, _ = t.m.tidying(t.answer.Gateway)
	}
	if !how.HostDot {
		t.dotOpen = !how.HostDotKept
		return
	}
	plain := *t.r
	plain.Host = host
	if plain.SNI == t.r.Host {
		plain.SNI = host
	}
	t.r = &plain
	t.because("the host is compared as " + host)
}

// otherHost makes the answer conditional if a dot at the end of the host may not count, and the request would then go elsewhere.
func (t *trace) otherHost(w Where) {
	if !t.dotOpen {
		return
	}
	r := t.answer.Request
	r.Host = strings.TrimSuffix(r.Host, ".")
	if r.SNI == t.answer.Request.Host {
		r.SNI = r.Host
	}
	w.Gateway = t.answer.Gateway
	o, err := t.m.trace(&r, w, t.switches)
	if err != nil || o.answer.key() == t.answer.key() {
		return
	}
	instead := "no rule matches"
	if o.answer.Rule != topology.None {
		instead = t.m.graph.Node(o.answer.Rule).Ref.String() + " takes the request"
	}
	t.answer.conditional("an implementation may compare the host as " + r.Host + ", and then " + instead)
}

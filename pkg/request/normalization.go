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

// Normalization is what an implementation makes of the path of a request before it is compared
// (gatewayapi G46).
type Normalization struct {
	ResolveDots  bool // elements of one or two dots are resolved, also where a dot is escaped
	MergeSlashes bool // slashes that follow each other become one
	Escaped      EscapedSlashes

	MergeSlashesFirst bool     // slashes become one before dots are resolved
	Backslashes       bool     // a backslash is a slash
	Decode            Decoding // of other characters that are escaped
	DropHostDot       bool     // a dot at the end of the host does not count
	KeepHostDot       bool     // it does; if neither is true, that is not known

	DotsUnknown, SlashesUnknown, BackslashesUnknown bool // it is not known what becomes of them; they are taken to stay
}

// Decoding says which escaped characters are decoded, beside slashes and backslashes.
type Decoding uint8

// The ways with escaped characters.
const (
	UnknownDecoding  Decoding = iota
	DecodeNothing             // they are compared as they are written
	DecodeUnreserved          // letters, digits, and - . _ ~
	DecodeAll                 // every one, slashes included
)

// EscapedSlashes says what becomes of a path with an escaped slash or backslash in it.
type EscapedSlashes uint8

// The ways with escaped slashes.
const (
	KeepEscaped     EscapedSlashes = iota
	DecodeEscaped                  // they are decoded first
	RedirectEscaped                // the client is sent to the decoded path
	RejectEscaped                  // the request is refused
	UnknownEscaped                 // one of these
)

// Normalizer says what becomes of paths at a listener; false if it does not know, because the
// listener is another implementation's.
type Normalizer func(r *resolve.Resolution, listener topology.NodeID) (Normalization, bool)

// NormalizeWith sets the normalizers of the implementations, by which paths are compared.
func (m *Matcher) NormalizeWith(r *resolve.Resolution, tidiers []Normalizer) *Matcher {
	type told struct {
		how   Normalization
		known bool
	}
	at := map[topology.NodeID]told{}
	m.normalization = func(listener topology.NodeID) (Normalization, bool) {
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

// normalizePath makes the path what the implementation compares; true if it answers the request for
// the path alone.
func (t *trace) normalizePath(p entryListener) bool {
	if t.request.Protocol != HTTP || p.facts.Protocol == "TLS" || t.normalized {
		return false
	}
	how := t.normalization
	if t.matcher.normalization != nil {
		if told, known := t.matcher.normalization(p.id); known {
			how = told
		}
	}
	t.normalization = how
	escaped := decodeSlashes(t.request.Path) != t.request.Path && how.Decode != DecodeAll
	path := how.apply(t.request.Path)
	switch {
	case escaped && how.Escaped == RejectEscaped:
		t.answer.Status, t.answeredByPath = 400, true
		t.addReason("the path has an escaped slash, for which the request is refused")
		return true
	case path == t.request.Path:
		return false
	}
	tidied := *t.request
	tidied.Path = path
	t.request = &tidied
	if escaped && how.Escaped == RedirectEscaped {
		t.answer.Outcome, t.answer.Status, t.answeredByPath = Redirect, 307, true
		t.answer.Location = t.request.buildLocation(model.Body{}, nil)
		t.answer.Location.Status = 307
		t.addReason("the path has an escaped slash, for which the client is sent to the decoded path")
		return true
	}
	t.addReason("the path is compared as " + path)
	return false
}

// apply returns what is compared of a path.
func (how Normalization) apply(path string) string {
	if how.Escaped == DecodeEscaped || how.Escaped == RedirectEscaped {
		path = decodeSlashes(path)
	}
	switch how.Decode {
	case DecodeUnreserved:
		path = escapePattern.ReplaceAllStringFunc(path, decodeUnreserved)
	case DecodeAll:
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	}
	if how.Backslashes {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if how.MergeSlashes && how.MergeSlashesFirst {
		path = mergeSlashes(path)
	}
	if how.ResolveDots {
		path = resolveDots(path)
	}
	if how.MergeSlashes {
		path = mergeSlashes(path)
	}
	return path
}

// mergeSlashes returns a path in which repeated slashes are one.
func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

var escapePattern = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decodeUnreserved decodes an escaped character if it need not be escaped (RFC 3986, 2.3).
func decodeUnreserved(escape string) string {
	n, _ := strconv.ParseUint(escape[1:], 16, 8)
	c := byte(n)
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-._~", c) >= 0 {
		return string(rune(c))
	}
	return escape
}

// decodeSlashes returns a path with its escaped slashes and backslashes decoded.
func decodeSlashes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", `\`, "%5c", `\`).Replace(path)
}

// resolveDots resolves the elements of a path that are one or two dots, as RFC 3986 says.
func resolveDots(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	out := make([]string, 0, len(parts))
	for i, part := range parts {
		n := countDots(part)
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

// countDots returns how many dots an element of a path is, escaped or not; 0 if it is something
// else.
func countDots(part string) int {
	switch strings.ReplaceAll(strings.ReplaceAll(part, "%2E", "."), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

// checkNormalization tells that a path may be compared otherwise than it is written, and makes the
// rule uncertain if that would lead elsewhere (gatewayapi G46).
func (m *Matcher) checkNormalization(t *trace, w Destination) {
	a := t.answer
	t.checkHostDot(w)
	others := t.normalization.listOtherPaths(a.Request.Path)
	if t.request.Protocol != HTTP || len(others) == 0 || t.answeredByPath {
		return
	}
	told := "the path " + t.request.Path + " is compared as written; implementations may decode or normalise it first"
	severity := model.Info
	w.Gateway = a.Gateway
	for _, path := range others {
		r := a.Request
		r.Path = path
		o, err := runTrace(m, &r, w, t.settings, true)
		if err != nil || o.answer.toKey() == a.toKey() {
			continue
		}
		instead := "no rule matches"
		if o.answer.Rule != topology.None {
			instead = m.graph.Node(o.answer.Rule).Ref.String() + " takes the request"
		}
		a.makeRuleUncertain(fmt.Sprintf("an implementation may compare the path as %s, and then %s", path, instead))
		severity = model.Warning
		break
	}
	if t.normalization.Escaped == UnknownEscaped && a.Outcome != Conditional && decodeSlashes(t.request.Path) != t.request.Path {
		a.makeRuleUncertain("an implementation may decode an escaped slash, redirect the client or refuse the request")
	}
	a.addProblem(severity, model.NotEvaluated, nil, told, "")
}

// dropHostDot drops the dot at the end of a host if the implementation of the Gateway does, and
// notes where that is not known.
func (t *trace) dropHostDot() {
	host, dotted := strings.CutSuffix(t.request.Host, ".")
	if !dotted || host == "" || t.request.Protocol != HTTP {
		return
	}
	how := Normalization{}
	if t.matcher.normalization != nil {
		how, _ = t.matcher.normalization(t.answer.Gateway)
	}
	if !how.DropHostDot {
		t.hostDotUnknown = !how.KeepHostDot
		return
	}
	plain := *t.request
	plain.Host = host
	if plain.SNI == t.request.Host {
		plain.SNI = host
	}
	t.request = &plain
	t.addReason("the host is compared as " + host)
}

// checkHostDot makes the rule uncertain if a dot at the end of the host may not count, and the
// request would then go elsewhere.
func (t *trace) checkHostDot(w Destination) {
	if !t.hostDotUnknown {
		return
	}
	r := t.answer.Request
	r.Host = strings.TrimSuffix(r.Host, ".")
	if r.SNI == t.answer.Request.Host {
		r.SNI = r.Host
	}
	w.Gateway = t.answer.Gateway
	o, err := t.matcher.traceRequest(&r, w, t.settings)
	if err != nil || o.answer.toKey() == t.answer.toKey() {
		return
	}
	instead := "no rule matches"
	if o.answer.Rule != topology.None {
		instead = t.matcher.graph.Node(o.answer.Rule).Ref.String() + " takes the request"
	}
	t.answer.makeRuleUncertain("an implementation may compare the host as " + r.Host + ", and then " + instead)
}

package space

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// HostText says in words which hosts the requests of the class are to.
func (c *Class) HostText() string { return hostText(c.hostName, c.hostNames) }

// HostName tells apart the hosts of different names; "" stands for all that have none.
func (c *Class) HostName() string { return c.hostName }

// Copy returns a class that may be kept where a walk uses the memory of each class again.
func (c *Class) Copy() *Class {
	out := *c
	return &out
}

// IsWithin reports whether all requests of the class are to a host and on a path, both as in a
// Scope.
func (c *Class) IsWithin(host, path string) bool {
	if !isHostAsked(c.hostName, []string{host}) {
		return false
	}
	for _, test := range testsOfPaths([]string{path}) {
		if test.Form == request.Prefix && test.Value == "" || c.isOnPath(&test) {
			return true
		}
	}
	return false
}

func (c *Class) isOnPath(test *request.Test) bool {
	text, known := "", 0
	for i := range c.parts {
		switch p := &c.parts[i]; {
		case p.of == request.AspectPath && test.Form == request.Expression:
			at := slices.Index(p.splitter.expressions, test.Value)
			return at >= 0 && p.set.holds[at] == 1
		case p.of == request.AspectPath:
			return (p.set.exact || test.Form == request.Prefix) && p.splitter.isTestMet(test, &p.set)
		case p.of == request.AspectService && p.set.exact && !p.matchesAll:
			text, known = "/"+p.set.text+text, known+1
		case p.of == request.AspectCall && p.set.exact && !p.matchesAll:
			text, known = text+"/"+p.set.text, known+2
		}
	}
	switch test.Form {
	case request.Exact:
		return known == 3 && text == test.Value
	case request.Prefix:
		return known == 3 && (text == test.Value || strings.HasPrefix(text, test.Value+"/")) || known == 1 &&
			text == test.Value
	}
	return false
}

// IsRequestOn reports whether a request is to a host and on a path, both as in a Scope.
func IsRequestOn(r *request.Request, host, path string) bool {
	h := newHostNames([]string{host, r.Host})
	if !isHostAsked(h.nameOf(r.Host), []string{host}) {
		return false
	}
	t := newTextSplitter(pathAlphabet, append(testsOfPaths([]string{path}), request.Test{Value: r.Path}))
	at := textSet{t.keyOf(r.Path), r.Path}
	return slices.ContainsFunc(testsOfPaths([]string{path}),
		func(test request.Test) bool { return t.isTestMet(&test, &at) })
}

// HostPath is where requests come in, to which host, and on which path. In a walk the classes of
// one HostPath follow each other.
type HostPath struct {
	entry    request.Entry
	protocol request.Protocol
	host     string
	path     textKey
}

// HostPath tells apart what comes to different entries, to different hosts, or is on different
// paths. Requests of two classes that differ in their headers alone have the same one.
func (c *Class) HostPath() HostPath {
	out := HostPath{entry: c.Entry, protocol: c.protocol, host: c.hostName}
	for i := range c.parts {
		if p := &c.parts[i]; p.of == request.AspectPath {
			out.path = p.set.textKey
		}
	}
	return out
}

// HeaderDifference says how requests of two classes of one HostPath differ.
type HeaderDifference uint8

// The ways in which they may.
const (
	DifferInMore       HeaderDifference = iota // in more than their headers
	MayDifferInHeaders                         // perhaps in their headers alone
	DifferInHeaders
)

// CompareHeaders tells whether a request of the class differs from one of another class of its
// HostPath in its headers alone. If so, it returns the request and the same one with the headers of
// the other class.
func (c *Class) CompareHeaders(o *Class) (of, with request.Request, how HeaderDifference) {
	for _, both := range [2][2]*Class{{c, o}, {o, c}} {
		r := both[0].Request
		r.Headers = both[1].Request.Headers
		if both[1].Contains(&r) {
			r.Text = ""
			if both[0] == c {
				return c.Request, r, DifferInHeaders
			}
			return r, o.Request, DifferInHeaders
		}
	}
	for i := range c.parts {
		p := &c.parts[i]
		at := slices.IndexFunc(o.parts, func(q part) bool { return q.partKey == p.partKey })
		if p.of == request.AspectHeader || p.of == request.AspectPath || at < 0 || p.matchesAll ||
			o.parts[at].matchesAll {
			continue
		}
		if q := &o.parts[at]; p.absent != q.absent || !p.absent && p.isDisjoint(q) {
			return c.Request, o.Request, DifferInMore
		}
	}
	return c.Request, o.Request, MayDifferInHeaders
}

// isDisjoint reports whether no text is in the sets of both parts.
func (p *part) isDisjoint(q *part) bool {
	switch {
	case p.set.exact:
		return q.splitter.keyOf(p.set.text) != q.set.textKey
	case q.set.exact:
		return p.splitter.keyOf(q.set.text) != p.set.textKey
	}
	return false
}

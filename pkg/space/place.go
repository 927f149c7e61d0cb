package space

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Hosts says in words which hosts the requests of the class are to.
func (c *Class) Hosts() string { return hostText(c.host, c.hosts) }

// Host tells apart the hosts of different names; "" are all that have none.
func (c *Class) Host() string { return c.host }

// Copy is the class to be kept, where a walk makes one after the other of the same memory.
func (c *Class) Copy() *Class {
	out := *c
	return &out
}

// Within reports whether all requests of the class are to a host and on a path, both as in a Scope.
func (c *Class) Within(host, path string) bool {
	if !within(c.host, []string{host}) {
		return false
	}
	for _, test := range pathTests([]string{path}) {
		if test.Form == request.Prefix && test.Value == "" || c.onPath(&test) {
			return true
		}
	}
	return false
}

func (c *Class) onPath(test *request.Test) bool {
	text, known := "", 0
	for i := range c.parts {
		switch p := &c.parts[i]; {
		case p.of == request.AspectPath && test.Form == request.Expression:
			at := slices.Index(p.texts.exprs, test.Value)
			return at >= 0 && p.piece.holds[at] == 1
		case p.of == request.AspectPath:
			return (p.piece.exact || test.Form == request.Prefix) && p.texts.holds(test, &p.piece)
		case p.of == request.AspectService && p.piece.exact && !p.whole:
			text, known = "/"+p.piece.text+text, known+1
		case p.of == request.AspectCall && p.piece.exact && !p.whole:
			text, known = text+"/"+p.piece.text, known+2
		}
	}
	switch test.Form {
	case request.Exact:
		return known == 3 && text == test.Value
	case request.Prefix:
		return known == 3 && (text == test.Value || strings.HasPrefix(text, test.Value+"/")) || known == 1 && text == test.Value
	}
	return false
}

// On reports whether a request is to a host and on a path, both as in a Scope.
func On(r *request.Request, host, path string) bool {
	h := newHosts([]string{host, r.Host})
	if !within(h.of(r.Host), []string{host}) {
		return false
	}
	t := newTexts(paths, append(pathTests([]string{path}), request.Test{Value: r.Path}), false)
	at := piece{t.at(r.Path), r.Path}
	return slices.ContainsFunc(pathTests([]string{path}), func(test request.Test) bool { return t.holds(&test, &at) })
}

// Place is where requests come in, to which host, and on which path. Of a walk the classes of one place follow each other.
type Place struct {
	entry    request.Entry
	protocol request.Protocol
	host     string
	path     place
}

// Place tells apart what comes to different entries, to different hosts, or is on different paths. Requests of two classes that differ in their headers
// alone have the same place.
func (c *Class) Place() Place {
	out := Place{entry: c.Entry, protocol: c.protocol, host: c.host}
	for i := range c.parts {
		if p := &c.parts[i]; p.of == request.AspectPath {
			out.path = p.piece.place
		}
	}
	return out
}

// Compared says how requests of two classes of one place differ.
type Compared uint8

// The ways in which they may.
const (
	Otherwise    Compared = iota // in more than their headers
	PerhapsAlike                 // perhaps in their headers alone
	AlikeButHeaders
)

// ButHeaders tells whether a request of the class differs from one of another class of its place in its headers alone. Such a one is c's with the
// headers of the second request.
func (c *Class) ButHeaders(o *Class) (of, with request.Request, how Compared) {
	for _, both := range [2][2]*Class{{c, o}, {o, c}} {
		r := both[0].Request
		r.Headers = both[1].Request.Headers
		if both[1].Contains(&r) {
			r.Text = ""
			if both[0] == c {
				return c.Request, r, AlikeButHeaders
			}
			return r, o.Request, AlikeButHeaders
		}
	}
	for i := range c.parts {
		p := &c.parts[i]
		at := slices.IndexFunc(o.parts, func(q part) bool { return q.key == p.key })
		if p.of == request.AspectHeader || p.of == request.AspectPath || at < 0 || p.whole || o.parts[at].whole {
			continue
		}
		if q := &o.parts[at]; p.absent != q.absent || !p.absent && p.apart(q) {
			return c.Request, o.Request, Otherwise
		}
	}
	return c.Request, o.Request, PerhapsAlike
}

// apart reports whether no text is in two pieces of one part of requests.
func (p *part) apart(q *part) bool {
	switch {
	case p.piece.exact:
		return q.texts.at(p.piece.text) != q.piece.place
	case q.piece.exact:
		return p.texts.at(q.piece.text) != p.piece.place
	}
	return false
}

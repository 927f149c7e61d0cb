package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// mostLeaves is into how many classes the requests to one path of one host are split at most.
const mostLeaves = 4096

// mostPattern is how many instructions an expression may have that is followed.
const mostPattern = 100_000

// Walk calls see with the classes of all requests that are asked about, one after the other in an order that the input determines, until it returns
// false. Every such request is in exactly one class of each entry that it can come to.
func Walk(m *request.Matcher, s Scope, see func(*Class) bool) error {
	w := walker{m: request.Competition{Matcher: m}, scope: &s, see: see, left: s.Steps}
	for _, e := range w.m.Entries(s.Where) {
		h := newHosts(w.m.Names(e), s.Hosts, s.ApartHosts)
		for _, name := range h.sorted() {
			if !within(name, s.Hosts) {
				continue
			}
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if w.host(e, h, name, protocol); w.done {
					return w.err
				}
			}
		}
	}
	return nil
}

type walker struct {
	m     request.Competition
	scope *Scope
	see   func(*Class) bool
	done  bool
	err   error
	known map[string]bool // by expression: whether it can be read
	left  int             // of the steps of the scope
	last  *Class          // that was handed on, if the next one takes its place
}

// rival is a match that competes for a class, with those of its tests of which it is not known yet whether they hold.
type rival struct {
	*request.Competitor
	tests []request.Test
	open  bool   // whether it takes a class is not known
	doubt string // why what it takes cannot be told
	lead  string // that the paths begin with which an expression takes, whose test is given up
}

// draft is a class that is not split to its end.
type draft struct {
	class  Class
	rivals []rival // the best first
	left   *int    // how many classes may still come of the path
}

// host splits the requests of a protocol to the hosts of a name.
func (w *walker) host(e request.Entry, h hosts, name string, protocol request.Protocol) {
	host := h.one(name)
	all := w.m.Competing(e, request.Where{Gateway: e.Gateway, Listener: w.scope.Where.Listener}, host, protocol)
	if protocol == request.GRPC && len(all) == 0 {
		return // they are HTTP requests to the rules
	}
	d := draft{class: Class{Entry: e, Request: e.At(host, protocol), protocol: protocol, hosts: h, host: name}, left: new(int)}
	*d.left = mostLeaves
	for i := range all {
		if r, takes := w.rival(&all[i], name, host); takes {
			d.rivals = append(d.rivals, r)
		}
	}
	for _, header := range w.scope.Headers {
		if d = w.fixed(d, header); d.rivals == nil && len(all) > 0 {
			d.rivals = []rival{}
		}
	}
	if protocol == request.GRPC {
		if len(w.scope.Methods) == 0 || slices.Contains(w.scope.Methods, "POST") {
			w.calls(d)
		}
		return
	}
	w.paths(d)
}

// rival is what a match asks of the requests to a host; false if it takes none of them.
func (w *walker) rival(c *request.Competitor, name, host string) (rival, bool) {
	r := rival{Competitor: c, open: c.Open}
	for _, t := range c.Tests {
		of := t.Of == request.AspectHeader && t.Name == "host"
		exact := name != "" && !isWildcard(name)
		switch {
		case t.Form == request.Expression && !w.readable(t.Value):
			r.open = true // whether it holds, nobody knows; but not without the header or the parameter
			if !of && (t.Of == request.AspectHeader || t.Of == request.AspectQuery) {
				t.Value = anyValue
				r.tests = append(r.tests, t)
			}
		case of && t.Form == request.Exact && exact && t.Value == host:
		case of && t.Form == request.Exact:
			return r, false
		case of:
			r.open, r.doubt = true, "an expression on the header Host decides which hosts a rule takes"
		default:
			r.tests = append(r.tests, t)
		}
	}
	return r, true
}

func (w *walker) readable(expr string) bool {
	known, asked := w.known[expr]
	if !asked {
		size := model.PatternSize(expr)
		known = 0 < size && size <= mostPattern && !model.TakenOut(expr)
		if w.known == nil {
			w.known = map[string]bool{}
		}
		w.known[expr] = known
	}
	return known
}

// fixed has the requests with one header as it is asked for.
func (w *walker) fixed(d draft, header Header) draft {
	k := key{request.AspectHeader, header.Name}
	tests := testsOf(d.rivals, k)
	t := newTexts(trimmed, append(tests, request.Test{Value: header.Value}), w.m.Unanchored())
	p := part{key: k, texts: t, absent: header.Absent, piece: piece{t.at(header.Value), header.Value}}
	return d.with(p)
}

// with is what is left of a draft for one piece of a part.
func (d draft) with(p part) draft {
	out := d
	out.rivals = make([]rival, 0, len(d.rivals))
	out.class.parts = append(slices.Clone(d.class.parts), p)
	p.give(&out.class)
	for _, r := range d.rivals {
		at := slices.IndexFunc(r.tests, func(t request.Test) bool { return keyOf(&t) == p.key })
		switch {
		case at < 0 || p.whole:
		case p.absent || !p.texts.holds(&r.tests[at], &p.piece):
			continue
		default:
			r.tests = slices.Delete(slices.Clone(r.tests), at, at+1)
		}
		out.rivals = append(out.rivals, r)
	}
	return out
}

// give gives the request of a class the part, without touching what it shares with others.
func (p *part) give(c *Class) {
	c.Request.Headers, c.Request.Query = slices.Clone(c.Request.Headers), slices.Clone(c.Request.Query)
	p.put(&c.Request)
}

func keyOf(t *request.Test) key { return key{t.Of, t.Name} }

// testsOf are the tests of one part.
func testsOf(rivals []rival, k key) []request.Test {
	var out []request.Test
	for i := range rivals {
		for _, t := range rivals[i].tests {
			if keyOf(&t) == k {
				out = append(out, t)
			}
		}
	}
	return out
}

// emit asks what becomes of a class, and hands it on.
func (w *walker) emit(d draft) {
	c := w.last
	if c == nil {
		c = &Class{}
	}
	if w.scope.Passing {
		w.last = c
	}
	*c = d.class
	for i := range d.rivals {
		if d.rivals[i].doubt != "" && c.Unknown == "" {
			c.Unknown = d.rivals[i].doubt
		}
	}
	if c.protocol == request.GRPC {
		c.Request.Path = "/" + c.Request.Service + "/" + c.Request.Call
	}
	c.Answer, w.err = w.m.Take(c.Request, request.Where{Gateway: c.Entry.Gateway, Listener: w.scope.Where.Listener})
	if w.err == nil {
		c.Request = c.Answer.Request
	}
	if w.err == nil && c.Unknown != "" {
		w.suppose(c, d.rivals)
	} else if w.err == nil {
		c.Possible = c.Answer.Possible
	}
	*d.left--
	if w.err != nil || !w.see(c) {
		w.done = true
	}
}

// suppose finds what may become of a class that is not told apart: by each rival that may take some of it, and by none.
func (w *walker) suppose(c *Class, rivals []rival) {
	if !c.Answer.Closed() || slices.ContainsFunc(rivals, func(r rival) bool { return r.Open || w.m.HandsOver(r.Competitor) }) {
		return
	}
	for i := range rivals {
		c.Possible = append(c.Possible, w.m.Suppose(c.Answer, rivals[i].Competitor))
	}
	c.Possible = append(c.Possible, w.m.Suppose(c.Answer, nil))
}

package space

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Side is one of two inputs whose requests are told apart together.
type Side struct {
	Matcher *request.Matcher
	Name    func(gateway topology.NodeID) model.Ref // by which the Gateways of the two are held to be the same

	// Apart tells by what else the requests that a rule takes are told apart; nil: by nothing.
	Apart func(rule topology.NodeID) []request.Test
}

// Pair is a set of requests that no rule of either of two inputs tells apart. A side without an entry for them has no class.
type Pair struct {
	Before, After *Class
}

// Any is a class of the pair: both have the same requests.
func (p *Pair) Any() *Class {
	if p.After != nil {
		return p.After
	}
	return p.Before
}

// Compare calls see with the classes of all requests that may come to one of two inputs, refined until neither tells them apart further, until it
// returns false. Gateways of one name are the same; a request that comes to a Gateway of one input alone has no class in the other.
func Compare(before, after Side, s Scope, see func(*Pair) bool) error {
	c := comparer{see: see}
	for i, side := range []Side{before, after} {
		own := s
		own.Apart = side.Apart
		c.sides[i] = walker{m: request.Competition{Matcher: side.Matcher}, scope: &own}
	}
	c.loose = c.sides[1].m.Unanchored()
	for _, e := range entriesOf(before, after, &c) {
		h := newHosts(c.names(&e))
		for _, name := range h.sorted() {
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if c.host(&e, h, name, protocol); c.done {
					return c.err
				}
			}
		}
	}
	return nil
}

type comparer struct {
	sides [2]walker
	loose bool // of both: whether expressions may match a part of a text
	see   func(*Pair) bool
	done  bool
	err   error
}

// bothEntries are where the same requests come to the two inputs; nil where they come to one alone.
type bothEntries [2]*request.Entry

func entriesOf(before, after Side, c *comparer) []bothEntries {
	type where struct {
		gateway model.Ref
		port    int32
		secure  bool
	}
	at := map[where]int{}
	var keys []where
	var out []bothEntries
	for i, side := range []Side{before, after} {
		for _, e := range c.sides[i].m.Entries(Everywhere()) {
			key := where{side.Name(e.Gateway), e.Port, e.Secure}
			n, known := at[key]
			if !known {
				n = len(out)
				at[key] = n
				keys, out = append(keys, key), append(out, bothEntries{})
			}
			out[n][i] = &e
		}
	}
	slices.SortFunc(keys, func(a, b where) int {
		return cmp.Or(a.gateway.Compare(b.gateway), cmp.Compare(a.port, b.port), cmp.Compare(boolOrder(a.secure), boolOrder(b.secure)))
	})
	sorted := make([]bothEntries, len(out))
	for i, key := range keys {
		sorted[i] = out[at[key]]
	}
	return sorted
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *comparer) names(e *bothEntries) []string {
	var out []string
	for i := range c.sides {
		if e[i] != nil {
			out = append(out, c.sides[i].m.Names(*e[i])...)
		}
	}
	return out
}

// drafts are a class of each side that is not split to its end; both have the same parts.
type drafts struct {
	of   [2]*draft // nil: the side has no entry for the requests
	left *int      // how many classes may still come of the path
}

func (d *drafts) each() []*draft {
	return slices.DeleteFunc([]*draft{d.of[0], d.of[1]}, func(one *draft) bool { return one == nil })
}

// with is what is left of the drafts for one piece of a part.
func (d drafts) with(p part) drafts {
	out := drafts{left: d.left}
	for i, one := range d.of {
		if one != nil {
			next := one.with(p)
			out.of[i] = &next
		}
	}
	return out
}

func (c *comparer) tests(d *drafts, k key) []request.Test {
	var out []request.Test
	for i, one := range d.of {
		if one != nil {
			out = append(append(out, testsOf(one.rivals, k)...), one.apartTests(k, c.sides[i].scope.Apart)...)
		}
	}
	return out
}

// host splits the requests of a protocol to the hosts of a name.
func (c *comparer) host(e *bothEntries, h hosts, name string, protocol request.Protocol) {
	host, left := h.one(name), new(int)
	*left = mostLeaves
	d := drafts{left: left}
	calls := false // whether a side knows calls; the other one sees them as the HTTP requests that they are
	for i := range c.sides {
		if e[i] == nil {
			continue
		}
		w, entry := &c.sides[i], *e[i]
		one := draft{class: Class{Entry: entry, Request: entry.At(host, protocol), protocol: protocol, hosts: h, host: name}, left: left}
		all := w.m.Competing(entry, request.Where{Gateway: entry.Gateway}, host, protocol)
		calls = calls || protocol == request.GRPC && len(all) > 0
		if protocol == request.GRPC && len(all) == 0 && len(w.m.Competing(entry, request.Where{Gateway: entry.Gateway}, host, request.HTTP)) > 0 {
			one.class.Unknown = "gRPC requests are told apart by calls on one side, and by HTTPRoutes on the other"
		}
		for j := range all {
			if r, takes := w.rival(&all[j], name, host); takes {
				one.rivals = append(one.rivals, r)
			}
		}
		d.of[i] = &one
	}
	switch {
	case protocol == request.GRPC && calls:
		c.calls(d)
	case protocol == request.HTTP:
		c.paths(d)
	}
}

// calls splits gRPC requests to a host.
func (c *comparer) calls(d drafts) {
	for _, one := range d.each() {
		for i := range one.rivals {
			for _, t := range one.rivals[i].tests {
				if t.Of != request.AspectService && t.Of != request.AspectCall && t.Of != request.AspectHeader {
					c.unknown(d, "listeners with HTTPRoutes and such with GRPCRoutes share the gRPC requests")
					return
				}
			}
		}
	}
	for _, k := range []key{{of: request.AspectService}, {of: request.AspectCall}} {
		if len(c.tests(&d, k)) == 0 {
			d = d.with(part{key: k, texts: newTexts(values, nil, false), piece: piece{text: "x"}, whole: true})
		}
	}
	c.rest(d)
}

// paths splits the requests to a host by path.
func (c *comparer) paths(d drafts) {
	k := key{of: request.AspectPath}
	t := newTexts(paths, c.tests(&d, k), c.loose)
	if !t.split() {
		c.unknown(d, "the regular expressions on paths tell apart more than can be followed")
		return
	}
	var by [2]pathIndex
	for i, one := range d.of {
		if one != nil {
			by[i] = byPath(one.rivals)
		}
	}
	for _, p := range t.pieces {
		left := new(int)
		*left = mostLeaves
		here := drafts{left: left}
		for i, one := range d.of {
			if one != nil {
				narrowed := *one
				narrowed.rivals, narrowed.left = by[i].at(t, p.text, one.rivals), left
				here.of[i] = &narrowed
			}
		}
		if c.rest(here.with(part{key: k, texts: t, piece: p})); c.done {
			return
		}
	}
}

// rest splits what is left by the parts that the best rivals of either side look at.
func (c *comparer) rest(d drafts) {
	var next *request.Test
	for _, one := range d.each() {
		one.rivals = competing(one.rivals)
		at := slices.IndexFunc(one.rivals, func(r rival) bool { return len(r.tests) > 0 })
		if at >= 0 && next == nil {
			next = &one.rivals[at].tests[0]
		}
	}
	for i, one := range d.of {
		if one == nil || next != nil {
			continue
		}
		if k, more := one.nextApart(c.sides[i].scope.Apart); more && *d.left > 0 {
			c.by(d, k)
			return
		}
	}
	switch {
	case next == nil:
		c.emit(d)
	case *d.left <= 0:
		c.unknown(d, "the matches on headers and query parameters tell apart more than can be followed")
	default:
		c.by(d, keyOf(next))
	}
}

// by splits drafts by one part.
func (c *comparer) by(d drafts, k key) {
	of := values
	if k.of == request.AspectHeader {
		of = trimmed
	}
	t := newTexts(of, c.tests(&d, k), c.loose)
	if !t.split() {
		c.unknown(d, "the regular expressions on "+aspects[k.of]+" "+k.name+" tell apart more than can be followed")
		return
	}
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		if c.rest(d.with(part{key: k, texts: t, absent: true})); c.done {
			return
		}
	}
	for _, p := range t.pieces {
		if k.of == request.AspectMethod {
			p = anotherMethod(t, p)
		}
		if c.rest(d.with(part{key: k, texts: t, piece: p})); c.done {
			return
		}
	}
}

// emit asks both sides what becomes of a class, and hands it on.
func (c *comparer) emit(d drafts) {
	*d.left--
	var p Pair
	for i, one := range d.of {
		if one == nil {
			continue
		}
		var class *Class
		w := &c.sides[i]
		w.see = func(found *Class) bool { class = found; return true }
		own := *one
		own.left = new(int)
		if w.emit(own); w.err != nil {
			c.done, c.err = true, w.err
			return
		}
		for j := range own.rivals {
			class.rivals = append(class.rivals, own.rivals[j].Rule)
		}
		if taker := class.Answer.Rule; taker != topology.None && !slices.Contains(class.rivals, taker) { // of a connection that is passed on
			class.rivals = append(class.rivals, taker)
		}
		*[]**Class{&p.Before, &p.After}[i] = class
	}
	if !c.see(&p) {
		c.done = true
	}
}

func (c *comparer) unknown(d drafts, why string) {
	for _, one := range d.each() {
		one.class.Unknown = why
	}
	c.emit(d)
}

// Rivals are the rules that may take the requests of a class of Compare, the best first; those after one that is certain to hold for all of them are
// left out. A rule may stand there several times.
func (c *Class) Rivals() []topology.NodeID { return c.rivals }

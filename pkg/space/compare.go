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
	Matcher    *request.Matcher
	GatewayRef func(gateway topology.NodeID) model.Ref // by which the Gateways of the two are held to be the same

	// ExtraTests returns further tests by which the requests that a rule takes are told apart; nil:
	// none.
	ExtraTests func(rule topology.NodeID) []request.Test
}

// Pair is a set of requests that no rule of either of two inputs tells apart. A side without an
// entry for them has no class.
type Pair struct {
	Before, After *Class
}

// AnyClass returns a class of the pair: both have the same requests.
func (p *Pair) AnyClass() *Class {
	if p.After != nil {
		return p.After
	}
	return p.Before
}

// Compare calls see with the classes of all requests that may come to one of two inputs, split
// until neither tells them apart further, until see returns false. Gateways of one name are the
// same; a request that comes to a Gateway of one input alone has no class in the other.
func Compare(before, after Side, s Scope, see func(*Pair) bool) error {
	c := comparer{see: see}
	for i, side := range []Side{before, after} {
		own := s
		own.ExtraTests = side.ExtraTests
		c.sides[i] = walker{competition: request.Competition{Matcher: side.Matcher}, scope: &own}
	}
	for _, e := range pairEntries(before, after, &c) {
		h := newHostNames(c.listHostnames(&e))
		for _, name := range h.sortNames() {
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if c.splitHost(&e, h, name, protocol); c.done {
					return c.err
				}
			}
		}
	}
	return nil
}

type comparer struct {
	sides [2]walker
	see   func(*Pair) bool
	done  bool
	err   error
}

// entryPair is where the same requests come to the two inputs; nil where they come to one alone.
type entryPair [2]*request.Entry

func pairEntries(before, after Side, c *comparer) []entryPair {
	type where struct {
		gateway model.Ref
		port    int32
		secure  bool
	}
	at := map[where]int{}
	var keys []where
	var out []entryPair
	for i, side := range []Side{before, after} {
		for _, e := range c.sides[i].competition.Entries(AnyDestination()) {
			key := where{side.GatewayRef(e.Gateway), e.Port, e.Secure}
			n, known := at[key]
			if !known {
				n = len(out)
				at[key] = n
				keys, out = append(keys, key), append(out, entryPair{})
			}
			out[n][i] = &e
		}
	}
	slices.SortFunc(keys, func(a, b where) int {
		return cmp.Or(a.gateway.Compare(b.gateway), cmp.Compare(a.port, b.port), cmp.Compare(rankBool(a.secure),
			rankBool(b.secure)))
	})
	sorted := make([]entryPair, len(out))
	for i, key := range keys {
		sorted[i] = out[at[key]]
	}
	return sorted
}

func rankBool(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *comparer) listHostnames(e *entryPair) []string {
	var out []string
	for i := range c.sides {
		if e[i] != nil {
			out = append(out, c.sides[i].competition.Hostnames(*e[i])...)
		}
	}
	return out
}

// draftPair is a class of each side that is not fully split; both have the same parts.
type draftPair struct {
	sides       [2]*draft // nil: the side has no entry for the requests
	classesLeft *int      // how many classes may still come of the path
}

func (d *draftPair) listDrafts() []*draft {
	return slices.DeleteFunc([]*draft{d.sides[0], d.sides[1]}, func(one *draft) bool { return one == nil })
}

// withPart returns what is left of the drafts for one set of texts of a part.
func (d draftPair) withPart(p part) draftPair {
	out := draftPair{classesLeft: d.classesLeft}
	for i, one := range d.sides {
		if one != nil {
			next := one.withPart(p)
			out.sides[i] = &next
		}
	}
	return out
}

func (c *comparer) collectTests(d *draftPair, k partKey) []request.Test {
	var out []request.Test
	for i, one := range d.sides {
		if one != nil {
			out = append(append(out, testsOfPart(one.competitors, k)...),
				one.extraTests(k, c.sides[i].scope.ExtraTests)...)
		}
	}
	return out
}

// splitHost splits the requests of a protocol to the hosts of a name.
func (c *comparer) splitHost(e *entryPair, h hostNames, name string, protocol request.Protocol) {
	host, left := h.exampleHost(name), new(int)
	*left = mostClasses
	d := draftPair{classesLeft: left}
	calls := false // whether a side knows calls; the other one sees them as the HTTP requests that they are
	for i := range c.sides {
		if e[i] == nil {
			continue
		}
		w, entry := &c.sides[i], *e[i]
		one := draft{class: Class{Entry: entry, Request: entry.NewRequest(host, protocol), protocol: protocol,
			hostNames: h, hostName: name}, classesLeft: left}
		all := w.competition.Competitors(entry, request.Destination{Gateway: entry.Gateway}, host, protocol)
		calls = calls || protocol == request.GRPC && len(all) > 0
		if protocol == request.GRPC && len(all) == 0 &&
			len(w.competition.Competitors(entry, request.Destination{Gateway: entry.Gateway}, host, request.HTTP)) > 0 {
			one.class.Unknown = "gRPC requests are told apart by calls on one side, and by HTTPRoutes on the other"
		}
		for j := range all {
			if r, takes := w.newCompetitor(&all[j], name, host); takes {
				one.competitors = append(one.competitors, r)
			}
		}
		d.sides[i] = &one
	}
	switch {
	case protocol == request.GRPC && calls:
		c.splitCalls(d)
	case protocol == request.HTTP:
		c.splitPaths(d)
	}
}

// splitCalls splits gRPC requests to a host.
func (c *comparer) splitCalls(d draftPair) {
	for _, one := range d.listDrafts() {
		for i := range one.competitors {
			for _, t := range one.competitors[i].tests {
				if t.Aspect != request.AspectService && t.Aspect != request.AspectCall &&
					t.Aspect != request.AspectHeader {
					c.emitUnknown(d, "listeners with HTTPRoutes and such with GRPCRoutes share the gRPC requests")
					return
				}
			}
		}
	}
	for _, k := range []partKey{{of: request.AspectService}, {of: request.AspectCall}} {
		if len(c.collectTests(&d, k)) == 0 {
			d = d.withPart(part{partKey: k, splitter: newTextSplitter(valueAlphabet, nil),
				set: textSet{text: "x"}, matchesAll: true})
		}
	}
	c.splitRest(d)
}

// splitPaths splits the requests to a host by path.
func (c *comparer) splitPaths(d draftPair) {
	k := partKey{of: request.AspectPath}
	t := newTextSplitter(pathAlphabet, c.collectTests(&d, k))
	if !t.splitTexts() {
		c.emitUnknown(d, "the regular expressions on paths tell apart more than can be followed")
		return
	}
	var by [2]pathIndex
	for i, one := range d.sides {
		if one != nil {
			by[i] = indexByPath(one.competitors)
		}
	}
	for _, p := range t.sets {
		left := new(int)
		*left = mostClasses
		here := draftPair{classesLeft: left}
		for i, one := range d.sides {
			if one != nil {
				narrowed := *one
				narrowed.competitors, narrowed.classesLeft = by[i].findCompetitors(t, p.text, one.competitors), left
				here.sides[i] = &narrowed
			}
		}
		if c.splitRest(here.withPart(part{partKey: k, splitter: t, set: p})); c.done {
			return
		}
	}
}

// splitRest splits what is left by the parts that the best competitors of either side test.
func (c *comparer) splitRest(d draftPair) {
	var next *request.Test
	for i, one := range d.sides {
		if one == nil {
			continue
		}
		if !c.sides[i].competition.MayDiffer(one.class.Entry) {
			one.competitors = filterCompetitors(one.competitors)
		}
		at := slices.IndexFunc(one.competitors, func(r competitor) bool { return len(r.tests) > 0 })
		if at >= 0 && next == nil {
			next = &one.competitors[at].tests[0]
		}
	}
	for i, one := range d.sides {
		if one == nil || next != nil {
			continue
		}
		if k, more := one.nextExtraPart(c.sides[i].scope.ExtraTests); more && *d.classesLeft > 0 {
			c.splitByPart(d, k)
			return
		}
	}
	switch {
	case next == nil:
		c.emitClass(d)
	case *d.classesLeft <= 0:
		c.emitUnknown(d, "the matches on headers and query parameters tell apart more than can be followed")
	default:
		c.splitByPart(d, partKeyOf(next))
	}
}

// splitByPart splits drafts by one part.
func (c *comparer) splitByPart(d draftPair, k partKey) {
	of := valueAlphabet
	if k.of == request.AspectHeader {
		of = headerAlphabet
	}
	t := newTextSplitter(of, c.collectTests(&d, k))
	if !t.splitTexts() {
		c.emitUnknown(d, "the regular expressions on "+aspectNames[k.of]+" "+k.name+
			" tell apart more than can be followed")
		return
	}
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		if c.splitRest(d.withPart(part{partKey: k, splitter: t, absent: true})); c.done {
			return
		}
	}
	for _, p := range t.sets {
		if k.of == request.AspectMethod {
			p = chooseMethod(t, p)
		}
		if c.splitRest(d.withPart(part{partKey: k, splitter: t, set: p})); c.done {
			return
		}
	}
}

// emitClass asks both sides what becomes of a class, and hands it on.
func (c *comparer) emitClass(d draftPair) {
	*d.classesLeft--
	var p Pair
	for i, one := range d.sides {
		if one == nil {
			continue
		}
		var class *Class
		w := &c.sides[i]
		w.see = func(found *Class) bool { class = found; return true }
		own := *one
		own.classesLeft = new(int)
		if w.emitClass(own); w.err != nil {
			c.done, c.err = true, w.err
			return
		}
		for j := range own.competitors {
			class.rules = append(class.rules, own.competitors[j].Rule)
		}
		// of a connection that is passed on
		if taker := class.Answer.Rule; taker != topology.None && !slices.Contains(class.rules, taker) {
			class.rules = append(class.rules, taker)
		}
		*[]**Class{&p.Before, &p.After}[i] = class
	}
	if !c.see(&p) {
		c.done = true
	}
}

func (c *comparer) emitUnknown(d draftPair, why string) {
	for _, one := range d.listDrafts() {
		one.class.Unknown = why
	}
	c.emitClass(d)
}

// CompetingRules returns the rules that may take the requests of a class of Compare, the best
// first. Those after one that is certain to hold for all of them are left out. A rule may stand
// there several times.
func (c *Class) CompetingRules() []topology.NodeID { return c.rules }

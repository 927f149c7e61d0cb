package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostSamples is for how many rules samples are looked for.
const mostSamples = 100

// Samples finds for some rules a request that a match of the rule holds for, whatever rule takes it, and what becomes of it. Rules for which none is found
// are left out.
func Samples(m *request.Matcher, s Scope, rules []topology.NodeID) (map[topology.NodeID]*Class, error) {
	out, left := map[topology.NodeID]*Class{}, map[topology.NodeID]bool{}
	for _, rule := range rules[:min(len(rules), mostSamples)] {
		left[rule] = true
	}
	w := walker{m: request.Competition{Matcher: m}, scope: &s}
	for _, e := range w.m.Entries(s.Where) {
		h := newHosts(w.m.Names(e))
		for _, name := range h.sorted() {
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if len(left) == 0 {
					return out, nil
				}
				where, host := request.Where{Gateway: e.Gateway, Listener: s.Where.Listener}, h.one(name)
				all := w.m.Competing(e, where, host, protocol)
				for i := range all {
					c := &all[i]
					if !left[c.Rule] || c.Open {
						continue
					}
					r, found := w.sample(c, name, e.At(host, protocol))
					if !found {
						continue
					}
					a, err := w.m.Take(r, where)
					if err != nil {
						return nil, err
					}
					delete(left, c.Rule)
					out[c.Rule] = &Class{Entry: e, Request: a.Request, Answer: a, protocol: protocol, hosts: h, host: name}
				}
			}
		}
	}
	return out, nil
}

// sample makes a request to a host one that a match holds for.
func (w *walker) sample(c *request.Competitor, name string, r request.Request) (request.Request, bool) {
	rival, takes := w.rival(c, name, r.Host)
	if !takes || rival.open {
		return r, false
	}
	for i := range rival.tests {
		test := &rival.tests[i]
		of := values
		switch test.Of {
		case request.AspectPath:
			of = paths
		case request.AspectHeader:
			of = trimmed
		}
		t := newTexts(of, rival.tests[i:i+1], w.m.Unanchored())
		if !t.split() {
			return r, false
		}
		at := slices.IndexFunc(t.pieces, func(p piece) bool { return t.holds(test, &p) })
		if at < 0 {
			return r, false
		}
		p := part{key: keyOf(test), texts: t, piece: t.pieces[at]}
		p.put(&r)
	}
	if r.Protocol == request.GRPC {
		for _, text := range []*string{&r.Service, &r.Call} {
			if *text == "" {
				*text = "x"
			}
		}
		r.Path = "/" + r.Service + "/" + r.Call
	}
	return r, true
}

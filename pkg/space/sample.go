package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostSamples is for how many rules samples are looked for.
const mostSamples = 100

// FindSamples finds for some rules a request that a match of the rule holds for, whatever rule
// takes it, and what becomes of it. Rules for which none is found are left out.
func FindSamples(m *request.Matcher, s Scope, rules []topology.NodeID) (map[topology.NodeID]*Class, error) {
	out, left := map[topology.NodeID]*Class{}, map[topology.NodeID]bool{}
	for _, rule := range rules[:min(len(rules), mostSamples)] {
		left[rule] = true
	}
	w := walker{competition: request.Competition{Matcher: m}, scope: &s}
	for _, e := range w.competition.Entries(s.Destination) {
		h := newHostNames(w.competition.Hostnames(e))
		for _, name := range h.sortNames() {
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if len(left) == 0 {
					return out, nil
				}
				where, host := request.Destination{Gateway: e.Gateway,
					Listener: s.Destination.Listener}, h.exampleHost(name)
				all := w.competition.Competitors(e, where, host, protocol)
				for i := range all {
					c := &all[i]
					if !left[c.Rule] || c.AttachmentUnknown {
						continue
					}
					r, found := w.buildSample(c, name, e.NewRequest(host, protocol))
					if !found {
						continue
					}
					a, err := w.competition.FindRule(r, where)
					if err != nil {
						return nil, err
					}
					delete(left, c.Rule)
					out[c.Rule] = &Class{Entry: e, Request: a.Request, Answer: a, protocol: protocol, hostNames: h,
						hostName: name}
				}
			}
		}
	}
	return out, nil
}

// buildSample makes a request to a host one that a match holds for.
func (w *walker) buildSample(c *request.Competitor, name string, r request.Request) (request.Request, bool) {
	rival, takes := w.newCompetitor(c, name, r.Host)
	if !takes || rival.uncertain {
		return r, false
	}
	for i := range rival.tests {
		test := &rival.tests[i]
		of := valueAlphabet
		switch test.Aspect {
		case request.AspectPath:
			of = pathAlphabet
		case request.AspectHeader:
			of = headerAlphabet
		}
		t := newTextSplitter(of, rival.tests[i:i+1])
		if !t.splitTexts() {
			return r, false
		}
		at := slices.IndexFunc(t.sets, func(p textSet) bool { return t.isTestMet(test, &p) })
		if at < 0 {
			return r, false
		}
		p := part{partKey: partKeyOf(test), splitter: t, set: t.sets[at]}
		p.applyTo(&r)
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

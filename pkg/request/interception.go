package request

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostInterceptionSteps is how many matches are looked at at most to find those that overtake
// others at one listener.
const mostInterceptionSteps = 5_000_000

// Interception is a rule that takes requests which a rule of another route would take, were it not
// there.
type Interception struct {
	Rule, From topology.NodeID
	Answer     *Answer // to one of these requests
}

// FindInterceptions finds rules that have a more specific match than a rule of another route, for
// the same hostname at a listener. It looks only at rules for which takes is true, and at what they
// take from those for which loses is true. Matches with a regular expression are left out. all is
// false where there are too many matches to look at all of them.
func (m Competition) FindInterceptions(gateway, listener topology.NodeID, takes,
	loses func(rule topology.NodeID) bool) (out []Interception, all bool) {
	facts := m.graph.Listener(listener)
	if !facts.Accepted || facts.Protocol != "HTTP" && facts.Protocol != "HTTPS" {
		return nil, true
	}
	o := interceptionFinder{competition: m, settings: m.settingsAt(gateway), loses: loses,
		stepsLeft: mostInterceptionSteps, seen: map[[2]topology.NodeID]bool{},
		entry: Entry{Gateway: gateway, Port: facts.Port, Secure: facts.Protocol == "HTTPS"}}
	for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
		hosts := m.findIndex(listener)[kind]
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			b := hosts[host]
			if !slices.ContainsFunc(b.listCandidates(), func(c candidate) bool { return loses(c.rule) }) {
				continue
			}
			for _, c := range b.sortedCandidates() {
				if takes(c.rule) && !isDelegating(m.graph, c.rule) {
					o.findFor(b, host, &c)
				}
				if o.stepsLeft <= 0 {
					return o.found, false
				}
			}
		}
	}
	return o.found, true
}

// sortedCandidates returns the candidates of a bucket in an order that does not depend on how they
// are kept.
func (b *bucket) sortedCandidates() []candidate {
	out := slices.Clone(b.listCandidates())
	slices.SortFunc(out, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.rule, y.rule), cmp.Compare(x.matchIndex, y.matchIndex))
	})
	return out
}

// interceptionFinder looks at the candidates of one hostname.
type interceptionFinder struct {
	competition Competition
	settings    *matchSettings
	loses       func(rule topology.NodeID) bool
	entry       Entry
	found       []Interception
	seen        map[[2]topology.NodeID]bool // pairs of rules that were asked about
	stepsLeft   int
}

// findFor looks for what a candidate takes from others: for each match that it shares requests
// with, it asks once who would take these.
func (o *interceptionFinder) findFor(b *bucket, host string, c *candidate) {
	if c.match == nil || c.openReason != "" || c.match.hasExpression() || c.match.hasRedactedValue() {
		return
	}
	rivals := o.findRivals(b, host, c)
	o.stepsLeft -= len(rivals)
	asked := map[string]bool{}
	for i := range rivals {
		of := &rivals[i]
		if of.route == c.route || of.match.hasExpression() || of.match.hasRedactedValue() || !o.loses(of.rule) {
			continue
		}
		for _, r := range o.buildSharedRequests(host, c.match, of.match) {
			key := fmt.Sprint(r.Method, r.Path, r.Headers, r.Query)
			if asked[key] {
				continue
			}
			asked[key] = true
			if o.stepsLeft -= len(rivals); o.stepsLeft <= 0 {
				return
			}
			o.checkRequest(rivals, &r, c)
		}
	}
}

// checkRequest notes a request that a candidate takes, if a less specific match of another route
// would take it were its rule not there.
func (o *interceptionFinder) checkRequest(rivals []candidate, r *Request, c *candidate) {
	next := o.findNext(rivals, r, c)
	if next == nil || next.route == c.route || !o.loses(next.rule) || isDelegating(o.competition.graph, next.rule) {
		return
	}
	pair := [2]topology.NodeID{c.rule, next.rule}
	if order, _ := o.settings.compare(c, next); order >= 0 || o.seen[pair] {
		return
	}
	o.seen[pair] = true
	if a, err := o.competition.FindRule(*r, Destination{Gateway: o.entry.Gateway}); err == nil && !a.RuleUncertain &&
		a.Rule == c.rule {
		o.found = append(o.found, Interception{c.rule, next.rule, a})
	}
}

// findRivals returns the candidates that may hold for requests to the path of one.
func (o *interceptionFinder) findRivals(b *bucket, host string, c *candidate) []candidate {
	if c.match.grpc {
		return b.listCandidates()
	}
	var out []candidate
	r := o.entry.NewRequest(host, HTTP)
	r.Path = c.match.path.value
	b.eachCandidate(&r, o.settings, func(cs []candidate) { out = append(out, cs...) })
	return out
}

// buildSharedRequests returns requests for which two matches hold, with no more than the two ask
// for; none if there is no such request.
func (o *interceptionFinder) buildSharedRequests(host string, a, b *match) []Request {
	switch {
	case host == "":
		host = "any.example"
	case strings.HasPrefix(host, "*."):
		host = "any" + host[1:]
	}
	if a.grpc {
		r := o.entry.NewRequest(host, GRPC)
		r.Service, r.Call = cmp.Or(a.service.value, b.service.value, "any.Service"), cmp.Or(a.call.value,
			b.call.value, "Any")
		r.Path = "/" + r.Service + "/" + r.Call
		return o.addFields(r, a, b)
	}
	r := o.entry.NewRequest(host, HTTP)
	r.Method = cmp.Or(a.method, b.method, r.Method)
	r.Path = cmp.Or(a.path.value, "/")
	out := o.addFields(r, a, b)
	if out != nil && a.path.form == prefix { // where an exact match takes the path itself
		below := out[0]
		below.Path = trimSlash(a.path.value) + "/any"
		out = append(out, below)
	}
	return out
}

// addFields gives a request the headers and query parameters that two matches ask for; nil if they
// contradict each other.
func (o *interceptionFinder) addFields(r Request, a, b *match) []Request {
	for _, v := range slices.Concat(a.headers, b.headers) {
		value, there := r.findHeader(v.name)
		switch {
		case there && value != v.value:
			return nil
		case !there:
			r.Headers = append(r.Headers, Field{v.name, v.value})
		}
	}
	for _, v := range slices.Concat(a.query, b.query) {
		value, there := r.findParameter(v.name)
		switch {
		case there && value != v.value:
			return nil
		case !there:
			r.Query = append(r.Query, Field{v.name, v.value})
		}
	}
	for _, m := range []*match{a, b} {
		if holds, _ := o.settings.matchCandidate(&candidate{match: m}, &r); holds != yes {
			return nil
		}
	}
	return []Request{r}
}

// findNext returns the candidate that would take a request without the rule of one that takes it;
// nil if the given one does not take it, or that is not known.
func (o *interceptionFinder) findNext(rivals []candidate, r *Request, c *candidate) *candidate {
	var with, without []candidate
	for i := range rivals {
		one := &rivals[i]
		holds, _ := o.settings.matchCandidate(one, r)
		switch {
		case holds == no:
			continue
		case holds == maybe || one.openReason != "":
			return nil
		}
		with = append(with, *one)
		if one.rule != c.rule {
			without = append(without, *one)
		}
	}
	if first := o.settings.findBest(with); first == nil || first.rule != c.rule {
		return nil
	}
	return o.settings.findBest(without)
}

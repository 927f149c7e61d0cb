package request

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostOvertakeSteps is how many matches are looked at at most to find those that overtake others at one listener.
const mostOvertakeSteps = 5_000_000

// Overtaking is a rule that takes requests which a rule of another route would take, were it not there.
type Overtaking struct {
	Rule, Of topology.NodeID
	Answer   *Answer // to one of these requests
}

// Overtakings finds rules that have a more specific match than a rule of another route, for the same hostname at a listener. Only rules for which
// takes is true are looked at, and what they take from those for which loses is true. Matches with a regular expression are left out. all is
// false where there are too many matches to look at all of them.
func (m Competition) Overtakings(gateway, listener topology.NodeID, takes, loses func(rule topology.NodeID) bool) (out []Overtaking, all bool) {
	facts := m.graph.Listener(listener)
	if !facts.Accepted || facts.Protocol != "HTTP" && facts.Protocol != "HTTPS" {
		return nil, true
	}
	o := overtaker{m: m, switches: readSwitches(m.settings), loses: loses, left: mostOvertakeSteps, seen: map[[2]topology.NodeID]bool{},
		entry: Entry{Gateway: gateway, Port: facts.Port, Secure: facts.Protocol == "HTTPS"}}
	for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
		hosts := m.at(listener)[kind]
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			b := hosts[host]
			if !slices.ContainsFunc(b.all(), func(c candidate) bool { return loses(c.rule) }) {
				continue
			}
			for _, c := range b.sorted() {
				if takes(c.rule) && !handsOver(m.graph, c.rule) {
					o.from(b, host, &c)
				}
				if o.left <= 0 {
					return o.found, false
				}
			}
		}
	}
	return o.found, true
}

// sorted are the candidates of a bucket in an order that does not depend on how they are kept.
func (b *bucket) sorted() []candidate {
	out := slices.Clone(b.all())
	slices.SortFunc(out, func(x, y candidate) int { return cmp.Or(cmp.Compare(x.rule, y.rule), cmp.Compare(x.nth, y.nth)) })
	return out
}

// overtaker looks at the candidates of one hostname.
type overtaker struct {
	m        Competition
	switches switches
	loses    func(rule topology.NodeID) bool
	entry    Entry
	found    []Overtaking
	seen     map[[2]topology.NodeID]bool // pairs of rules that were asked about
	left     int
}

// from looks for what a candidate takes from others: for each match that it shares requests with, it asks once who would take these.
func (o *overtaker) from(b *bucket, host string, c *candidate) {
	if c.match == nil || c.open != "" || c.match.expressions() || c.match.takenOut() {
		return
	}
	rivals := o.rivals(b, host, c)
	o.left -= len(rivals)
	asked := map[string]bool{}
	for i := range rivals {
		of := &rivals[i]
		if of.route == c.route || of.match.expressions() || of.match.takenOut() || !o.loses(of.rule) {
			continue
		}
		for _, r := range o.shared(host, c.match, of.match) {
			key := fmt.Sprint(r.Method, r.Path, r.Headers, r.Query)
			if asked[key] {
				continue
			}
			asked[key] = true
			if o.left -= len(rivals); o.left <= 0 {
				return
			}
			o.ask(rivals, &r, c)
		}
	}
}

// ask notes who would take a request that a candidate takes, were its rule not there, if a less specific match of another route would that loses by it.
func (o *overtaker) ask(rivals []candidate, r *Request, c *candidate) {
	next := o.next(rivals, r, c)
	if next == nil || next.route == c.route || !o.loses(next.rule) || handsOver(o.m.graph, next.rule) {
		return
	}
	pair := [2]topology.NodeID{c.rule, next.rule}
	if order, _ := o.switches.compare(c, next); order >= 0 || o.seen[pair] {
		return
	}
	o.seen[pair] = true
	if a, err := o.m.Take(*r, Where{Gateway: o.entry.Gateway}); err == nil && !a.Unsettled && a.Rule == c.rule {
		o.found = append(o.found, Overtaking{c.rule, next.rule, a})
	}
}

// rivals are the candidates that may hold for requests to the path of one.
func (o *overtaker) rivals(b *bucket, host string, c *candidate) []candidate {
	if c.match.grpc {
		return b.all()
	}
	var out []candidate
	r := o.entry.At(host, HTTP)
	r.Path = c.match.path.value
	table{host: b}.near(&r, host, func(cs []candidate) { out = append(out, cs...) })
	return out
}

// shared are requests for which two matches hold, without more than the two ask for; none if there is no such request.
func (o *overtaker) shared(host string, a, b *match) []Request {
	switch {
	case host == "":
		host = "any.example"
	case strings.HasPrefix(host, "*."):
		host = "any" + host[1:]
	}
	if a.grpc {
		r := o.entry.At(host, GRPC)
		r.Service, r.Call = cmp.Or(a.service.value, b.service.value, "any.Service"), cmp.Or(a.call.value, b.call.value, "Any")
		r.Path = "/" + r.Service + "/" + r.Call
		return fieldsOf(r, a, b)
	}
	r := o.entry.At(host, HTTP)
	r.Method = cmp.Or(a.method, b.method, r.Method)
	r.Path = cmp.Or(a.path.value, "/")
	out := fieldsOf(r, a, b)
	if out != nil && a.path.form == prefix { // where an exact match takes the path itself
		below := out[0]
		below.Path = stem(a.path.value) + "/any"
		out = append(out, below)
	}
	return out
}

// fieldsOf gives a request the headers and query parameters that two matches ask for; nil if they contradict each other.
func fieldsOf(r Request, a, b *match) []Request {
	for _, v := range slices.Concat(a.headers, b.headers) {
		value, there := r.header(v.name)
		switch {
		case there && value != v.value:
			return nil
		case !there:
			r.Headers = append(r.Headers, Field{v.name, v.value})
		}
	}
	for _, v := range slices.Concat(a.query, b.query) {
		value, there := r.query(v.name)
		switch {
		case there && value != v.value:
			return nil
		case !there:
			r.Query = append(r.Query, Field{v.name, v.value})
		}
	}
	if b.holds(&r, true) != yes || a.holds(&r, true) != yes {
		return nil
	}
	return []Request{r}
}

// next is the candidate that would take a request without the rule of one that takes it; nil if it does not take it, or that is not known.
func (o *overtaker) next(rivals []candidate, r *Request, c *candidate) *candidate {
	var with, without []candidate
	for i := range rivals {
		one := &rivals[i]
		holds := one.match.holds(r, !o.switches.loose)
		switch {
		case holds == no:
			continue
		case holds == maybe || one.open != "":
			return nil
		}
		with = append(with, *one)
		if one.rule != c.rule {
			without = append(without, *one)
		}
	}
	if first := o.switches.best(with); first == nil || first.rule != c.rule {
		return nil
	}
	return o.switches.best(without)
}

package protect

import (
	"net/netip"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// Decision is a list of rules that allows or denies a request, of which some facts are not known:
// who sends it, from where, and what no class of requests tells.
type Decision struct {
	facts    []FactKind
	networks []networkFact
	Allows   func(holds func(Fact) bool) bool
}

// Fact is a thing that a decision looks at, by its number.
type Fact int

// FactKind says what a fact is about.
type FactKind uint8

// The kinds of facts.
const (
	Identity FactKind = iota // the request has a verified credential
	Address                  // it comes from a listed address
	Unknown                  // anything else: an expression, a place, an attribute
)

// mostFacts is of how many facts all combinations are tried.
const mostFacts = 12

// mostPaths is how many ways through a decision of more facts are followed.
const mostPaths = 1 << mostFacts

// AddFact adds a fact.
func (d *Decision) AddFact(k FactKind) Fact {
	d.facts = append(d.facts, k)
	return Fact(len(d.facts) - 1)
}

// networkFact is a fact about networks: an address is in one of them.
type networkFact struct {
	fact     Fact
	address  string // of which the fact is
	networks []netip.Prefix
}

// AddNetworks adds the fact that an address is in one of some networks. Facts about one address are
// not true or false independently: networks are within each other, or apart. name tells addresses
// of a request apart, such as that of the client and that of the connection.
func (d *Decision) AddNetworks(name string, networks []any) Fact {
	f := d.AddFact(Address)
	one := networkFact{fact: f, address: name}
	for _, entry := range networks {
		n, err := netip.ParsePrefix(textOf(entry))
		if err != nil {
			a, err := netip.ParseAddr(textOf(entry))
			if err != nil {
				return f
			}
			n = netip.PrefixFrom(a, a.BitLen())
		}
		one.networks = append(one.networks, n.Masked())
	}
	d.networks = append(d.networks, one)
	return f
}

// addressFacts says which facts about one address can be true together.
type addressFacts struct {
	mask     int
	possible map[int]bool
}

// listAddressFacts tries addresses at the edges of all networks: between edges nothing changes.
func (d *Decision) listAddressFacts() []addressFacts {
	var names []string
	edges := map[string][]netip.Addr{}
	masks := map[string]int{}
	for _, l := range d.networks {
		if masks[l.address] == 0 {
			names = append(names, l.address)
			edges[l.address] = []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
		}
		masks[l.address] |= 1 << l.fact
		for _, n := range l.networks {
			edges[l.address] = append(edges[l.address], n.Addr())
			if next := LastAddress(n).Next(); next.IsValid() {
				edges[l.address] = append(edges[l.address], next)
			}
		}
	}
	var out []addressFacts
	for _, name := range names {
		p := addressFacts{masks[name], map[int]bool{}}
		for _, a := range edges[name] {
			in := 0
			for _, l := range d.networks {
				if l.address == name &&
					slices.ContainsFunc(l.networks, func(n netip.Prefix) bool { return n.Contains(a) }) {
					in |= 1 << l.fact
				}
			}
			p.possible[in] = true
		}
		out = append(out, p)
	}
	return out
}

// Findings is what a decision says of all requests of a class.
type Findings struct {
	// Holds: without a credential every request is refused; Fails: one is known that is not;
	// Depends: that is open
	Anonymous gate.Verdict
	// Holds: some request is refused; Fails: none is; Depends: there are too many rules to tell
	Refuses       gate.Verdict
	Listed        gate.Verdict // Holds: the address matters, whatever else is true; Fails: it does not
	DeniesAll     bool         // every request is refused
	ReadsIdentity bool         // it looks at identities
}

// Judge tries all combinations of the facts that can be.
func (d *Decision) Judge() Findings {
	n := len(d.facts)
	out := Findings{Anonymous: gate.Holds, Refuses: gate.Fails, Listed: gate.Fails, DeniesAll: true}
	if n > mostFacts {
		return d.judgeMany()
	}
	count := func(world int, k FactKind) (bits int) {
		for i, kind := range d.facts {
			if kind == k && world>>i&1 == 1 {
				bits++
			}
		}
		return bits
	}
	mask := func(k FactKind) (m int) {
		for i, kind := range d.facts {
			if kind == k {
				m |= 1 << i
			}
		}
		return m
	}
	identities, addresses, unknowns := mask(Identity), mask(Address), mask(Unknown)
	out.ReadsIdentity = identities != 0
	open, all := map[int]bool{}, map[int]bool{} // by the unknown facts: whether an anonymous request gets through
	everywhere := map[int]bool{}                // by all facts but addresses: whether every address gets through
	places := d.listAddressFacts()
	for world := range 1 << n {
		if slices.ContainsFunc(places, func(p addressFacts) bool { return !p.possible[world&p.mask] }) {
			continue
		}
		allowed := d.Allows(func(f Fact) bool { return world>>int(f)&1 == 1 })
		if allowed {
			out.DeniesAll = false
		} else {
			out.Refuses = gate.Holds
		}
		all[world&unknowns] = true
		if allowed && count(world, Identity) == 0 {
			open[world&unknowns] = true
		}
		others := world &^ addresses
		if before, seen := everywhere[others]; !seen {
			everywhere[others] = allowed
		} else {
			everywhere[others] = before && allowed
		}
	}
	switch {
	case len(open) == len(all):
		out.Anonymous = gate.Fails
	case len(open) > 0:
		out.Anonymous = gate.Depends
	}
	if addresses != 0 {
		out.Listed = gate.Holds
		for _, allowed := range everywhere {
			if allowed {
				out.Listed = gate.Fails
			}
		}
	}
	return out
}

// judgeMany follows the paths through a decision of many facts, each of which looks at few of them.
// What would take all combinations of the facts stays open.
func (d *Decision) judgeMany() Findings {
	out := Findings{Anonymous: gate.Holds, Refuses: gate.Fails, Listed: gate.Depends, DeniesAll: true}
	out.ReadsIdentity = slices.Contains(d.facts, Identity)
	if !slices.Contains(d.facts, Address) {
		out.Listed = gate.Fails
	}
	places := d.listAddressFacts()
	var read []Fact // on this path, in the order in which the decision looks at them
	var values []bool
	for range mostPaths {
		read = read[:0]
		allowed := d.Allows(func(f Fact) bool {
			if i := slices.Index(read, f); i >= 0 {
				return values[i]
			}
			read = append(read, f)
			if len(values) < len(read) {
				values = append(values, false)
			}
			return values[len(read)-1]
		})
		switch {
		case slices.ContainsFunc(places, func(p addressFacts) bool { return !p.isPossible(read, values) }):
		case allowed:
			out.DeniesAll = false
			if one := d.judgeAnonymous(read, values); rankVerdict(one) > rankVerdict(out.Anonymous) {
				out.Anonymous = one
			}
		default:
			out.Refuses = gate.Holds
		}
		values = values[:len(read)]
		for len(values) > 0 && values[len(values)-1] {
			values = values[:len(values)-1]
		}
		if len(values) == 0 {
			return out
		}
		values[len(values)-1] = true
	}
	if out.Refuses == gate.Fails {
		out.Refuses = gate.Depends
	}
	if out.Anonymous == gate.Holds {
		out.Anonymous = gate.Depends
	}
	out.DeniesAll = false
	return out
}

// judgeAnonymous says what a path that lets requests through means for those without a credential.
func (d *Decision) judgeAnonymous(read []Fact, values []bool) gate.Verdict {
	out := gate.Fails
	for i, f := range read {
		switch {
		case d.facts[f] == Identity && values[i]:
			return gate.Holds
		case d.facts[f] == Unknown:
			out = gate.Depends
		}
	}
	return out
}

// isPossible reports whether an address can be in all the networks for which a fact is true, and in
// none of the others.
func (p addressFacts) isPossible(read []Fact, values []bool) bool {
	for known := range p.possible {
		if !slices.ContainsFunc(read, func(f Fact) bool {
			return p.mask>>f&1 == 1 && (known>>f&1 == 1) != values[slices.Index(read, f)]
		}) {
			return true
		}
	}
	return false
}

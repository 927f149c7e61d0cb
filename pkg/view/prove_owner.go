package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// owners finds the hosts whose requests are taken by routes of several namespaces.
type owners struct {
	hosts map[string]*ownedHost
}

// ownedHost are the classes of a host that a backend gets.
type ownedHost struct {
	name   string
	owners map[string]*failures // by the one namespace of the routes that may take them, for the case that it is not the one with the most
	maybe  []*space.Class       // that routes of several namespaces may take
	spaces map[string]bool      // of all that may take some
}

func (o *owners) blind(*space.Class) {}

func (o *owners) see(p *prover, c *space.Class, all []*request.Answer) {
	var found []string
	sure := true
	for _, a := range all {
		if !reaches(a) {
			sure = false
			continue
		}
		if name := p.survey.res.Node(a.Route).Ref.Namespace; !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	h := o.hosts[c.Host()]
	if h == nil {
		h = &ownedHost{name: c.Hosts(), owners: map[string]*failures{}, spaces: map[string]bool{}}
		o.hosts[c.Host()] = h
	}
	for _, name := range found {
		h.spaces[name] = true
	}
	if len(found) > 1 || !sure || c.Unknown != "" {
		h.maybe = append(h.maybe, c.Copy())
		return
	}
	of := h.owners[found[0]]
	if of == nil {
		of = &failures{}
		h.owners[found[0]] = of
	}
	of.add(c, "")
}

func (o *owners) finish(p *prover) error {
	all := slices.SortedFunc(maps.Values(o.hosts), func(a, b *ownedHost) int { return strings.Compare(a.name, b.name) })
	for _, h := range all {
		if len(h.spaces) < 2 {
			continue
		}
		names := slices.Sorted(maps.Keys(h.owners))
		slices.SortStableFunc(names, func(a, b string) int { return h.owners[b].n - h.owners[a].n })
		if len(names) > 1 { // the one with the most is taken to be the owner
			because := fmt.Sprintf("%s belongs to namespace %s as well, whose routes take %s", h.name, names[0],
				Counted(h.owners[names[0]].n, "class of its requests|classes of its requests"))
			for _, name := range names[1:] {
				p.failedAll(h.owners[name], because)
			}
		}
		for _, c := range h.maybe {
			p.reopened(c, fmt.Sprintf("routes of namespaces %s take requests to %s, and it is not known which take these", strings.Join(slices.Sorted(maps.Keys(h.spaces)), " and "), h.name))
		}
	}
	return nil
}

// failedAll moves classes that were counted already as such for which it holds to those for which it does not.
func (p *prover) failedAll(all *failures, because string) {
	p.out.Protected -= all.n
	p.out.unprotected += all.n
	for _, f := range all.of {
		f.because = because
		p.failures.note(f, false)
	}
}

// mostPairs is how many pairs of classes of one place are held against each other.
const mostPairs = 500_000

// byHeaders finds requests whose headers alone decide of which namespace the route is that takes them. It looks at one place after the other.
type byHeaders struct {
	place   space.Place
	classes []ownedClass // of the place
	maybe   []*space.Class
	told    map[*space.Class]bool
}

// ownedClass is a class that only routes of one namespace may take.
type ownedClass struct {
	space string
	*space.Class
}

func (b *byHeaders) blind(*space.Class) {}

func (b *byHeaders) see(p *prover, c *space.Class, all []*request.Answer) {
	var found []string
	none := false
	for _, a := range all {
		if a.Route == topology.None {
			none = true
		} else if name := p.survey.res.Node(a.Route).Ref.Namespace; !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	if at := c.Place(); at != b.place {
		b.next(p)
		b.place = at
	}
	if len(found) == 1 && !none && c.Unknown == "" {
		b.classes = append(b.classes, ownedClass{found[0], c.Copy()})
	} else {
		b.maybe = append(b.maybe, c.Copy())
	}
}

func (b *byHeaders) finish(p *prover) error {
	b.next(p)
	return nil
}

// next judges the place, and makes room for another one.
func (b *byHeaders) next(p *prover) {
	slices.SortStableFunc(b.classes, func(x, y ownedClass) int { return strings.Compare(x.space, y.space) })
	pairs := 0
	for i, c := range b.classes {
		for _, o := range b.classes[:i] {
			if o.space == c.space {
				break
			}
			if pairs++; pairs > mostPairs {
				p.undecided(c.Class, "on its path, headers and query parameters tell apart more than can be compared")
				break
			}
			b.compare(p, c.Class, o.Class)
		}
	}
	if len(b.maybe) > 0 && len(b.classes)+len(b.maybe) > 1 {
		p.undecided(b.maybe[0], "of which namespace the route is that takes some requests on this path is not known")
	}
	b.classes, b.maybe = b.classes[:0], b.maybe[:0]
	clear(b.told)
}

// compare holds two classes of one place against each other that routes of different namespaces take.
func (b *byHeaders) compare(p *prover, c, o *space.Class) {
	if len(o.Request.Headers) > len(c.Request.Headers) {
		c, o = o, c
	}
	if b.told[c] || b.told[o] {
		return
	}
	of, with, how := c.ButHeaders(o)
	switch b.told[c] = how != space.Otherwise; how {
	case space.PerhapsAlike:
		p.reopened(c, "whether it differs from "+o.Request.Text+" in its headers alone is not known")
	case space.AlikeButHeaders:
		one := *c
		one.Request = of
		p.failed(&one, fmt.Sprintf("%s goes to %s", command(&with), p.survey.res.Node(o.Answer.Rule).Ref))
	}
}

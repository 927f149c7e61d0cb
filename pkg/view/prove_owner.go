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
	classes map[string][]*space.Class // by the one namespace of the routes that may take them
	maybe   []*space.Class            // that routes of several namespaces may take
	spaces  map[string]bool           // of all that may take some
}

func (o *owners) blind(*space.Class) {}

func (o *owners) see(p *prover, c *space.Class, all []*request.Answer) {
	found, sure := map[string]bool{}, true
	for _, a := range all {
		if !reaches(a) {
			sure = false
			continue
		}
		found[p.survey.res.Node(a.Route).Ref.Namespace] = true
	}
	if len(found) == 0 {
		return
	}
	h := o.hosts[c.Hosts()]
	if h == nil {
		h = &ownedHost{classes: map[string][]*space.Class{}, spaces: map[string]bool{}}
		o.hosts[c.Hosts()] = h
	}
	for name := range found {
		h.spaces[name] = true
		if len(found) == 1 && sure && c.Unknown == "" {
			h.classes[name] = append(h.classes[name], c)
			return
		}
	}
	h.maybe = append(h.maybe, c)
}

func (o *owners) finish(p *prover) error {
	for _, host := range slices.Sorted(maps.Keys(o.hosts)) {
		h := o.hosts[host]
		if len(h.spaces) < 2 {
			continue
		}
		names := slices.Sorted(maps.Keys(h.classes))
		slices.SortStableFunc(names, func(a, b string) int { return len(h.classes[b]) - len(h.classes[a]) })
		if len(names) > 1 { // the one with the most is taken to be the owner
			for _, name := range names[1:] {
				for _, c := range h.classes[name] {
					p.failed(c, fmt.Sprintf("%s belongs to namespace %s as well, whose routes take %s", host, names[0], Counted(len(h.classes[names[0]]), "class of its requests|classes of its requests")))
				}
			}
		}
		for _, c := range h.maybe {
			p.reopened(c, fmt.Sprintf("routes of namespaces %s take requests to %s, and it is not known which take these", strings.Join(slices.Sorted(maps.Keys(h.spaces)), " and "), host))
		}
	}
	return nil
}

// mostPairs is how many pairs of classes of one place are held against each other.
const mostPairs = 500_000

// byHeaders finds requests whose headers alone decide of which namespace the route is that takes them.
type byHeaders struct {
	places map[string]*headerPlace
	order  []string
	told   map[*space.Class]bool
}

type headerPlace struct {
	classes map[string][]*space.Class // by the one namespace of the routes that may take them
	maybe   []*space.Class
}

func (b *byHeaders) blind(*space.Class) {}

func (b *byHeaders) see(p *prover, c *space.Class, all []*request.Answer) {
	found, none := map[string]bool{}, false
	for _, a := range all {
		if a.Route != topology.None {
			found[p.survey.res.Node(a.Route).Ref.Namespace] = true
		} else {
			none = true
		}
	}
	if len(found) == 0 {
		return
	}
	key := c.Place()
	at := b.places[key]
	if at == nil {
		at = &headerPlace{classes: map[string][]*space.Class{}}
		b.places[key], b.order = at, append(b.order, key)
	}
	for name := range found {
		if len(found) == 1 && !none && c.Unknown == "" {
			at.classes[name] = append(at.classes[name], c)
			return
		}
	}
	at.maybe = append(at.maybe, c)
}

func (b *byHeaders) finish(p *prover) error {
	for _, key := range b.order {
		at := b.places[key]
		names := slices.Sorted(maps.Keys(at.classes))
		pairs := 0
		for i, name := range names {
			for _, c := range at.classes[name] {
				for _, other := range names[:i] {
					for _, o := range at.classes[other] {
						if pairs++; pairs > mostPairs {
							p.undecided(c, "on its path, headers and query parameters tell apart more than can be compared")
							break
						}
						b.compare(p, c, o)
					}
				}
			}
		}
		if len(at.maybe) > 0 && (len(names) > 0 || len(at.maybe) > 1) {
			p.undecided(at.maybe[0], "of which namespace the route is that takes some requests on this path is not known")
		}
	}
	return nil
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

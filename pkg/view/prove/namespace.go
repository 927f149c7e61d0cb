package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// hostOwnerCheck finds the hosts whose requests are taken by routes of several namespaces.
type hostOwnerCheck struct {
	hosts map[string]*ownedHost
}

// ownedHost holds the classes of a host whose requests a backend gets.
type ownedHost struct {
	name       string
	owners     map[string]*failingRules // by the one namespace whose routes may take them
	uncertain  []*space.Class           // that routes of several namespaces may take
	namespaces map[string]bool          // of all that may take some
}

func (o *hostOwnerCheck) addUnknown(*space.Class) {}

func (o *hostOwnerCheck) addClass(p *prover, c *space.Class, all []*request.Answer) {
	var found []string
	sure := true
	for _, a := range all {
		if !requests.IsSentToBackend(a) {
			sure = false
			continue
		}
		if name := p.collector.Resolution.Node(a.Route).Ref.Namespace; !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	h := o.hosts[c.HostName()]
	if h == nil {
		h = &ownedHost{name: c.HostText(), owners: map[string]*failingRules{}, namespaces: map[string]bool{}}
		o.hosts[c.HostName()] = h
	}
	for _, name := range found {
		h.namespaces[name] = true
	}
	if len(found) > 1 || !sure || c.Unknown != "" {
		h.uncertain = append(h.uncertain, c.Copy())
		return
	}
	of := h.owners[found[0]]
	if of == nil {
		of = &failingRules{}
		h.owners[found[0]] = of
	}
	of.add(c, "")
}

func (o *hostOwnerCheck) finishCheck(p *prover) error {
	all := slices.SortedFunc(maps.Values(o.hosts), func(a, b *ownedHost) int { return strings.Compare(a.name, b.name) })
	for _, h := range all {
		if len(h.namespaces) < 2 {
			continue
		}
		names := slices.Sorted(maps.Keys(h.owners))
		slices.SortStableFunc(names, func(a, b string) int { return h.owners[b].classes - h.owners[a].classes })
		if len(names) > 1 { // the namespace with the most classes is taken to be the owner
			because := fmt.Sprintf("%s belongs to namespace %s as well, whose routes take %s", h.name, names[0],
				view.FormatCount(h.owners[names[0]].classes, "class of its requests|classes of its requests"))
			for _, name := range names[1:] {
				p.moveAllToFailed(h.owners[name], because)
			}
		}
		for _, c := range h.uncertain {
			p.moveToUndecided(c,
				fmt.Sprintf("routes of namespaces %s take requests to %s, and nothing that was read tells which take these",
					strings.Join(slices.Sorted(maps.Keys(h.namespaces)), " and "), h.name))
		}
	}
	return nil
}

// moveAllToFailed moves classes that were counted as fulfilling the property to those for which it
// does not hold.
func (p *prover) moveAllToFailed(all *failingRules, because string) {
	p.out.Protected -= all.classes
	p.out.unprotected += all.classes
	for _, f := range all.byRule {
		f.because = because
		p.failures.addClasses(f, false)
	}
}

// mostPairs is how many pairs of classes of one place are held against each other.
const mostPairs = 500_000

// headerCheck finds requests whose headers alone decide which namespace the route that takes them
// is in. It looks at the classes of one host and path at a time.
type headerCheck struct {
	hostPath  space.HostPath
	classes   []ownedClass // of the place
	uncertain []*space.Class
	reported  map[*space.Class]bool
}

// ownedClass is a class that only routes of one namespace may take.
type ownedClass struct {
	namespace string
	*space.Class
}

func (b *headerCheck) addUnknown(*space.Class) {}

func (b *headerCheck) addClass(p *prover, c *space.Class, all []*request.Answer) {
	var found []string
	none := false
	for _, a := range all {
		if a.Route == topology.None {
			none = true
		} else if name := p.collector.Resolution.Node(a.Route).Ref.Namespace; !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	if at := c.HostPath(); at != b.hostPath {
		b.finishHostPath(p)
		b.hostPath = at
	}
	if len(found) == 1 && !none && c.Unknown == "" {
		b.classes = append(b.classes, ownedClass{found[0], c.Copy()})
	} else {
		b.uncertain = append(b.uncertain, c.Copy())
	}
}

func (b *headerCheck) finishCheck(p *prover) error {
	b.finishHostPath(p)
	return nil
}

// finishHostPath compares the classes of the current host and path and makes room for the next
// ones.
func (b *headerCheck) finishHostPath(p *prover) {
	slices.SortStableFunc(b.classes, func(x, y ownedClass) int { return strings.Compare(x.namespace, y.namespace) })
	pairs := 0
	for i, c := range b.classes {
		for _, o := range b.classes[:i] {
			if o.namespace == c.namespace {
				break
			}
			if pairs++; pairs > mostPairs {
				p.addUndecidedClass(c.Class,
					"on its path, headers and query parameters tell apart more than can be compared")
				break
			}
			b.compareClasses(p, c.Class, o.Class)
		}
	}
	if len(b.uncertain) > 0 && len(b.classes)+len(b.uncertain) > 1 {
		p.addUndecidedClass(b.uncertain[0],
			"of which namespace the route is that takes some requests on this path is not known")
	}
	b.classes, b.uncertain = b.classes[:0], b.uncertain[:0]
	clear(b.reported)
}

// compareClasses compares two classes of one host and path that routes of different namespaces
// take.
func (b *headerCheck) compareClasses(p *prover, c, o *space.Class) {
	if len(o.Request.Headers) > len(c.Request.Headers) {
		c, o = o, c
	}
	if b.reported[c] || b.reported[o] {
		return
	}
	of, with, how := c.CompareHeaders(o)
	switch b.reported[c] = how != space.DifferInMore; how {
	case space.MayDifferInHeaders:
		p.moveToUndecided(c, "whether it differs from "+o.Request.Text+" in its headers alone is not known")
	case space.DifferInHeaders:
		one := *c
		one.Request = of
		p.moveToFailed(&one, fmt.Sprintf("%s goes to %s", requests.FormatCommand(&with),
			p.collector.Resolution.Node(o.Answer.Rule).Ref))
	}
}

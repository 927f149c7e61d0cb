package topology

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// taken is what the listeners that come first have of one socket.
type taken struct {
	families   []*listener // the first of each family of protocols
	byHostname map[string]*listener
}

// inWay is the listener that keeps l out, nil if none does.
func (t *taken) inWay(l *listener) (first *listener, reason string) {
	for _, other := range t.families {
		if other.family() != l.family() || l.alone() {
			return other, protocolConflict
		}
	}
	return t.byHostname[l.hostname], hostnameConflict
}

func (t *taken) admit(l *listener) {
	if !slices.ContainsFunc(t.families, func(o *listener) bool { return o.family() == l.family() }) {
		t.families = append(t.families, l)
	}
	if _, known := t.byHostname[l.hostname]; !known {
		t.byHostname[l.hostname] = l
	}
}

// across judges the listeners of ListenerSets against those that come before them: the first one wins, later ones are refused
// (gatewayapi G23, G28). All of the Gateway's own come first, also those that are refused inside it: nobody wins there, and a set that
// got the hostname because the Gateway's owner wrote it twice would lose it again when that is mended. Of the sets only listeners
// that were not refused are in the way of others. A set that conflicts with itself is judged in the order of its document.
func (c *contest) across() {
	if len(c.joined) == 0 {
		return
	}
	ports := map[socket]*taken{}
	at := func(s socket) *taken {
		if ports[s] == nil {
			ports[s] = &taken{byHostname: map[string]*listener{}}
		}
		return ports[s]
	}
	for _, g := range c.group {
		own := c.listenersOf(g)
		for i := range own {
			if s, ok := own[i].claims(); ok {
				at(s).admit(&own[i])
			}
		}
	}
	aged := c.bySeniority()
	for _, i := range c.joined {
		set := &c.sets[i]
		own := c.listenersOf(set.id)
		var refused []string
		disputed := ""
		for i := range own {
			l := &own[i]
			s, ok := l.claims()
			if !ok {
				continue
			}
			first, reason := at(s).inWay(l)
			if first == nil {
				at(s).admit(l)
				continue
			}
			l.refuse(reason, first.seenFrom(l), !IsListenerSet(first.ref.GroupKind()))
			refused = append(refused, l.ref.Section)
			if disputed == "" && IsListenerSet(first.ref.GroupKind()) && first.ref.Whole() != l.ref.Whole() {
				disputed = first.ref.Whole().String()
			}
		}
		c.reportRefused(set, refused, disputed, aged)
	}
}

// bySeniority sorts the ListenerSets by age and then by name (gatewayapi G23), and reports whether their ages counted: if any has none they are
// sorted by name alone, because comparing pair by pair would make the winner depend on the order of the input (G47).
func (c *contest) bySeniority() bool {
	aged := !slices.ContainsFunc(c.joined, func(i int) bool { return c.sets[i].object.Created.IsZero() })
	slices.SortFunc(c.joined, func(x, y int) int {
		a, b := c.sets[x].object, c.sets[y].object
		age := 0
		if aged {
			age = a.Created.Compare(b.Created)
		}
		return cmp.Or(age, cmp.Compare(a.Ref.FullName(), b.Ref.FullName()), a.Ref.Compare(b.Ref))
	})
	return aged
}

// reportRefused reports the listeners of a set that gave way. Where one gave way to another set for its name, another order of the sets
// would change who wins.
func (c *contest) reportRefused(set *listenerSet, names []string, disputed string, aged bool) {
	if len(names) == 0 {
		return
	}
	c.problem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " take no traffic: listeners that come before them at " + c.nodes[set.Gateway].Ref.String() + " have their place",
		Hint:    "give each a port, or a hostname, of its own"}, set.object, "spec", "listeners")
	if disputed != "" && !aged {
		c.problem(model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
			Message: "listeners of " + disputed + " come first by name: no creation time of every listener set of the Gateway is known; by age another one may win",
			Hint:    "read the objects from a cluster, or write metadata.creationTimestamp"}, set.object)
	}
}

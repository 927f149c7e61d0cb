package istio

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var destinationRuleKind = model.GroupKind{Group: networkingGroup, Kind: "DestinationRule"}

// hosts are what DestinationRules mean by their host, and which of them count there.
type hosts struct {
	of    map[model.Ref][]model.Ref // by rule: the Services and ServiceEntries, or the host itself
	elder map[model.Ref]string      // by what they mean: the namespace whose rules count there
	alone map[model.Ref]bool        // by what they mean: the root namespace has rules for itself alone
}

// readHosts finds what every DestinationRule is about.
func readHosts(in *model.Snapshot, root string) hosts {
	h := hosts{of: map[model.Ref][]model.Ref{}, elder: map[model.Ref]string{}, alone: map[model.Ref]bool{}}
	entries := map[string][]model.Ref{}
	for _, o := range in.Of(serviceEntryKind) {
		for _, host := range o.Body.At("spec", "hosts").Items {
			entries[host.Text()] = append(entries[host.Text()], o.Ref)
		}
	}
	for _, o := range in.Of(destinationRuleKind) {
		host := o.Text("spec", "host")
		refs := slices.Clone(entries[host])
		if name, ns := serviceOf(host, o.Ref.Namespace); in.Get(model.Ref{Kind: "Service", Namespace: ns, Name: name}) != nil {
			refs = append(refs, model.Ref{Kind: "Service", Namespace: ns, Name: name})
		}
		if len(refs) == 0 && host != "" {
			refs = []model.Ref{{Group: networkingGroup, Kind: "Hostname", Namespace: o.Ref.Namespace, Name: host}}
		}
		h.of[o.Ref] = refs
		for _, ref := range refs {
			h.alone[ref] = h.alone[ref] || o.Ref.Namespace == root && private(o)
			if known, ok := h.elder[ref]; !ok || o.Ref.Namespace == ref.Namespace {
				h.elder[ref] = o.Ref.Namespace
			} else if known != ref.Namespace && known != o.Ref.Namespace {
				h.elder[ref] = "" // rules of several clients' namespaces
			}
		}
	}
	return h
}

// serviceOf is the Service that a host means to a rule of a namespace: a name without dots is one there, and one with dots is in full.
func serviceOf(host, namespace string) (name, ns string) {
	if !strings.Contains(host, ".") {
		return host, namespace
	}
	short, full := strings.CutSuffix(host, ".svc.cluster.local")
	if !full {
		return "", ""
	}
	name, ns, _ = strings.Cut(short, ".")
	return name, ns
}

// almost is the Service that was meant by a host which is neither a plain name nor in full; "": none.
func almost(in *model.Snapshot, host string) string {
	name, ns, _ := strings.Cut(strings.TrimSuffix(host, ".svc"), ".")
	if in.Get(model.Ref{Kind: "Service", Namespace: ns, Name: name}) == nil {
		return ""
	}
	return name + "." + ns + ".svc.cluster.local"
}

// destinations finds what a DestinationRule is about. Which rule a client takes depends on its namespace, then on that of the Service: only
// those of one namespace are shown.
func destinations(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.LegFinder {
	root := readMesh(in, s).root
	h := readHosts(in, root)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		note := func(severity model.Severity, format string, args ...any) []model.Problem {
			return []model.Problem{model.Problem{Severity: severity, Code: model.NotEvaluated, Message: fmt.Sprintf(format, args...)}.At(p.Object)}
		}
		if p.Object.Body.At("spec", "workloadSelector").Len() > 0 {
			return nil, note(model.Warning, "it is for clients with some labels only, which is not evaluated: it is left out of the answer")
		}
		if strings.Contains(p.Object.Text("spec", "host"), "*") {
			return nil, note(model.Warning, "its host is a pattern, which is not evaluated: it is left out of the answer")
		}
		if !serves(p.Object, root) {
			return nil, note(model.Warning, "it is for clients of other namespaces only, which are not evaluated: it is left out of the answer")
		}
		var out []topology.NodeID
		problems := revised(p)
		for _, ref := range h.of[p.Ref()] {
			if full := almost(in, ref.Name); ref.Kind == "Hostname" && full != "" {
				problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached, Message: fmt.Sprintf("its host %s is no Service to Istio, which completes names without dots only", ref.Name),
					Hint: "write " + full}.At(p.Object))
			}
			switch home := h.elder[ref]; {
			case home != p.Ref().Namespace:
				problems = append(problems, note(model.Warning, "for clients of namespace %s it comes before those of others; which rules a client of which namespace takes is not evaluated", p.Ref().Namespace)...)
			default:
				out = append(out, g.Lookup(ref)...)
				switch {
				case home == root && h.alone[ref] && !private(p.Object):
					problems = append(problems, note(model.Warning, "clients of the root namespace take the rules that are for them alone, which are shown; what it says of %s holds for other clients", ref)...)
				case home == ref.Namespace:
				case home == root && (len(exports(p.Object)) == 0 || slices.Contains(exports(p.Object), "*")):
					problems = append(problems, note(model.Info, "what it says of %s holds for clients of all namespaces, as it is in the root namespace", ref)...)
				default:
					problems = append(problems, note(model.Info, "what it says of %s holds for clients of namespace %s", ref, home)...)
				}
			}
		}
		return out, problems
	}
}

// destination is what DestinationRules make of a host: their subsets together, and the first traffic policy.
func destination(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if len(in.Of(destinationRuleKind)) == 0 {
		return nil
	}
	apart, root := s.Bool("istio.enableEnhancedDestinationRuleMerge"), readMesh(in, s).root
	return func(id topology.NodeID) *policy.Situation {
		if g.Node(id).Role != topology.Backend {
			return nil
		}
		return &policy.Situation{Key: g.Node(id).Ref.String(), Place: func(*policy.Policy) (topology.NodeID, topology.Role) { return id, serviceLevel },
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return united(layers, apart, root) }
			}}
	}
}

// united merges the rules of one host, the first one first. Where some stand apart because they are exported elsewhere, a client takes the last
// of what they make.
func united(layers []*policy.Policy, apart bool, root string) ([]merge.Unit, []merge.Effect) {
	var m merger
	groups := consolidated(layers, lookedAt(layers, root), apart)
	last := groups[len(groups)-1]
	first := layers[last[0]].Object
	m.Take(merge.Keys("host"), fullHost(first.Text("spec", "host"), first.Ref.Namespace), last[0])
	if v := first.Body.At("spec", "exportTo"); v.Len() > 0 {
		m.Take(merge.Keys("exportTo"), v.Value(), last[0])
	}
	taken := map[string]int{}
	for i, p := range layers {
		spec := p.Object.Body.Field("spec")
		put := func(path merge.Path, value any) {
			winner, known := taken[path.String()]
			switch {
			case !slices.Contains(last, i):
				m.Lose(path, value, i, merge.SameLevelOrder, last[0])
			case known:
				m.Lose(path, value, i, merge.SameLevelOrder, winner)
			default:
				taken[path.String()] = i
				m.Take(path, value, i)
			}
		}
		if t := spec.Field("trafficPolicy"); !t.IsNull() {
			put(merge.Keys("trafficPolicy"), t.Value())
		}
		for _, subset := range spec.Field("subsets").Items {
			put(merge.Path{{Name: "subsets"}, {Name: subset.Text("name"), Form: merge.Entry}}, subset.Value())
		}
	}
	slices.SortStableFunc(m.Units, func(a, b merge.Unit) int { return cmp.Compare(a.Path[0].Name, b.Path[0].Name) })
	return m.Units, m.Effects
}

// lookedAt are the positions of the rules that clients of their namespace look at. Istio keeps those apart that the root namespace has for itself
// alone, and looks at them first.
func lookedAt(layers []*policy.Policy, root string) []int {
	var all, own []int
	for i, p := range layers {
		all = append(all, i)
		if p.Ref().Namespace == root && private(p.Object) {
			own = append(own, i)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

// consolidated are the rules that Istio makes of the rules of one host: by position, which are united in each. A rule is united with those that
// are exported as it is, or to some of the namespaces that it names; unless the last one it is held against is such a one, it stands alone too.
func consolidated(layers []*policy.Policy, among []int, apart bool) [][]int {
	groups := [][]int{{among[0]}}
	for _, i := range among[1:] {
		alone := true
		for n, g := range groups {
			if alone = apart && !exportedAsWide(layers[i].Object, layers[g[0]].Object); !alone {
				groups[n] = append(g, i)
			}
		}
		if alone {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// fullHost is a host as Istio completes it.
func fullHost(host, namespace string) string {
	if _, err := netip.ParseAddr(host); err == nil || strings.Contains(host, ".") || host == "*" || host == "" {
		return host
	}
	return host + "." + namespace + ".svc.cluster.local"
}

// exportedAsWide reports whether a rule is exported as another one is, or to all that the other one names and to more. Istio compares what is
// written: no list is another one than ["*"].
func exportedAsWide(o, first *model.Object) bool {
	have, want := exports(o), exports(first)
	if len(want) == 0 {
		return len(have) == 0
	}
	return !slices.ContainsFunc(want, func(ns string) bool { return !slices.Contains(have, ns) })
}

// serves reports whether a rule is for clients of its own namespace. In the root namespace a dot beside others does not mean it.
func serves(o *model.Object, root string) bool {
	have := exports(o)
	return len(have) == 0 || private(o) || slices.ContainsFunc(have, func(ns string) bool {
		return ns == "*" || ns == o.Ref.Namespace || ns == "." && o.Ref.Namespace != root
	})
}

// private reports whether a rule is for clients of its own namespace alone.
func private(o *model.Object) bool {
	have := exports(o)
	return len(have) == 1 && (have[0] == "." || have[0] == o.Ref.Namespace)
}

func exports(o *model.Object) []string {
	var out []string
	for _, ns := range o.Body.At("spec", "exportTo").Items {
		out = append(out, ns.Text())
	}
	return out
}

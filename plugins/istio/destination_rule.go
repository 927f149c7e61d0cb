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

// ruleHosts are the objects that DestinationRules mean by their host, and which rules count there.
type ruleHosts struct {
	targets           map[model.Ref][]model.Ref // by rule: the Services and ServiceEntries, or the host itself
	decidingNamespace map[model.Ref]string      // by what they mean: the namespace whose rules count there
	rootOnly          map[model.Ref]bool        // by what they mean: the root namespace has rules for itself alone
}

// readRuleHosts finds what every DestinationRule is about.
func readRuleHosts(in *model.Snapshot, root string) ruleHosts {
	h := ruleHosts{targets: map[model.Ref][]model.Ref{}, decidingNamespace: map[model.Ref]string{},
		rootOnly: map[model.Ref]bool{}}
	entries := map[string][]model.Ref{}
	for _, o := range in.OfKind(serviceEntryKind) {
		for _, host := range o.Body.At("spec", "hosts").Items {
			entries[host.Text()] = append(entries[host.Text()], o.Ref)
		}
	}
	for _, o := range in.OfKind(destinationRuleKind) {
		host := o.Text("spec", "host")
		refs := slices.Clone(entries[host])
		if name, ns := splitHost(host, o.Ref.Namespace); in.Get(model.Ref{Kind: "Service", Namespace: ns,
			Name: name}) != nil {
			refs = append(refs, model.Ref{Kind: "Service", Namespace: ns, Name: name})
		}
		if len(refs) == 0 && host != "" {
			refs = []model.Ref{{Group: networkingGroup, Kind: "Hostname", Namespace: o.Ref.Namespace, Name: host}}
		}
		h.targets[o.Ref] = refs
		for _, ref := range refs {
			h.rootOnly[ref] = h.rootOnly[ref] || o.Ref.Namespace == root && isPrivate(o)
			if known, ok := h.decidingNamespace[ref]; !ok || o.Ref.Namespace == ref.Namespace {
				h.decidingNamespace[ref] = o.Ref.Namespace
			} else if known != ref.Namespace && known != o.Ref.Namespace {
				h.decidingNamespace[ref] = "" // rules of several clients' namespaces
			}
		}
	}
	return h
}

// splitHost is the Service that a host means to a rule of a namespace: a name without dots is one
// there, and one with dots is in full.
func splitHost(host, namespace string) (name, ns string) {
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

// suggestHost is the full host of the Service that was meant by a host which is neither a plain
// name nor in full; "": none.
func suggestHost(in *model.Snapshot, host string) string {
	name, ns, _ := strings.Cut(strings.TrimSuffix(host, ".svc"), ".")
	if in.Get(model.Ref{Kind: "Service", Namespace: ns, Name: name}) == nil {
		return ""
	}
	return name + "." + ns + ".svc.cluster.local"
}

// newDestinationFinder finds what a DestinationRule is about. Which rule a client takes depends on
// its namespace, then on that of the Service: only those of one namespace are shown.
func newDestinationFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	root := readMeshConfig(in, s).root
	h := readRuleHosts(in, root)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		note := func(severity model.Severity, format string, args ...any) []model.Problem {
			return []model.Problem{model.Problem{Severity: severity, Code: model.NotEvaluated,
				Message: fmt.Sprintf(format, args...)}.At(p.Object)}
		}
		if p.Object.Body.At("spec", "workloadSelector").Len() > 0 {
			return nil,
				note(model.Warning,
					"it is for clients with some labels only, which is not evaluated: it is left out of the answer")
		}
		if strings.Contains(p.Object.Text("spec", "host"), "*") {
			return nil,
				note(model.Warning, "its host is a pattern, which is not evaluated: it is left out of the answer")
		}
		if !isVisibleAtHome(p.Object, root) {
			return nil,
				note(model.Warning,
					"it is for clients of other namespaces only, which are not evaluated: it is left out of the answer")
		}
		var out []topology.NodeID
		problems := revisionProblems(p)
		for _, ref := range h.targets[p.Ref()] {
			if full := suggestHost(in, ref.Name); ref.Kind == "Hostname" && full != "" {
				problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
					Message: fmt.Sprintf("its host %s is no Service to Istio, which completes names without dots only",
						ref.Name),
					Hint: "write " + full}.At(p.Object))
			}
			switch home := h.decidingNamespace[ref]; {
			case home != p.Ref().Namespace:
				problems = append(problems,
					note(model.Warning,
						"for clients of namespace %s it comes before those of others; which rules a client of which namespace takes is not evaluated", p.Ref().Namespace)...)
			default:
				out = append(out, g.Lookup(ref)...)
				switch {
				case home == root && h.rootOnly[ref] && !isPrivate(p.Object):
					problems = append(problems,
						note(model.Warning,
							"clients of the root namespace take the rules that are for them alone, which are shown; what it says of %s holds for other clients", ref)...)
				case home == ref.Namespace:
				case home == root && (len(exportNamespaces(p.Object)) == 0 ||
					slices.Contains(exportNamespaces(p.Object), "*")):
					problems = append(problems,
						note(model.Info,
							"what it says of %s holds for clients of all namespaces, as it is in the root namespace",
							ref)...)
				default:
					problems = append(problems,
						note(model.Info, "what it says of %s holds for clients of namespace %s", ref, home)...)
				}
			}
		}
		return out, problems
	}
}

// newDestinationSituator is what DestinationRules make of a host: their subsets together, and the
// first traffic policy.
func newDestinationSituator(g *topology.Graph, in *model.Snapshot,
	s model.Settings) func(topology.NodeID) *policy.Situation {
	if len(in.OfKind(destinationRuleKind)) == 0 {
		return nil
	}
	apart, root := s.Bool("istio.enableEnhancedDestinationRuleMerge"), readMeshConfig(in, s).root
	return func(id topology.NodeID) *policy.Situation {
		if g.Node(id).Role != topology.Backend {
			return nil
		}
		return &policy.Situation{Key: g.Node(id).Ref.String(), Place: func(*policy.Policy) (topology.NodeID,
			topology.Role) {
			return id, serviceLevel
		},
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) {
					return mergeDestinationRules(layers,
						apart, root)
				}
			}}
	}
}

// mergeDestinationRules merges the rules of one host, the first one first. Where some stand alone
// because they are exported elsewhere, a client takes the last of what they make.
func mergeDestinationRules(layers []*policy.Policy, apart bool, root string) ([]merge.Unit, []merge.Effect) {
	var m foldRecorder
	groups := groupMergedRules(layers, filterVisibleRules(layers, root), apart)
	last := groups[len(groups)-1]
	first := layers[last[0]].Object
	m.Take(merge.KeyPath("host"), completeHost(first.Text("spec", "host"), first.Ref.Namespace), last[0])
	if v := first.Body.At("spec", "exportTo"); v.Len() > 0 {
		m.Take(merge.KeyPath("exportTo"), v.Value(), last[0])
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
			put(merge.KeyPath("trafficPolicy"), t.Value())
		}
		for _, subset := range spec.Field("subsets").Items {
			put(merge.Path{{Name: "subsets"}, {Name: subset.Text("name"), Form: merge.Entry}}, subset.Value())
		}
	}
	slices.SortStableFunc(m.Units, func(a, b merge.Unit) int { return cmp.Compare(a.Path[0].Name, b.Path[0].Name) })
	return m.Units, m.Effects
}

// filterVisibleRules returns the positions of the rules that clients of their namespace look at.
// Istio keeps those apart that the root namespace has for itself alone, and looks at them first.
func filterVisibleRules(layers []*policy.Policy, root string) []int {
	var all, own []int
	for i, p := range layers {
		all = append(all, i)
		if p.Ref().Namespace == root && isPrivate(p.Object) {
			own = append(own, i)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

// groupMergedRules groups the rules of one host, by position, as Istio merges them. A rule is
// merged into those that are exported as it is, or to some of the namespaces that it names; unless
// the last one that it is compared with is such a one, it stands alone too.
func groupMergedRules(layers []*policy.Policy, among []int, apart bool) [][]int {
	groups := [][]int{{among[0]}}
	for _, i := range among[1:] {
		alone := true
		for n, g := range groups {
			if alone = apart && !isExportedAsWide(layers[i].Object, layers[g[0]].Object); !alone {
				groups[n] = append(g, i)
			}
		}
		if alone {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// completeHost is a host as Istio completes it.
func completeHost(host, namespace string) string {
	if _, err := netip.ParseAddr(host); err == nil || strings.Contains(host, ".") || host == "*" || host == "" {
		return host
	}
	return host + "." + namespace + ".svc.cluster.local"
}

// isExportedAsWide reports whether a rule is exported as another one is, or to all that the other
// one names and to more. Istio compares what is written: no list differs from ["*"].
func isExportedAsWide(o, first *model.Object) bool {
	have, want := exportNamespaces(o), exportNamespaces(first)
	if len(want) == 0 {
		return len(have) == 0
	}
	return !slices.ContainsFunc(want, func(ns string) bool { return !slices.Contains(have, ns) })
}

// isVisibleAtHome reports whether a rule is for clients of its own namespace. In the root namespace
// a dot beside others does not mean it.
func isVisibleAtHome(o *model.Object, root string) bool {
	have := exportNamespaces(o)
	return len(have) == 0 || isPrivate(o) || slices.ContainsFunc(have, func(ns string) bool {
		return ns == "*" || ns == o.Ref.Namespace || ns == "." && o.Ref.Namespace != root
	})
}

// isPrivate reports whether a rule is for clients of its own namespace alone.
func isPrivate(o *model.Object) bool {
	have := exportNamespaces(o)
	return len(have) == 1 && (have[0] == "." || have[0] == o.Ref.Namespace)
}

func exportNamespaces(o *model.Object) []string {
	var out []string
	for _, ns := range o.Body.At("spec", "exportTo").Items {
		out = append(out, ns.Text())
	}
	return out
}

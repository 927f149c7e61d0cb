package ocm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The groups of Open Cluster Management's kinds.
const (
	policyGroup  = "policy.open-cluster-management.io"
	clusterGroup = "cluster.open-cluster-management.io"
	appsGroup    = "apps.open-cluster-management.io"
)

var (
	policyKind     = model.GroupKind{Group: policyGroup, Kind: "Policy"}
	setKind        = model.GroupKind{Group: policyGroup, Kind: "PolicySet"}
	bindingKind    = model.GroupKind{Group: policyGroup, Kind: "PlacementBinding"}
	setBindingKind = model.GroupKind{Group: clusterGroup, Kind: "ManagedClusterSetBinding"}
	placementKind  = model.GroupKind{Group: clusterGroup, Kind: "Placement"}
	decisionKind   = model.GroupKind{Group: clusterGroup, Kind: "PlacementDecision"}
	ruleKind       = model.GroupKind{Group: appsGroup, Kind: "PlacementRule"}
	clusterKind    = model.GroupKind{Group: clusterGroup, Kind: "ManagedCluster"}
)

const (
	rootLabel      = "policy.open-cluster-management.io/root-policy"
	placementLabel = "cluster.open-cluster-management.io/placement"
)

// placementIndex is what the input says about which policies go to which clusters. Every reference
// is by name in the same namespace.
type placementIndex struct {
	in         *model.Snapshot
	bindings   []*binding // sorted by namespace, then name
	sets       map[model.Ref]*policySet
	paths      map[model.Ref][]policyPath // by policy: how bindings come to it, those of one binding together
	policies   []*placedPolicy            // sorted
	byPolicy   map[model.Ref]*placedPolicy
	overridden map[*binding][]*placedPolicy // the policies that a binding with an override comes to
}

// policySet is a PolicySet.
type policySet struct {
	object   *model.Object
	policies []string                   // as they are listed, each once
	excludes map[string]map[string]bool // by policy: the clusters that it is kept from
}

// binding is a PlacementBinding. Its fields stand at the top level of the object.
type binding struct {
	object     *model.Object
	restricted bool // it places nothing, and overrides where others place
	enforces   bool
	placement  placement
}

// placement is what a binding's placementRef leads to.
type placement struct {
	ref      model.Ref
	object   *model.Object   // nil: not in the input, so that nothing is placed
	unread   bool            // a cluster did not let us read whether it is there
	invalid  bool            // group and kind do not fit: the binding is ignored
	decided  bool            // the input has its decisions
	clusters []string        // sorted, each once
	has      map[string]bool // the same
}

// policyPath is one way in which a binding comes to a policy: as its own subject, or as a member of
// a set.
type policyPath struct {
	binding *binding
	set     *policySet // nil: directly
}

// excludesCluster reports whether the path leaves a cluster out: only a set can, for the paths
// through itself.
func (p policyPath) excludesCluster(policy, cluster string) bool {
	return p.set != nil && p.set.excludes[policy][cluster]
}

// buildPlacementIndex reads the input. Replicas of policies are what a hub wrote, and no input.
func buildPlacementIndex(in *model.Snapshot) *placementIndex {
	w := &placementIndex{in: in, sets: map[model.Ref]*policySet{}, paths: map[model.Ref][]policyPath{},
		byPolicy: map[model.Ref]*placedPolicy{}, overridden: map[*binding][]*placedPolicy{}}
	for _, o := range in.OfKind(setKind) {
		w.sets[o.Ref] = readSet(o)
	}
	decisions := map[model.Ref][]*model.Object{}
	for _, o := range in.OfKind(decisionKind) {
		if name := o.Labels[placementLabel]; name != "" {
			of := model.Ref{Group: clusterGroup, Kind: placementKind.Kind, Namespace: o.Ref.Namespace, Name: name}
			decisions[of] = append(decisions[of], o)
		}
	}
	for _, o := range in.OfKind(bindingKind) {
		w.bindings = append(w.bindings, readBinding(o, in, decisions))
	}
	slices.SortFunc(w.bindings, func(a, b *binding) int { return a.object.Ref.Compare(b.object.Ref) })
	for _, b := range w.bindings {
		w.addPaths(b)
	}
	for _, o := range in.OfKind(policyKind) {
		if !isReplica(o) {
			w.addPolicy(o)
		}
	}
	return w
}

func isReplica(o *model.Object) bool {
	_, ok := o.Labels[rootLabel]
	return ok
}

func readSet(o *model.Object) *policySet {
	s := &policySet{object: o, excludes: map[string]map[string]bool{}}
	for _, name := range listTexts(o.Body.At("spec", "policies")) {
		if !slices.Contains(s.policies, name) {
			s.policies = append(s.policies, name)
		}
	}
	for _, e := range o.Body.At("spec", "exclusions").Items {
		name := e.Text("policyName")
		if s.excludes[name] == nil {
			s.excludes[name] = map[string]bool{}
		}
		for _, cluster := range listTexts(e.Field("clusterNames")) {
			s.excludes[name][cluster] = true
		}
	}
	return s
}

func readBinding(o *model.Object, in *model.Snapshot, decisions map[model.Ref][]*model.Object) *binding {
	return &binding{object: o, restricted: o.Text("subFilter") == "restricted",
		enforces: strings.EqualFold(o.Text("bindingOverrides", "remediationAction"),
			"enforce"), placement: readPlacement(o, in, decisions)}
}

// readPlacement follows a binding's placementRef to what was decided. The scheduler's choice is not
// ours: without decisions there is no answer. An empty status of a PlacementRule is a decision for
// no cluster.
func readPlacement(o *model.Object, in *model.Snapshot, decisions map[model.Ref][]*model.Object) placement {
	at := o.Body.Field("placementRef")
	p := placement{ref: model.Ref{Group: at.Text("apiGroup"), Kind: at.Text("kind"), Namespace: o.Ref.Namespace,
		Name: at.Text("name")}, has: map[string]bool{}}
	gk := p.ref.GroupKind()
	if gk != placementKind && gk != ruleKind || p.ref.Name == "" {
		p.invalid = true
		return p
	}
	if p.object = in.Get(p.ref); p.object == nil {
		p.unread = in.Cluster.IsUnreadRef(p.ref)
		return p
	}
	from := []*model.Object{p.object}
	if gk == ruleKind {
		p.decided = p.object.Body.Has("status") || in.Cluster != nil
	} else {
		from = decisions[p.ref]
		p.decided = len(from) > 0
	}
	for _, d := range from {
		for _, e := range d.Body.At("status", "decisions").Items {
			if name := e.Text("clusterName"); name != "" && !p.has[name] {
				p.has[name] = true
				p.clusters = append(p.clusters, name)
			}
		}
	}
	slices.Sort(p.clusters)
	return p
}

// addPaths notes how a binding comes to policies: to each directly once, and through each of its
// sets once.
func (w *placementIndex) addPaths(b *binding) {
	seen := map[model.Ref]bool{}
	for _, s := range b.object.Body.Field("subjects").Items {
		ref := model.Ref{Group: s.Text("apiGroup"), Kind: s.Text("kind"), Namespace: b.object.Ref.Namespace,
			Name: s.Text("name")}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		switch ref.GroupKind() {
		case policyKind:
			w.paths[ref] = append(w.paths[ref], policyPath{binding: b})
		case setKind:
			members := w.sets[ref]
			if members == nil {
				continue
			}
			for _, name := range members.policies {
				to := model.Ref{Group: policyGroup, Kind: policyKind.Kind, Namespace: ref.Namespace, Name: name}
				w.paths[to] = append(w.paths[to], policyPath{b, members})
			}
		}
	}
}

// listTexts are the strings of a list; what is none is left out.
func listTexts(list model.Body) []string {
	var out []string
	for _, e := range list.Items {
		if s := e.Text(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// compareBySet orders paths as they are listed: directly first, then by the set's name.
func compareBySet(a, b policyPath) int {
	name := func(p policyPath) string {
		if p.set == nil {
			return ""
		}
		return p.set.object.Ref.Name
	}
	return cmp.Compare(name(a), name(b))
}

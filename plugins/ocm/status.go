package ocm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// The words for compliance; "" is not known.
const (
	compliant    = "Compliant"
	nonCompliant = "NonCompliant"
	pending      = "Pending"
)

// statusBlocks writes the statuses of policies and sets. None of them has conditions.
func statusBlocks(r *resolve.Resolution, _ *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy]status.CustomStatus {
	w := buildPlacementIndex(r.Snapshot)
	out := map[*policy.Policy]status.CustomStatus{}
	for _, f := range fates {
		switch ref := f.Policy.Ref(); ref.GroupKind() {
		case policyKind:
			out[f.Policy] = w.policyStatusBlock(f.Policy.Object)
		case setKind:
			out[f.Policy] = w.setStatusBlock(w.sets[ref])
		case bindingKind:
			out[f.Policy] = status.CustomStatus{Note: w.describeBindingStatus(ref)}
		}
	}
	return out
}

// policyReport is the status of a policy.
type policyReport struct {
	placement []placementEntry
	clusters  []clusterReport
	compliant string
	undecided []string // placements whose decisions are not in the input
}

// placementEntry is one way in which a binding comes to a policy, as the policy's status lists it.
type placementEntry struct {
	path       policyPath
	exclusions []string // of the set, for this policy; sorted
}

// clusterReport is a policy on one cluster.
type clusterReport struct {
	name, compliant string
	remaining       []string // the bindings that place it though a set leaves the cluster out; sorted
}

// buildReport makes up the status of a policy from its placements, and from the replicas in the
// input.
func (w *placementIndex) buildReport(r *placedPolicy) policyReport {
	var out policyReport
	for _, p := range r.paths {
		if p.binding.placement.invalid || p.binding.restricted && !r.isReachedBy(p.binding) {
			continue
		}
		e := placementEntry{path: p}
		if p.set != nil {
			for name := range p.set.excludes[r.object.Ref.Name] {
				e.exclusions = append(e.exclusions, name)
			}
			slices.Sort(e.exclusions)
		}
		out.placement = append(out.placement, e)
	}
	slices.SortStableFunc(out.placement, func(a, b placementEntry) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	out.undecided = r.listUndecided()
	for _, name := range r.names {
		replica := w.in.Get(model.Ref{Group: policyGroup, Kind: policyKind.Kind, Namespace: name,
			Name: r.replicaName()})
		c := clusterReport{name: name, remaining: r.listRemaining(name, out.placement)}
		if replica != nil {
			c.compliant = replica.Text("status", "compliant")
		}
		out.clusters = append(out.clusters, c)
	}
	if len(out.undecided) == 0 {
		out.compliant = summarizeCompliance(out.clusters)
	}
	return out
}

// isReachedBy reports whether a binding's placement has a cluster on which the policy is, on a path
// that does not leave it out.
func (r *placedPolicy) isReachedBy(b *binding) bool {
	return slices.ContainsFunc(r.names, func(cluster string) bool { return r.isPlacedBy(b, cluster) })
}

// isPlacedBy reports whether a binding comes to the policy on a cluster.
func (r *placedPolicy) isPlacedBy(b *binding, cluster string) bool {
	return b.placement.has[cluster] && slices.ContainsFunc(r.paths, func(p policyPath) bool {
		return p.binding == b &&
			!p.excludesCluster(r.object.Ref.Name, cluster)
	})
}

// listRemaining are the bindings that bring the policy to a cluster though one of its sets leaves
// the cluster out, less the bindings of such sets.
func (r *placedPolicy) listRemaining(cluster string, placement []placementEntry) []string {
	excluding := map[*binding]bool{}
	for _, e := range placement {
		if slices.Contains(e.exclusions, cluster) {
			excluding[e.path.binding] = true
		}
	}
	if len(excluding) == 0 {
		return nil
	}
	var out []string
	for _, e := range placement {
		name := e.path.binding.object.Ref.Name
		if !excluding[e.path.binding] && r.isPlacedBy(e.path.binding, cluster) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// listUndecided are the placements of unrestricted bindings of the policy whose decisions are not
// in the input; none of a disabled policy.
func (r *placedPolicy) listUndecided() []string {
	var out []string
	for _, p := range r.paths {
		if at := p.binding.placement; !r.disabled && !p.binding.restricted && at.isUndecided() &&
			!slices.Contains(out, at.ref.Name) {
			out = append(out, at.ref.Name)
		}
	}
	slices.Sort(out)
	return out
}

// summarizeCompliance is the compliance of a policy: NonCompliant if it is anywhere, else Pending
// if it is anywhere, else not known if that of any cluster is not, else Compliant.
func summarizeCompliance(clusters []clusterReport) string {
	has := func(word string) bool {
		return slices.ContainsFunc(clusters, func(c clusterReport) bool { return c.compliant == word })
	}
	switch {
	case len(clusters) == 0:
		return ""
	case has(nonCompliant):
		return nonCompliant
	case has(pending):
		return pending
	case slices.ContainsFunc(clusters, func(c clusterReport) bool { return c.compliant != compliant }):
		return ""
	}
	return compliant
}

// placementNames are the names of the object that a path's placementRef leads to: a Placement's and
// a PlacementRule's, "" if it is not there.
func (e placementEntry) placementNames() (placement, rule string) {
	switch at := e.path.binding.placement; {
	case at.object == nil:
	case at.ref.GroupKind() == ruleKind:
		rule = at.ref.Name
	default:
		placement = at.ref.Name
	}
	return placement, rule
}

func (e placementEntry) setName() string {
	if e.path.set == nil {
		return ""
	}
	return e.path.set.object.Ref.Name
}

// sortKey is what entries are sorted by.
func (e placementEntry) sortKey() string {
	placement, rule := e.placementNames()
	return strings.Join([]string{e.path.binding.object.Ref.Name, placement, rule, e.setName()}, " ")
}

// statusFields is the entry as statuses have it.
func (e placementEntry) statusFields() map[string]any {
	placement, rule := e.placementNames()
	out := map[string]any{"placementBinding": e.path.binding.object.Ref.Name}
	putText(out, "placement", placement)
	putText(out, "placementRule", rule)
	return out
}

// putText sets a field that is left out where it is empty.
func putText(into map[string]any, key, value string) {
	if value != "" {
		into[key] = value
	}
}

// putNames sets a list of objects that have a name each; it is left out where it is empty.
func putNames(into map[string]any, list, key string, names []string) {
	var out []any
	for _, name := range names {
		out = append(out, map[string]any{key: name})
	}
	if out != nil {
		into[list] = out
	}
}

// policyStatusBlock is the status of a policy, and its summary.
func (w *placementIndex) policyStatusBlock(o *model.Object) status.CustomStatus {
	r := w.byPolicy[o.Ref]
	if r == nil {
		return status.CustomStatus{Note: fmt.Sprintf("a replica of %s: what the hub wrote for cluster %s",
			o.Labels[rootLabel], o.Ref.Namespace)}
	}
	s := w.buildReport(r)
	fields := map[string]any{}
	putText(fields, "compliant", s.compliant)
	var placement, clusters []any
	for _, e := range s.placement {
		one := e.statusFields()
		putText(one, "policySet", e.setName())
		putNames(one, "exclusions", "clusterName", e.exclusions)
		placement = append(placement, one)
	}
	for _, c := range s.clusters {
		one := map[string]any{"clustername": c.name, "clusternamespace": c.name}
		putText(one, "compliant", c.compliant)
		putNames(one, "remainingBindings", "placementBinding", c.remaining)
		clusters = append(clusters, one)
	}
	if placement != nil {
		fields["placement"] = placement
	}
	if clusters != nil {
		fields["status"] = clusters
	}
	return status.CustomStatus{Fields: fields, Note: r.summarize(s)}
}

// summarize says in a few words where a policy is and how it fares there.
func (r *placedPolicy) summarize(s policyReport) string {
	switch {
	case r.disabled:
		return "disabled: on no cluster"
	case len(s.clusters) == 0 && len(s.undecided) > 0:
		return "cannot tell which clusters it is for: no decisions of " + strings.Join(s.undecided, ", ")
	case len(s.clusters) == 0 && len(r.paths) == 0:
		return "on no cluster: nothing binds it"
	case len(s.clusters) == 0:
		return "on no cluster"
	}
	byWord := map[string][]string{}
	for _, c := range s.clusters {
		byWord[c.compliant] = append(byWord[c.compliant], c.name)
	}
	words := []string{fmt.Sprintf("on %s", formatCount(len(s.clusters), "cluster"))}
	for _, word := range []string{nonCompliant, pending, compliant, ""} {
		if names := byWord[word]; len(names) > 0 && len(byWord) > 1 {
			words = append(words, cmp.Or(word, "not reported")+" on "+limitNames(names))
		} else if len(names) > 0 {
			words = append(words, cmp.Or(word, "compliance not in the input"))
		}
	}
	if len(s.undecided) > 0 {
		words = append(words, "and where "+strings.Join(s.undecided, ", ")+" decides, which is not known")
	}
	return strings.Join(words, "; ")
}

func formatCount(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// limitNames lists up to three names, then counts.
func limitNames(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

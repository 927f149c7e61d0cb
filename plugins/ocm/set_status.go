package ocm

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// setTally sorts the members of a set by how they fare.
type setTally struct {
	pending, disabled, unknown, deleted []string
	reporting                           bool   // the compliance of a member is known
	compliant                           string // over those that report
}

// setStatusBlock is the status of a set: how its members fare where the set's own bindings brought
// them.
func (w *placementIndex) setStatusBlock(s *policySet) status.CustomStatus {
	if s == nil || len(s.policies) == 0 {
		return status.CustomStatus{Fields: map[string]any{}, Note: "it lists no policies"}
	}
	t := setTally{compliant: compliant}
	bound := map[string]placementEntry{} // by binding
	for _, name := range s.policies {
		r := w.byPolicy[model.Ref{Group: policyGroup, Kind: policyKind.Kind, Namespace: s.object.Ref.Namespace,
			Name: name}]
		if r == nil {
			t.deleted = append(t.deleted, name)
			continue
		}
		child := w.buildReport(r)
		for _, e := range child.placement {
			if e.path.set == s {
				bound[e.path.binding.object.Ref.Name] = e
			}
		}
		t.addMember(r, child, bound, s)
	}
	fields := map[string]any{"statusMessage": t.statusMessage(len(s.listExclusions()) > 0)}
	if len(t.unknown) == 0 && t.reporting {
		fields["compliant"] = t.compliant
	}
	if out := s.listExclusions(); out != nil {
		fields["exclusions"] = out
	}
	var placement []any
	names := make([]string, 0, len(bound))
	for name := range bound {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		placement = append(placement, bound[name].statusFields())
	}
	if placement != nil {
		fields["placement"] = placement
	}
	return status.CustomStatus{Fields: fields, Note: strings.TrimPrefix(model.Text(fields, "compliant")+"; "+
		model.Text(fields, "statusMessage"), "; ")}
}

// addMember counts a member: its compliance on the clusters that the set's bindings decided for,
// less those that the set keeps it from.
func (t *setTally) addMember(r *placedPolicy, child policyReport, bound map[string]placementEntry, s *policySet) {
	name := r.object.Ref.Name
	if r.disabled {
		t.disabled = append(t.disabled, name)
		return
	}
	var there []clusterReport
	for _, c := range child.clusters {
		if c.compliant == "" || s.excludes[name][c.name] {
			continue
		}
		for _, e := range bound {
			if e.path.binding.placement.has[c.name] {
				there = append(there, c)
				break
			}
		}
	}
	switch word := summarizeCompliance(there); word {
	case "":
		t.unknown = append(t.unknown, name)
	case pending:
		t.pending, t.reporting = append(t.pending, name), true
		if t.compliant != nonCompliant {
			t.compliant = pending
		}
	default:
		t.reporting = true
		if word == nonCompliant {
			t.compliant = nonCompliant
		}
	}
}

// statusMessage is the set's statusMessage.
func (t *setTally) statusMessage(excluded bool) string {
	var parts []string
	for _, p := range []struct {
		words string
		names []string
	}{{"Policies awaiting pending dependencies", t.pending}, {"Disabled policies", t.disabled},
		{"No status provided while awaiting policy status", t.unknown}, {"Deleted policies", t.deleted}} {
		if len(p.names) > 0 {
			parts = append(parts, p.words+": "+strings.Join(p.names, ", "))
		}
	}
	if parts == nil {
		parts = append(parts, "All policies are reporting status")
	}
	if excluded {
		parts = append(parts, "One or more policies were excluded. For details, see status.exclusions.")
	}
	return strings.Join(parts, "; ")
}

// listExclusions are the set's exclusions as its status lists them, by policy; nil if there are
// none.
func (s *policySet) listExclusions() []any {
	policies := make([]string, 0, len(s.excludes))
	for name, clusters := range s.excludes {
		if len(clusters) > 0 {
			policies = append(policies, name)
		}
	}
	slices.Sort(policies)
	var out []any
	for _, name := range policies {
		clusters := make([]string, 0, len(s.excludes[name]))
		for c := range s.excludes[name] {
			clusters = append(clusters, c)
		}
		slices.Sort(clusters)
		list := make([]any, len(clusters))
		for i, c := range clusters {
			list[i] = c
		}
		out = append(out, map[string]any{"policyName": name, "clusters": list})
	}
	return out
}

// describeBindingStatus says what a binding does, which reports nothing itself.
func (w *placementIndex) describeBindingStatus(ref model.Ref) string {
	i := slices.IndexFunc(w.bindings, func(b *binding) bool { return b.object.Ref == ref })
	if i < 0 {
		return ""
	}
	b := w.bindings[i]
	var policies, to, enforced, on []string
	for _, cluster := range b.placement.clusters {
		brings := w.listPoliciesBrought(cluster, func(p policyPath) bool { return p.binding == b })
		if policies = append(policies, brings...); len(brings) > 0 {
			to = append(to, cluster)
		}
		names := w.listOverridden(b, cluster)
		if enforced = append(enforced, names...); len(names) > 0 {
			on = append(on, cluster)
		}
	}
	var words []string
	if to != nil {
		words = append(words, "brings "+limitNames(sortUnique(policies))+" to "+limitNames(to))
	}
	if on != nil {
		words = append(words, "enforces "+limitNames(sortUnique(enforced))+" on "+limitNames(on))
	}
	switch {
	case words != nil:
		return strings.Join(words, "; ")
	case b.placement.isUndecided():
		return "which clusters " + b.placement.displayName() + " chose is not known"
	}
	return "has no effect"
}

func sortUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

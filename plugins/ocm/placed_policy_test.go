package ocm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// small is an input made up by chance, in the words of the specification.
type small struct {
	clusters, policies []string
	disabled, enforce  map[string]bool
	sets               map[string][]string // members
	excludes           map[[3]string]bool  // set, policy, cluster
	bindings           []smallBinding
}

type smallBinding struct {
	name                 string
	restricted, enforces bool
	decisions            []string
	subjects             [][2]string // kind, name
}

func some(r *rand.Rand, from []string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(string) bool { return r.IntN(2) == 0 })
}

func random(r *rand.Rand) small {
	s := small{clusters: []string{"c1", "c2", "c3"}, policies: []string{"p1", "p2", "p3"}, disabled: map[string]bool{},
		enforce: map[string]bool{},
		sets:    map[string][]string{}, excludes: map[[3]string]bool{}}
	for _, p := range s.policies {
		s.disabled[p], s.enforce[p] = r.IntN(6) == 0, r.IntN(4) == 0
	}
	for _, set := range []string{"s1", "s2"} {
		s.sets[set] = some(r, append(s.policies, "gone"))
		for _, p := range s.sets[set] {
			for _, c := range s.clusters {
				if r.IntN(4) == 0 {
					s.excludes[[3]string{set, p, c}] = true
				}
			}
		}
	}
	for i := range 1 + r.IntN(4) {
		b := smallBinding{name: fmt.Sprint("b", i), restricted: r.IntN(3) == 0, enforces: r.IntN(2) == 0,
			decisions: some(r, s.clusters)}
		for _, p := range some(r, s.policies) {
			b.subjects = append(b.subjects, [2]string{"Policy", p})
		}
		for _, set := range some(r, []string{"s1", "s2", "none"}) {
			b.subjects = append(b.subjects, [2]string{"PolicySet", set})
		}
		s.bindings = append(s.bindings, b)
	}
	return s
}

// text is the input as manifests.
func (s small) text() string {
	var out strings.Builder
	for _, p := range s.policies {
		action := "inform"
		if s.enforce[p] {
			action = "enforce"
		}
		fmt.Fprintf(&out,
			"---\n{apiVersion: %s/v1, kind: Policy, metadata: {name: %s, namespace: hub}, spec: {disabled: %v, remediationAction: %s, policy-templates: []}}\n", policyGroup, p, s.disabled[p], action)
	}
	for _, set := range []string{"s1", "s2"} {
		var exclusions []string
		for _, p := range s.sets[set] {
			var clusters []string
			for _, c := range s.clusters {
				if s.excludes[[3]string{set, p, c}] {
					clusters = append(clusters, c)
				}
			}
			exclusions = append(exclusions, fmt.Sprintf("{policyName: %s, clusterNames: [%s]}", p,
				strings.Join(clusters, ", ")))
		}
		fmt.Fprintf(&out,
			"---\n{apiVersion: %s/v1beta1, kind: PolicySet, metadata: {name: %s, namespace: hub}, spec: {policies: [%s], exclusions: [%s]}}\n",
			policyGroup, set, strings.Join(s.sets[set], ", "), strings.Join(exclusions, ", "))
	}
	for _, b := range s.bindings {
		var subjects, decisions []string
		for _, x := range b.subjects {
			subjects = append(subjects, fmt.Sprintf("{apiGroup: %s, kind: %s, name: %s}", policyGroup, x[0], x[1]))
		}
		for _, c := range b.decisions {
			decisions = append(decisions, "{clusterName: "+c+"}")
		}
		rest := ""
		if b.restricted {
			rest += ", subFilter: restricted"
		}
		if b.enforces {
			rest += ", bindingOverrides: {remediationAction: enforce}"
		}
		fmt.Fprintf(&out,
			"---\n{apiVersion: %s/v1, kind: PlacementBinding, metadata: {name: %s, namespace: hub}, placementRef: {apiGroup: %s, kind: PlacementRule, name: %s}, subjects: [%s]%s}\n",
			policyGroup, b.name, appsGroup, b.name, strings.Join(subjects, ", "), rest)
		fmt.Fprintf(&out,
			"---\n{apiVersion: %s/v1, kind: PlacementRule, metadata: {name: %s, namespace: hub}, status: {decisions: [%s]}}\n", appsGroup, b.name, strings.Join(decisions, ", "))
	}
	return out.String()
}

// placed is whether a binding comes to a policy on a cluster, as the specification words it.
func (s small) placed(b smallBinding, policy, cluster string) bool {
	if s.disabled[policy] || !slices.Contains(b.decisions, cluster) {
		return false
	}
	return slices.ContainsFunc(b.subjects, func(x [2]string) bool {
		return x == [2]string{"Policy", policy} || x[0] == "PolicySet" && slices.Contains(s.sets[x[1]], policy) &&
			!s.excludes[[3]string{x[1], policy, cluster}]
	})
}

// decision is whether a policy is on a cluster, and whose override decides: the two passes of the
// specification.
func (s small) decision(policy, cluster string) (on bool, by string) {
	for _, b := range s.bindings {
		if !b.restricted && s.placed(b, policy, cluster) {
			if on = true; b.enforces {
				return true, b.name
			}
		}
	}
	for _, b := range s.bindings {
		if on && b.restricted && b.enforces && s.placed(b, policy, cluster) {
			return true, b.name
		}
	}
	return on, ""
}

// TestDecisions holds what is in force against the two passes of the specification.
func TestDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := random(r)
		res := resolved(t, read(t, s.text()))
		k := res.Kind(policyKind)
		for _, cluster := range s.clusters {
			source := map[string]string{}
			for _, id := range res.Graph.Lookup(clusterRef(cluster)) {
				for _, stack := range k.Contexts(id) {
					o := k.Verdict(stack)
					for _, rule := range o.Result.Rules {
						source[rule.Name] = o.Layers[rule.From[0].Layer].Policy.Ref().Name
					}
				}
			}
			for _, p := range s.policies {
				on, by := s.decision(p, cluster)
				if by == "" || s.enforce[p] {
					by = p
				}
				if !on {
					by = ""
				}
				if got := source["policies.hub."+p+".remediationAction"]; got != by {
					t.Fatalf("%s on %s: %q, want %q, in\n%s", p, cluster, got, by, s.text())
				}
			}
		}
	}
}

// TestAbsence says why a policy is not on a cluster: every reason there is.
func TestAbsence(t *testing.T) {
	binding := func(name, placement, subject, more string) string {
		return fmt.Sprintf(
			"---\n{apiVersion: %s/v1, kind: PlacementBinding, metadata: {name: %s, namespace: hub}, placementRef: {apiGroup: %s, kind: Placement, name: %s}, subjects: [{apiGroup: %s, kind: %s}]%s}\n",
			policyGroup, name, clusterGroup, placement, policyGroup, strings.Replace(subject, "/", ", name: ", 1), more)
	}
	w := buildPlacementIndex(read(t, small{policies: []string{"free", "paused", "kept", "late", "apart"},
		disabled: map[string]bool{"paused": true}}.text()+
		"---\n{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: known, namespace: hub}}\n"+
		"---\n{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision, metadata: {name: d, namespace: hub, labels: {"+placementLabel+": known}}, status: {decisions: [{clusterName: one}]}}\n"+
		"---\n{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: open, namespace: hub}}\n"+
		"---\n{apiVersion: "+policyGroup+
		"/v1beta1, kind: PolicySet, metadata: {name: set, namespace: hub}, spec: {policies: [kept], exclusions: [{policyName: kept, clusterNames: [one], reason: rain}]}}\n"+
		binding("a", "known", "PolicySet/set", "")+binding("b", "known", "Policy/apart", ", subFilter: restricted")+
		binding("c", "open", "Policy/late", "")+binding("d", "gone", "Policy/late", "")))
	for _, c := range []struct{ policy, cluster, want string }{
		{"paused", "one", "the policy is disabled"},
		{"free", "one", "no PlacementBinding binds the policy"},
		{"kept", "one", "excluded: PolicySet set excludes it (rain)"},
		{"kept", "two", "not decided: placement/hub/known did not choose it"},
		{"late", "one", "not known: the decisions of placement/hub/open are not in the input"},
		{"apart", "one",
			"binding restricted: PlacementBinding b overrides where others place the policy, and places nothing"},
		{"apart", "two", "not decided: only restricted bindings bind the policy"},
	} {
		r := w.byPolicy[model.Ref{Group: policyGroup, Kind: "Policy", Namespace: "hub", Name: c.policy}]
		if got := r.explainAbsence(c.cluster); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.policy, c.cluster, got, c.want)
		}
	}
}

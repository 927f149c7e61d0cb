package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// fences are a kind with a member; moods a kind of namespaces.
const fences = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Fence.x.io
cluster: true
refs: [{at: spec.subject, form: subject}]
members: [Gate.x.io]
compare: [{field: spec.rank, type: number}, name, index]
rules: ["**"]
parts: [{name: board, each: spec.boards}]
scopes: [{name: in, family: namespaced, effective: [workload], legs: [{name: subject}], parts: [board, whole], fold: {func: x.List}, result: evaluation}]
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Gate.x.io
refs: [{at: spec.who, form: subject}]
rules: ["**"]
parts: [{name: whole, at: spec, normalize: {func: x.Open}}]
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Mood.x.io
targets: [Namespace]
family: namespaced
effective: [workload]
result: application
`

func fenced(t *testing.T, manifests ...string) *Resolution {
	t.Helper()
	var in input
	in.add(t, manifests...)
	list := func(s merge.Stack) (units []merge.Unit, effects []merge.Effect) {
		for i, l := range s.Layers {
			path := merge.Path{{Name: l.Meta.(*policy.Policy).Ref().Name}, {Name: strconv.Itoa(i), Form: merge.Entry}}
			units = append(units, merge.Unit{Path: path, Value: l.Blocks[0].Units[0].Value,
				From: []merge.Source{{Layer: i, Block: merge.Bare}}})
		}
		return units, nil
	}
	open := func(_ *policy.Policy, settings any, _ model.Settings) any {
		if model.Text(settings, "shut") != "" {
			return policy.NoPart{}
		}
		return settings
	}
	c, err := descriptor.NewCatalog([]form.Source{{Name: "kinds.yaml", Text: []byte(fences)}}, nil, nil,
		descriptor.Functions{Reading: descriptor.Reading{Typed: map[string]policy.PartNormalizer{"x.Open": open}},
			Merging: descriptor.Merging{Folds: map[string]merge.PlanFunc{"x.List": list}}})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	return Run(s, build.Graph(s, c.Settings(), c.Links()...), c)
}

const (
	yard = "apiVersion: v1\nkind: Namespace\nmetadata: {name: yard, labels: {green: 'y'}}\n"
	dog  = "apiVersion: v1\nkind: Pod\nmetadata: {name: dog, namespace: yard, labels: {barks: 'y'}}\n"
	cat  = "apiVersion: v1\nkind: Pod\nmetadata: {name: cat, namespace: street, labels: {barks: 'n'}}\n"
)

func fence(kind, name, rank, who, rest string) string {
	at := "subject"
	if kind == "Gate" {
		at = "who"
	}
	return fmt.Sprintf("apiVersion: x.io/v1\nkind: %s\nmetadata: {name: %s}\nspec: {rank: %s, %s: %s, %s}\n", kind,
		name, rank, at, who, rest)
}

// order is what is in force at each workload, in order.
func (r *Resolution) order(kind string) []string {
	var out []string
	for _, k := range r.Kinds {
		if k.GroupKind.Kind != kind {
			continue
		}
		k.EachContext(func(id topology.NodeID, s StackID) {
			words := r.Node(id).Ref.Name + ":"
			for _, rule := range k.Verdict(s).Result.Rules {
				words += " " + rule.Name
			}
			out = append(out, words)
		})
	}
	return out
}

func TestMembers(t *testing.T) { // policies of two kinds in one order, each found by its own references
	all := "{namespaces: {}}"
	r := fenced(t, yard, dog, cat,
		fence("Fence", "late", "9", all, "boards: [{a: 1}, {a: 2}]"),
		fence("Gate", "mid", "5", "{pods: {namespaceSelector: {}, podSelector: {matchLabels: {barks: 'y'}}}}", "b: 1"),
		fence("Gate", "none", "6", all, "shut: 'y'"),
		fence("Fence", "early", "1", "{namespaces: {matchLabels: {green: 'y'}}}", "boards: [{a: 3}]"))
	if got := r.order("Fence"); !slices.Equal(got, []string{"cat: late[0] late[1]",
		"dog: early[0] mid[1] late[2] late[3]"}) {
		t.Errorf("%q", got)
	}
	gate, leader := r.Kind(model.GroupKind{Group: "x.io", Kind: "Gate"}), r.Kind(model.GroupKind{Group: "x.io",
		Kind: "Fence"})
	if gate.ResolvedKind() != leader || leader.ResolvedKind() != leader || len(leader.Policies) != 4 ||
		len(gate.Policies) != 0 {
		t.Errorf("%v leads, with %d and %d policies", gate.ResolvedKind().Name(), len(leader.Policies),
			len(gate.Policies))
	}
	said := 0
	for _, p := range r.Problems {
		if p.Code == model.NotEvaluated && strings.Contains(p.Message, "street") && p.Ref.Name == "early" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("what is not known is said %d times", said)
	}
}

func TestSubjectsThatCannotBeRead(t *testing.T) {
	for _, who := range []string{"null", "x", "[]", "{}", "{namespaces: {}, pods: {}}", "{namespaces: x}",
		"{pods: []}", "{pods: {namespaceSelector: {}}}", "{pods: {podSelector: 1, namespaceSelector: {}}}"} {
		r := fenced(t, yard, dog, fence("Fence", "f", "1", who, "boards: [{a: 1}]"))
		told := slices.ContainsFunc(r.Problems, func(p model.Problem) bool {
			return p.Code == model.WrongType && strings.Contains(p.Message, "spec.subject")
		})
		if got := r.order("Fence"); len(got) > 0 || !told {
			t.Errorf("%s: %q, told %v", who, got, told)
		}
	}
}

func TestNamespacesAboveWorkloads(t *testing.T) { // the family without scopes
	r := fenced(t, yard, dog, cat,
		"apiVersion: x.io/v1\nkind: Mood\nmetadata: {name: m, namespace: yard}\nspec: {targetRef: {group: '', kind: Namespace, name: yard}, calm: {a: 1}}\n")
	if got := r.order("Mood"); !slices.Equal(got, []string{"dog: calm.a"}) {
		t.Errorf("%q", got)
	}
	k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Mood"})
	k.EachContext(func(_ topology.NodeID, s StackID) {
		if !k.Verdict(s).Result.Ordered {
			t.Error("its rules have no order")
		}
	})
}

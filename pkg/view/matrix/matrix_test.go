package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// crossroads has a route on two Gateways of which one has a policy, one on a Gateway that is not
// there as well, one with a policy of its own, and one without a way in.
const crossroads = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: front, namespace: a}
spec: {gatewayClassName: c, listeners: [{name: one, port: 80, protocol: HTTP}, {name: two, port: 81, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: back, namespace: a}
spec: {gatewayClassName: c, listeners: [{name: one, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: both, namespace: a}
spec: {parentRefs: [{name: front}, {name: back}], rules: [{name: x}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: far, namespace: a}
spec: {parentRefs: [{name: front, sectionName: two}, {name: elsewhere}], rules: [{name: x}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: own, namespace: a}
spec: {parentRefs: [{name: back}], rules: [{name: x}, {name: y}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: idle, namespace: a}
spec: {rules: [{name: x}]}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: front, namespace: a}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: front}, wall: red}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: own, namespace: a}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: own, sectionName: x}, wall: blue}
---
apiVersion: x.io/v1
kind: Paint
metadata: {name: gone, namespace: a}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: own, sectionName: z}, wall: blue}
`

// marks are the rows of a matrix: rule, cells and ways.
func marks(m *PolicyMatrix) string {
	var out []string
	for i := range m.Items {
		row := &m.Items[i]
		words := []string{row.Target.Name, row.Target.Section}
		for c := range row.Cells {
			words = append(words, row.Cells[c].formatState())
		}
		for _, p := range row.Paths {
			words = append(words, strings.TrimSuffix(p.Gateway+" "+p.Listener, " "))
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "; ")
}

// TestMatrixRows: a row for each group of ways that are alike; a Gateway that is not in the input
// leaves its way open, and the answer incomplete.
func TestMatrixRows(t *testing.T) {
	r := viewtest.ResolutionOf(t, crossroads)
	paint := []model.GroupKind{{Group: "x.io", Kind: "Paint"}}
	nodes := func(kind, name string) []topology.NodeID {
		return r.Graph.Lookup(model.Ref{Group: "gateway.networking.k8s.io", Kind: kind, Namespace: "a", Name: name})
	}
	front := nodes("Gateway", "front")
	for name, tc := range map[string]struct {
		query    view.Query
		required [][]model.GroupKind
		want     string
		complete bool
		found    bool
	}{
		"everything": {view.Query{}, nil,
			"both x - a/back one; both x gateway a/front one a/front two; far x gateway a/front two; far x ? a/elsewhere; " +
				"own x rule a/back one; own y void a/back one", false, false},
		"missing": {view.Query{}, [][]model.GroupKind{paint},
			"both x - a/back one; far x ? a/elsewhere; own y void a/back one", false, true},
		"one route": {view.Query{Targets: nodes("HTTPRoute", "both")}, [][]model.GroupKind{paint},
			"both x - a/back one", true, true},
		"one Gateway": {view.Query{Targets: front, Through: front}, [][]model.GroupKind{paint}, "", true, false},
		"another kind": {view.Query{Kinds: []model.GroupKind{{Group: "y.io", Kind: "None"}}}, nil,
			"both x a/back one; both x a/front one a/front two; far x a/front two; far x a/elsewhere; own x a/back one; own y a/back one", true, false},
		"nothing at all": {view.Query{Targets: []topology.NodeID{}}, [][]model.GroupKind{paint}, "", true, false},
	} {
		m := matrixOf(t, r, Query{Query: tc.query, Required: tc.required})
		if got := marks(m); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
		if m.Complete != tc.complete || m.HasFindings() != tc.found {
			t.Errorf("%s: complete %v, found %v: %v", name, m.Complete, m.HasFindings(), m.Problems)
		}
	}
	m := matrixOf(t, r, Query{Required: [][]model.GroupKind{paint}})
	if got, want := fmt.Sprint(m.Counts, m.Rules, len(m.Idle)), "[{Paint.x.io 2 1 1 0}] 4 1"; got != want {
		t.Errorf("counts %s, want %s", got, want)
	}
	if w := m.Items[1]; len(w.Missing) != 0 || len(w.Unknown) != 1 {
		t.Errorf("the open way is missing %v, unknown %v", w.Missing, w.Unknown)
	}
}

// TestMatrixUnread: something unread at a node leaves open what is in force at the rules below it,
// on all their ways, but not that nothing is.
func TestMatrixUnread(t *testing.T) {
	for name, tc := range map[string]struct{ object, want string }{
		"a policy of an unknown sort": {"spec: {targetReference: {group: gateway.networking.k8s.io, kind: Gateway, name: front}}",
			"both x - a/back one; both x gateway? a/front one a/front two; own x rule a/back one; own y void a/back one"},
		"one at a listener": {"spec: {targetReference: {group: gateway.networking.k8s.io, kind: Gateway, name: front, sectionName: two}}",
			"both x - a/back one; both x gateway? a/front one a/front two; own x rule a/back one; own y void a/back one"},
		"one without policies": {"spec: {targetReference: {group: gateway.networking.k8s.io, kind: Gateway, name: back}}",
			"both x - a/back one; both x gateway? a/front one a/front two; own x rule? a/back one; own y void a/back one"},
		"a route of an unknown sort": {"spec: {parentRefs: [{name: front}], hostnames: [other.example.com]}",
			"both x - a/back one; both x gateway a/front one a/front two; own x rule a/back one; own y void a/back one"},
	} {
		known := strings.Replace(crossroads, ", {name: elsewhere}", "", 1)
		r := viewtest.ResolutionOf(t,
			known+"---\napiVersion: strange.io/v1\nkind: Strange\nmetadata: {name: s, namespace: a}\n"+tc.object+"\n")
		m := matrixOf(t, r, Query{})
		var rows []string
		for _, row := range strings.Split(marks(m), "; ") {
			if !strings.HasPrefix(row, "far ") {
				rows = append(rows, row)
			}
		}
		if got := strings.Join(rows, "; "); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
		if m.Complete {
			t.Errorf("%s: the answer is complete", name)
		}
	}
}

// matrixOf is the matrix of an input.
func matrixOf(t *testing.T, r *resolve.Resolution, q Query) *PolicyMatrix {
	t.Helper()
	m, err := Build(r, q)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

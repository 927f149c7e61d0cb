package vectortest

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// policyKinds are the policy kinds of an input of which a matrix can have cells.
func policyKinds(in *model.Snapshot, r *resolve.Resolution) []model.GroupKind {
	out := []model.GroupKind{}
	for _, gk := range in.Kinds() {
		if r.Kind(gk) != nil && matrix.HoldsAtRoutes(r, gk) {
			out = append(out, gk)
		}
	}
	return out
}

// onPath is one way to a route rule, as one policy kind sees it.
type onPath struct {
	kind   string
	target model.Ref
	path   string
}

// cellsOf are the cells of a matrix by way.
func cellsOf(m *matrix.PolicyMatrix) map[onPath]matrix.MatrixCell {
	out := map[onPath]matrix.MatrixCell{}
	for _, row := range m.Items {
		for _, cell := range row.Cells {
			for _, p := range row.Paths {
				out[onPath{cell.PolicyKind, row.Target, p.Key()}] = cell
			}
		}
	}
	return out
}

// TestMatrix holds the matrix of every vector and of the demos against what is in force: the same
// levels, at the same rules, on the same paths.
func TestMatrix(t *testing.T) {
	compared := 0
	eachInput(t, func(t *testing.T, o load.Options, settings []string) { compared += matrices(t, o, settings) })
	if compared < 800 {
		t.Errorf("only %d cells were compared", compared)
	}
}

func matrices(t *testing.T, o load.Options, settings []string) (compared int) {
	t.Helper()
	in, catalog := loaded(t, o, settings)
	r := resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
	cells := cellsOf(matrixOf(t, r, view.Query{}))
	atRules := map[string]bool{} // kinds with results at rules
	want := map[onPath][]string{}
	list := effective.List(r, view.Query{ShowNone: true})
	for i := range list.Items {
		item := &list.Items[i]
		if item.Target.Section == "" || !slices.Contains(gatewayapi.RouteKinds(), item.Target.GroupKind()) {
			continue
		}
		if k := r.Kind(model.ParseGroupKind(item.PolicyKind)); !k.HasResultsAt(topology.Rule) &&
			!k.HasResultsAt(topology.Route) {
			continue // annotations on the way to a rule are no policies of the rule
		}
		atRules[item.PolicyKind] = true
		for _, p := range item.Paths {
			want[onPath{item.PolicyKind, item.Target, p.Key()}] = levelsOf(item)
		}
	}
	for at, levels := range want {
		compared++
		cell, ok := cells[at]
		if got := slices.Sorted(slices.Values(cell.Levels)); !ok && levels != nil || !slices.Equal(got, levels) {
			t.Errorf("%s at %s: the matrix has %q (%s), in force is %q", at.kind, at.target, got, cell.State, levels)
		}
	}
	for at, cell := range cells {
		if cell.Levels != nil && atRules[at.kind] && want[at] == nil {
			t.Errorf("%s at %s: the matrix has %q, nothing is in force", at.kind, at.target, cell.Levels)
		}
	}
	return compared
}

// levelsOf are the levels from which policies are in force, sorted.
func levelsOf(item *view.EffectivePolicy) []string {
	var out []string
	for _, rule := range item.Rules {
		for _, s := range rule.Sources {
			if s.Builtin == "" {
				out = append(out, s.Level)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// compareMatrix lists what is wrong with a matrix that knows less: whatever it claims has to be so,
// and a rule on which it shows a policy of a kind to be in force on all ways must have one on all
// ways.
func compareMatrix(whole, got *matrix.PolicyMatrix, wrong func(string, ...any)) {
	want := cellsOf(whole)
	type governed struct {
		kind   string
		target model.Ref
	}
	sure := map[governed]bool{}
	for at, cell := range cellsOf(got) {
		rule := governed{at.kind, at.target}
		if known, ok := sure[rule]; !ok || known {
			sure[rule] = cell.State == matrix.CellInForce
		}
		if cell.State == matrix.CellUnknown {
			continue
		}
		w, ok := want[at]
		if !ok && cell.State == matrix.CellNotApplicable {
			continue
		}
		if !ok || w.State != cell.State && w.State != matrix.CellUnknown || !slices.Equal(w.Levels, cell.Levels) {
			wrong("matrix: unmarked: %s at %s: %s %v, and not %s %v", at.kind, at.target, cell.State, cell.Levels,
				w.State, w.Levels)
		}
	}
	for at, cell := range want {
		if sure[governed{at.kind, at.target}] && cell.State != matrix.CellInForce {
			wrong("matrix: %s at %s is said to be in force on all ways, and is %s on one", at.kind,
				at.target, cell.State)
		}
	}
	for _, ref := range got.Idle {
		if !slices.Contains(whole.Idle, ref) {
			wrong("matrix: %s is said to get no traffic", ref)
		}
	}
}

// matrixOf is the matrix of an input.
func matrixOf(t testing.TB, r *resolve.Resolution, q view.Query) *matrix.PolicyMatrix {
	t.Helper()
	m, err := matrix.Build(r, matrix.Query{Query: q, Judges: plugin.Judges(plugins.All())})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

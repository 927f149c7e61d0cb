package kuma

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

var builtinPolicyWins = model.Rule{ID: "BuiltinPolicyWins", Severities: []model.Severity{model.Warning},
	Summary: "a policy is overridden, because of its name, by one that the control plane creates for every mesh and that is not in the input",
	Fix:     "give it a name that comes earlier in the alphabet, or a narrower target"}

// builtinPolicies are the policies that the control plane creates for a mesh, by kind: their names
// without the mesh's, and a field that they set ("" for whatever a policy may set).
var builtinPolicies = []struct{ kind, name, sets string }{
	{"MeshTimeout", "mesh-timeout-to-all-", ""},
	{"MeshRetry", "mesh-retry-all-", ""},
	{"MeshCircuitBreaker", "mesh-circuit-breaker-all-", "connectionLimits"},
}

// findBuiltinWins reports policies of the system for all of a mesh that are overridden, by name, by those
// that the control plane creates: of fields that both set the earlier name in the alphabet wins. On a
// cluster the built-in ones are in the input, and the answer tells.
func findBuiltinWins(r *resolve.Resolution) []model.Problem {
	in := r.Snapshot
	if in.Cluster != nil {
		return nil
	}
	s := withDialect(in, r.Settings)
	if !isDialect214(s) { // 3.0 creates none
		return nil
	}
	var out []model.Problem
	for _, b := range builtinPolicies {
		gk := model.GroupKind{Group: group, Kind: b.kind}
		for _, o := range in.OfKind(gk) {
			labels := computeLabels(o, in, s)
			builtin := b.name + labels[meshLabel]
			if labels[roleLabel] != systemRole || labels[displayNameLabel] <= builtin || !isForWholeMesh(o, b.sets) ||
				skipsBuiltin(in, labels[meshLabel]) {
				continue
			}
			if slices.ContainsFunc(in.OfKind(gk), func(other *model.Object) bool {
				return computeLabels(other, in,
					s)[displayNameLabel] == builtin
			}) {
				continue
			}
			p := builtinPolicyWins.NewProblem(
				"the control plane creates %s for the mesh, which is not in the input and comes before %s in the alphabet: it overrides every field that both set",
				builtin, labels[displayNameLabel]).At(o)
			p.Hint = "give the policy a name that comes before " + builtin
			out = append(out, p)
		}
	}
	return out
}

// isForWholeMesh reports whether a policy says something of all that a mesh sends, of the given
// field if it is not "".
func isForWholeMesh(o *model.Object, field string) bool {
	mesh := func(ref model.Body) bool { kind := ref.Text("kind"); return kind == "" || kind == "Mesh" }
	if !mesh(o.Body.At("spec", "targetRef")) {
		return false
	}
	for _, item := range o.Body.At("spec", "to").Items {
		conf := item.Field("default")
		if field != "" {
			conf = conf.Field(field)
		}
		if mesh(item.Field("targetRef")) && !conf.IsNull() {
			return true
		}
	}
	return false
}

// skipsBuiltin reports whether the Mesh says that no policies are to be created for it.
func skipsBuiltin(in *model.Snapshot, mesh string) bool {
	m := in.Get(model.Ref{Group: group, Kind: "Mesh", Name: mesh})
	return m != nil && settingsOf(m).At("skipCreatingInitialPolicies").Len() > 0
}

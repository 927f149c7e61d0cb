package kuma

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// builtinPolicies are the policies that the control plane creates for a mesh, by kind: their names without the mesh's, and a field that they
// set ("" for whatever a policy may set).
var builtinPolicies = []struct{ kind, name, sets string }{
	{"MeshTimeout", "mesh-timeout-to-all-", ""},
	{"MeshRetry", "mesh-retry-all-", ""},
	{"MeshCircuitBreaker", "mesh-circuit-breaker-all-", "connectionLimits"},
}

// builtinWins reports policies of the system for all of a mesh that lose by name to those that the control plane creates: of fields that both
// set the earlier name in the alphabet wins. On a cluster the built-in ones are in the input, and the answer tells.
func builtinWins(r *resolve.Resolution) []model.Problem {
	in := r.Snapshot
	if in.Cluster != nil {
		return nil
	}
	s := decided(in, r.Settings)
	var out []model.Problem
	for _, b := range builtinPolicies {
		gk := model.GroupKind{Group: group, Kind: b.kind}
		for _, o := range in.Of(gk) {
			labels := labelsOf(o, in, s)
			builtin := b.name + labels[meshLabel]
			if labels[roleLabel] != systemRole || labels[displayNameLabel] <= builtin || !forWholeMesh(o, b.sets) || skipsBuiltin(in, labels[meshLabel]) {
				continue
			}
			if slices.ContainsFunc(in.Of(gk), func(other *model.Object) bool { return labelsOf(other, in, s)[displayNameLabel] == builtin }) {
				continue
			}
			out = append(out, model.Problem{Severity: model.Warning, Code: model.BuiltinPolicyWins, Message: fmt.Sprintf(
				"the control plane creates %s for the mesh, which is not in the input and comes before %s in the alphabet: it wins every field that both set", builtin, labels[displayNameLabel]),
				Hint: "give the policy a name that comes before " + builtin}.At(o))
		}
	}
	return out
}

// forWholeMesh reports whether a policy says something of all that a mesh sends, of the given field if it is not "".
func forWholeMesh(o *model.Object, field string) bool {
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
	return m != nil && spec(m).At("skipCreatingInitialPolicies").Len() > 0
}

// appended reports MeshPassthroughs that add matches to a list that the mode in force does not read, wherever they hold.
func appended(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range r.Kinds {
		if k.GroupKind.Group != group || k.GroupKind.Kind != "MeshPassthrough" || len(k.Policies) == 0 {
			continue
		}
		k.Fold()
		idle, read := map[*policy.Policy]string{}, map[*policy.Policy]bool{}
		k.InForce(func(s resolve.StackID) {
			o := k.Verdict(s)
			mode, _ := model.Get(merge.Plain(o.Result.Doc), "passthroughMode").(string)
			for _, rule := range o.Result.Rules {
				if rule.Name != "appendMatch" {
					continue
				}
				for _, from := range rule.From {
					p := o.Layers[from.Layer].Policy.Base()
					if mode == "All" || mode == "None" {
						idle[p] = mode
					} else {
						read[p] = true
					}
				}
			}
		})
		for _, p := range k.Policies {
			if idle[p] == "" || read[p] || len(k.GapsOf(p)) > 0 {
				continue
			}
			problem := model.Problem{Severity: model.Warning, Code: model.AppendWithoutEffect, Message: fmt.Sprintf(
				"with passthroughMode %s the matches that %s appends are not read", idle[p], p.Ref())}.At(p.Object)
			origin := p.Object.OriginOf("spec", "default", "appendMatch")
			problem.Origin = &origin
			out = append(out, problem)
		}
	}
	return out
}

package gloo

import (
	"fmt"
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

const severalRefsRelease = "1.19" // the release since which all targetRefs count

// readRelease is the controller's release.
func readRelease(s model.Settings) string { return s.Text("gloo.version") }

// limitTargetRefs leaves an option the targetRefs that the release reads: up to 1.18 the first one.
func limitTargetRefs(_ *model.Object, body any, s model.Settings) any {
	if !descriptor.IsVersionBelow(readRelease(s), severalRefsRelease) {
		return body
	}
	object, _ := body.(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	refs, _ := spec["targetRefs"].([]any)
	if len(refs) < 2 {
		return body
	}
	object, spec = maps.Clone(object), maps.Clone(spec)
	object["spec"], spec["targetRefs"] = spec, refs[:1]
	return object
}

// checkUnreadTargetRefs says which targetRefs of an option the release does not read.
func checkUnreadTargetRefs(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	r := readRelease(p.Kind.Settings)
	n := p.Object.Body.At("spec", "targetRefs").Len()
	if n < 2 || !descriptor.IsVersionBelow(r, severalRefsRelease) {
		return "", nil
	}
	problem := model.Problem{Severity: model.Warning, Code: model.InvalidTarget,
		Hint:    "write one option for each target",
		Message: fmt.Sprintf("release %s reads the first of the %d targetRefs only; the others do not attach", r, n)}
	return "", []model.Problem{problem.At(p.Object, "spec", "targetRefs", "1")}
}

// attachToListenerSets attaches an option to the listener sets that it names by section, where a
// reference to their whole Gateway stands before that: for the controller the option is then one
// for all listeners of the set, whatever the section is called.
func attachToListenerSets(p *policy.Policy, g *topology.Graph, _ *model.Snapshot, _ model.Settings) ([]policy.Attached,
	[]model.Problem) {
	var out []policy.Attached
	home := p.Ref().Namespace
	whole := map[model.Ref]bool{} // what is named without a section so far
	for i, t := range p.Refs {
		ref := t.Ref.WithoutSection()
		if t.Ref.Section == "" {
			whole[ref] = true
			continue
		}
		if ref.Namespace != home || !gatewayapi.IsListenerSet(ref.GroupKind()) {
			continue
		}
		for _, set := range g.Lookup(ref) {
			if gateway := g.ListenerSet(set).Gateway; gateway != topology.None && whole[g.Node(gateway).Ref] &&
				g.Node(gateway).Ref.Namespace == home {
				out = append(out, policy.Attached{Policy: p, Node: set, Ref: i})
			}
		}
	}
	return out, nil
}

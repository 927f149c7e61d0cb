// Package agc describes the policy kinds of Azure Application Gateway for Containers.
package agc

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "agc", Kinds: kinds, Gates: protect.Functions{"agc.Certificate": buildCertificateGate},
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"agc.References": normalizeReferences}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"agc.Override": checkOverride},
			Lints:  map[string]policy.Lint{"agc.Timeouts": findTimeoutConflicts}}}
}

// normalizeReferences makes of the vendor's two forms of references, targetRef with a list of
// sections and targetRefs with a targetRef in each entry, one reference for each section.
func normalizeReferences(_ *model.Object, body any, _ model.Settings) any {
	whole, ok := body.(map[string]any)
	spec, both := whole["spec"].(map[string]any)
	if !ok || !both {
		return body
	}
	var refs []any
	add := func(ref map[string]any) {
		sections, _ := ref["sectionNames"].([]any)
		ref = maps.Clone(ref)
		delete(ref, "sectionNames")
		if len(sections) == 0 {
			refs = append(refs, ref)
		}
		for _, s := range sections {
			one := maps.Clone(ref)
			one["sectionName"] = s
			refs = append(refs, one)
		}
	}
	if ref, ok := spec["targetRef"].(map[string]any); ok {
		add(ref)
	}
	entries, _ := spec["targetRefs"].([]any)
	for _, e := range entries {
		if entry, ok := e.(map[string]any); ok {
			if ref, ok := entry["targetRef"].(map[string]any); ok {
				add(ref)
			}
		}
	}
	spec, whole = maps.Clone(spec), maps.Clone(whole)
	delete(spec, "targetRef")
	spec["targetRefs"] = refs
	whole["spec"] = spec
	return whole
}

// checkOverride finds policies with an override, which the types have and the controller refuses.
func checkOverride(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	if p.Object.Body.At("spec", "override").IsNull() {
		return "", nil
	}
	p.Reason = "OverrideNotSupported"
	return "override is not supported", []model.Problem{model.Problem{Severity: model.Warning,
		Code:    model.PolicyInError,
		Message: "the policy is in error: the controller does not support override",
		Hint:    "put the settings below default"}.At(p.Object, "spec", "override")}
}

// findTimeoutConflicts reports RoutePolicies with a timeout for routes that have timeouts
// themselves: the policy is accepted, and which of them counts is stated nowhere.
func findTimeoutConflicts(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Object == nil || n.Hop > 0 {
			continue
		}
		own := false
		for i := range n.Object.Body.At("spec", "rules").Items {
			own = own || !n.Object.Body.At("spec", "rules", strconv.Itoa(i), "timeouts").IsNull()
		}
		for _, a := range at(id) {
			if own && !a.Policy.Object.Body.At("spec", "default", "timeouts").IsNull() {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
					"%s has timeouts of its own: whether these or those of the policy count is stated nowhere (the condition says AcceptedWithTimeoutConflict)", n.Ref)}.At(a.Policy.Object, "spec", "default", "timeouts"))
			}
		}
	}
	return out
}

// buildCertificateGate is the gate of client certificates, which only a listener with TLS can
// demand.
func buildCertificateGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Listener() != topology.None && in.Resolution().Graph.Listener(in.Listener()).Protocol != "HTTPS" {
		return nil
	}
	return []protect.Gate{g}
}

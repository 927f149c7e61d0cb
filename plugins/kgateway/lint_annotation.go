package kgateway

import (
	"encoding/json"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var securityHint = model.Rule{ID: "SecurityHint", Severities: []model.Severity{model.Info},
	Summary: "a setting protects less than its name promises",
	Fix:     "read in the message what it does not cover"}

// inheritAnnotation is the annotation with which an HTTPRoute that delegates says how its policies
// meet those of its children.
const inheritAnnotation = "kgateway.dev/inherited-policy-priority"

// findAnnotationProblems reports annotations that nothing reads, and what the setting policyMerge
// cannot say.
func findAnnotationProblems(k *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	say := func(o *model.Object, severity model.Severity, code model.Code, format string, args ...any) {
		out = append(out, model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...)}.At(o,
			"metadata", "annotations", inheritAnnotation))
	}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Object == nil || n.Ref.Section != "" || n.Hop > 0 {
			continue
		}
		how, ok := n.Object.Annotations[inheritAnnotation]
		switch {
		case !ok || k.GroupKind != trafficKind:
		case n.Ref.Kind != "HTTPRoute":
			say(n.Object, model.Warning, model.AnnotationIgnored, "annotation %s is read of HTTPRoutes only",
				inheritAnnotation)
		case how == deepParent && at.HasAny(id):
			say(n.Object, model.Info, securityHint.ID,
				"with %s the route's policies come first only in extAuth, extProc, transformation and acl; whatever else a child sets, the child has", deepParent)
		case how != shallowChild && how != shallowParent && how != deepChild && how != deepParent:
			say(n.Object, model.Warning, model.AnnotationIgnored, "annotation %s is %q, which means %s",
				inheritAnnotation, how, shallowChild)
		}
	}
	if k.GroupKind != trafficKind {
		return out
	}
	if raw := k.Settings.Text("kgateway.policyMerge"); !json.Valid([]byte(raw)) {
		out = append(out, model.Problem{Severity: model.Error, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"setting kgateway.policyMerge is %q, which is no JSON: the controller would merge nothing; it is read as {}", raw)})
	}
	return out
}

// checkIgnoredAnnotations reports annotations of a policy that nothing reads there.
func checkIgnoredAnnotations(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	var out []model.Problem
	for _, key := range []string{weightAnnotation, inheritAnnotation} {
		if _, ok := p.Object.Annotations[key]; !ok || key == weightAnnotation && p.Kind.GroupKind == trafficKind {
			continue
		}
		of := "HTTPRoutes"
		if key == weightAnnotation {
			of = "TrafficPolicies"
		}
		problem := model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored,
			Message: fmt.Sprintf("annotation %s is read of %s only", key, of)}
		out = append(out, problem.At(p.Object, "metadata", "annotations", key))
	}
	return "", out
}

package kuma

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var permissionKind = model.GroupKind{Group: group, Kind: "MeshTrafficPermission"}

// inputProblems says what the control plane would refuse, what was assumed, and what a reader of
// the answer has to know; s is what was asked for, with the dialect decided.
func inputProblems(in *model.Snapshot, asked, s model.Settings) []model.Problem {
	out := dialectProblems(in, asked)
	for _, o := range in.Objects {
		if isPolicy(o) && o.Body.At("spec").IsObject() {
			out = append(out, admissionProblems(o, s)...)
			if !isDialect214(s) {
				out = append(out, unevaluatedProblems(o)...)
			}
		}
	}
	out = append(out, computedLabelProblems(in, s)...)
	return append(out, permissionProblems(in, s)...)
}

// computedLabelProblems says that labels were filled in which the control plane has not written
// yet.
func computedLabelProblems(in *model.Snapshot, s model.Settings) []model.Problem {
	if s.Text("kuma.labels") != "auto" || in.Cluster != nil {
		return nil
	}
	n := 0
	var first *model.Object
	for _, o := range in.Objects {
		if isPolicy(o) && o.Labels[roleLabel] == "" && (o.Labels[originLabel] == "" ||
			o.Labels[originLabel] == s.Text("kuma.mode")) {
			if n++; first == nil {
				first = o
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"labels that the control plane writes are computed where they are absent: of this policy and %d more, the role", n-1),
		Hint: "--vendor-setting kuma.labels=stored takes them as they are"}.At(first)}
}

// admissionProblems is what the control plane's admission refuses about a policy. It is evaluated
// all the same.
func admissionProblems(o *model.Object, s model.Settings) []model.Problem {
	invalid := func(format string, args ...any) []model.Problem {
		return []model.Problem{model.Problem{Severity: model.Warning, Code: model.InvalidObject,
			Message: "the control plane refuses it: " + fmt.Sprintf(format, args...)}.At(o)}
	}
	body := o.Body.At("spec")
	to, rules, from := body.Field("to"), body.Field("rules"), body.Field("from")
	if !isDialect214(s) {
		if why := explainRefused(o); why != "" {
			return invalid("%s", why)
		}
	}
	switch {
	case to.Len() > 0 && rules.Len() > 0:
		return invalid("to and rules cannot stand in one policy")
	case to.Len() > 0 && from.Len() > 0 && o.Ref.Namespace != s.Text("kuma.systemNamespace"):
		return invalid("to and from cannot stand in one policy outside of the system namespace")
	}
	if _, ok := computeRole(o, s); !ok {
		return invalid("its items name services of its own (producer) and others (consumer)")
	}
	for i, item := range to.Items {
		kind := item.Field("targetRef").Field("kind").Text()
		if !canName(o.Ref.Kind, kind) {
			return invalid("to[%d] names a %s, which %s does not support", i, kind, o.Ref.Kind)
		}
		if item.Field("hostnames").Len() > 0 && body.At("targetRef", "kind").Text() != gatewayKind.Kind {
			return invalid("to[%d].hostnames is for policies of a MeshGateway alone", i)
		}
	}
	return nil
}

// explainRefused says what 3.0 refuses of what 2.14 takes: kinds of the top level other than Mesh and
// Dataplane, and permissions without rules, or with a rule or a match that says nothing
// (kuma 348b6528b, UPGRADE.md, and validate of the policies).
func explainRefused(o *model.Object) string {
	body := o.Body.At("spec")
	if kind := body.Text("targetRef", "kind"); kind == "MeshSubset" || kind == "MeshService" ||
		kind == "MeshServiceSubset" {
		return "targetRef is a " + kind + ", and 3.0 takes Mesh and Dataplane only"
	}
	if o.Ref.GroupKind() != permissionKind {
		return ""
	}
	rules := body.Field("rules")
	if rules.Len() == 0 {
		return "policy must define rules: 3.0 does not have from"
	}
	for i, rule := range rules.Items {
		matches := 0
		for _, field := range []string{"allow", "allowWithShadowDeny", "deny"} {
			for j, match := range rule.At("default", field).Items {
				matches++
				if match.Len() == 0 {
					return fmt.Sprintf("rules[%d].default.%s[%d] is an empty match, which 3.0 does not take", i, field, j)
				}
			}
		}
		if matches == 0 {
			return fmt.Sprintf("rules[%d] has none of allow, allowWithShadowDeny and deny", i)
		}
	}
	return ""
}

// canName reports whether items of a policy kind may name destinations of a kind; of kinds that are
// not Kuma's all may.
func canName(policy, kind string) bool {
	switch kind {
	case "MeshHTTPRoute":
		return policy != "MeshCircuitBreaker" && policy != "MeshHealthCheck" && policy != "MeshRateLimit" &&
			policy != "MeshFaultInjection" && policy != "MeshHTTPRoute" && policy != "MeshTCPRoute"
	case "MeshService", "MeshExternalService", "MeshMultiZoneService":
		return policy != "MeshRateLimit" && policy != "MeshFaultInjection"
	}
	return true
}

// unevaluatedProblems is what of a policy the answer leaves out.
func unevaluatedProblems(o *model.Object) []model.Problem {
	var out []model.Problem
	for i, item := range o.Body.At("spec", "to").Items {
		if item.Field("hostnames").Len() > 0 {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: fmt.Sprintf(
					"to[%d].hostnames is of 2.14 and not evaluated in the dialect 3.0: the rules are listed as if they were for all", i)}.At(o))
		}
	}
	return out
}

// permissionProblems says once for each mesh how the lists of MeshTrafficPermission are to be read,
// and when they have an effect.
func permissionProblems(in *model.Snapshot, s model.Settings) []model.Problem {
	var out []model.Problem
	said := map[string]bool{}
	for _, o := range in.OfKind(permissionKind) {
		mesh := computeLabels(o, in, s)[meshLabel]
		if said[mesh] || o.Body.At("spec", "rules").Len() == 0 {
			continue
		}
		said[mesh] = true
		message := fmt.Sprintf(
			"mesh %s: of the rules of an inbound any deny decides before any allow, whatever their order; without one that matches, requests are denied", mesh)
		if m := in.Get(model.Ref{Group: group, Kind: "Mesh", Name: mesh}); m == nil ||
			!isDialect214(s) || settingsOf(m).At("mtls", "enabledBackend").Text() == "" {
			message += "; they have an effect only with mTLS, which " + map[bool]string{
				true: "the Mesh does not enable (a MeshIdentity may)", false: "a MeshIdentity gives"}[isDialect214(s)]
		}
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Message: message}.At(o))
	}
	return out
}

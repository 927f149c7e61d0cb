package behavior

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
)

// addSettings adds the settings of an effective policy.
func (s *behaviorEvaluator) addSettings(item *view.EffectivePolicy, out *classBehavior) {
	at := item.Target.Kind
	switch {
	case strings.HasSuffix(at, "Route"), at == "Gateway", at == "ListenerSet", strings.HasSuffix(at, "ListenerSet"):
		if item.Target.Section != "" {
			at += "/section"
		}
	default:
		at = item.Target.String()
	}
	all := [][]view.Rule{item.Rules}
	for _, g := range item.Groups {
		all = append(all, g.Rules)
	}
	for i, rules := range all {
		in := at
		if i > 0 {
			in += " " + item.Groups[i-1].Name
		}
		for j := range rules {
			f := settingInForce{kind: item.PolicyKind, at: in, name: rules[j].Name, value: rules[j].Value,
				text: string(model.AppendJSON(nil, rules[j].Value))}
			if item.Ordered {
				f.order = j
			}
			out.settings = append(out.settings, f)
		}
	}
	if s.isProtecting(item) {
		out.protected = append(out.protected, item.PolicyKind)
	}
}

// isProtecting reports whether an effective policy keeps requests out. A kind without a descriptor
// is taken to do so, as it is not known.
func (s *behaviorEvaluator) isProtecting(item *view.EffectivePolicy) bool {
	gk := model.ParseGroupKind(item.PolicyKind)
	if s.protectingKinds != nil {
		return slices.Contains(s.protectingKinds, gk)
	}
	k := s.collector.Resolution.Kind(gk)
	if k == nil || k.IsGeneric() {
		return true
	}
	return k.Protects.KeepsOut(func(path string) bool {
		return path == "*" ||
			slices.ContainsFunc(item.Rules, func(r view.Rule) bool { return protection.SetsBelow(&r, path) })
	})
}

// applyDecisions adds what the policy kinds decide that judge requests.
func (s *behaviorEvaluator) applyDecisions(a *request.Answer, out *classBehavior) {
	var told []string
	protected := slices.Clone(out.protected)
	out.denied, out.unexplainedDenials, out.unjudged = nil, nil, nil
	for _, decision := range s.writer.JudgeRequest(a) {
		told = append(told, decision.PolicyKind+" "+decision.Direction+" "+decision.Outcome)
		counts := s.protectingKinds == nil ||
			slices.Contains(s.protectingKinds, model.ParseGroupKind(decision.PolicyKind))
		switch decision.Outcome {
		case string(request.Denied):
			out.denied = append(out.denied, decision.PolicyKind)
			if !out.protection.ExplainsDecision(&decision) {
				out.unexplainedDenials = append(out.unexplainedDenials, decision.PolicyKind)
			}
		case string(request.NotEvaluated):
			if k := s.collector.Resolution.Kind(model.ParseGroupKind(decision.PolicyKind)); k != nil &&
				len(k.Protects.Rules) > 0 {
				s.decisionProblems[formatKindNames([]string{decision.PolicyKind})+": "+decision.FormatSentence()] = true
			} else {
				out.unjudged = append(out.unjudged, decision.PolicyKind)
			}
			if counts {
				protected = append(protected, decision.PolicyKind)
			}
		}
	}
	slices.Sort(told)
	slices.Sort(protected)
	out.protected, out.decisions = slices.Compact(protected), strings.Join(told, ", ")
}

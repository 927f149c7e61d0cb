package agentgateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var policyKind = model.GroupKind{Group: group, Kind: "AgentgatewayPolicy"}

var settingNeverRead = model.Rule{ID: "SettingNeverRead", Severities: []model.Severity{model.Warning},
	Summary: "the API takes a setting and the status calls it attached, but nobody reads it for such a target",
	Fix:     "set it on another target"}

var routeSettingOverridden = model.Rule{ID: "RouteSettingOverridden", Severities: []model.Severity{model.Warning},
	Summary: "a policy overrides what a route sets itself",
	Fix:     "leave it out of the route, or of the policy that overrides"}

var unexpectedPrecedence = model.Rule{ID: "UnexpectedPrecedence", Severities: []model.Severity{model.Warning},
	Summary: "a setting is overridden by one that people expect it to override",
	Fix:     "set it in one place only"}

// findUnreadSettings reports settings that hold at no target of their policy.
func findUnreadSettings(r *resolve.Resolution) []model.Problem {
	k := r.Kind(policyKind)
	if k == nil {
		return nil
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if p.Refused || len(p.Refs) == 0 {
			continue
		}
		spec := p.Object.Body.Field("spec")
		say := func(field, format string, args ...any) {
			out = append(out, settingNeverRead.NewProblem(format, args...).At(p.Object, "spec", field))
		}
		switch kind := p.Refs[0].Ref.Kind; {
		case gatewayapi.IsListenerSet(p.Refs[0].Ref.GroupKind()) && !spec.Field("backend").IsNull():
			say("backend",
				"spec.backend of %s is never in force: the data plane does not ask ListenerSets about backends",
				p.Ref())
		case kind == "InferencePool" && !spec.Field("traffic").IsNull():
			say("traffic",
				"spec.traffic of %s is never in force: the data plane does not ask InferencePools about traffic",
				p.Ref())
		}
		if spec.Text("traffic", "phase") == "PreRouting" && spec.Text("strategy", "inheritance") == "Override" {
			say("strategy", "strategy.inheritance of %s has no effect: before routing the most specific policy counts",
				p.Ref())
		}
	}
	return out
}

// reportedSetting is a setting of a policy that was reported.
type reportedSetting struct {
	policy *policy.Policy
	rule   string
}

// findSurprisingLosses reports the losses that the API's documentation does not lead one to expect.
func findSurprisingLosses(r *resolve.Resolution) []model.Problem {
	k := r.Kind(policyKind)
	if k == nil || len(k.Policies) == 0 {
		return nil
	}
	var out []model.Problem
	seen := map[reportedSetting]bool{}
	k.EachContext(func(_ topology.NodeID, s resolve.StackID) {
		o := k.Verdict(s)
		for _, l := range o.Losses() {
			loser := o.Layers[l.From.Layer]
			if len(l.To) == 0 || loser.Policy.Builtin != "" || seen[reportedSetting{loser.Policy, l.Rule}] {
				continue
			}
			winner := o.Layers[l.To[0].Layer]
			p := explainLoss(l, loser, winner)
			if p != nil {
				seen[reportedSetting{loser.Policy, l.Rule}] = true
				out = append(out, p.At(loser.Policy.Object, append([]string{"spec"}, segmentNames(l.Path)...)...))
			}
		}
		out = append(out, findOverriddenRoutes(r, o, seen)...)
	})
	return out
}

// explainLoss is what to say of a loss, nil if it is what people expect.
func explainLoss(l merge.Loss, loser, winner resolve.Layer) *model.Problem {
	var p model.Problem
	switch {
	case l.Rule == "traffic.buffer" && l.Reason == merge.LessSpecificOverrides:
		p = unexpectedPrecedence.NewProblem(
			"traffic.buffer of %s is overridden by that of %s, which is less specific: of buffers the least specific counts",
			loser.Policy.Ref(), winner.Policy.Ref())
	case (loser.Level == topology.Backend || loser.Level == topology.Port) && (winner.Level == topology.Route ||
		winner.Level == topology.Rule):
		p = unexpectedPrecedence.NewProblem(
			"%s of %s is overridden by that of %s on routes that lead there: policies of routes come before those of the backend as a whole",
			l.Rule, loser.Policy.Ref(), winner.Policy.Ref())
	default:
		return nil
	}
	return &p
}

// findOverriddenRoutes reports what routes say themselves and policies override.
func findOverriddenRoutes(r *resolve.Resolution, o *resolve.Verdict, seen map[reportedSetting]bool) []model.Problem {
	var out []model.Problem
	for _, step := range o.Result.Trace {
		for _, e := range step.Effects {
			if e.Reason != merge.LessSpecificOverrides || len(e.From) == 0 || len(e.Other) == 0 {
				continue
			}
			own, by := o.Layers[e.From[0].Layer], o.Layers[e.Other[0].Layer].Policy
			ref := r.Node(own.Node).Ref
			key := reportedSetting{by, e.Rule + " " + ref.String()}
			if own.Level != policy.InlineRule || by.Builtin != "" || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, routeSettingOverridden.NewProblem("%s of %s is not in force: %s overrides it",
				own.Policy.Builtin, ref, by.Ref()).At(own.Policy.Object))
		}
	}
	return out
}

// segmentNames are the keys of a path.
func segmentNames(p merge.Path) []string {
	out := make([]string, len(p))
	for i, s := range p {
		out[i] = s.Name
	}
	return slices.Clip(out)
}

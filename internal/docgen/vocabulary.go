package main

import (
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cover"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
)

// vocabulary is the words of fields: of Type.Field, by a keyword of JSON Schema.
type vocabulary map[string]map[string][]string

// vocabulary has the words that are all there are (enum), and those of this program where vendors
// add more (examples). What is a constant of a type is read off its package.
func (s *sources) vocabulary() (vocabulary, error) {
	words := map[reflect.Type][]string{}
	for _, t := range []reflect.Type{reflect.TypeFor[merge.Reason](), reflect.TypeFor[merge.Criterion](),
		reflect.TypeFor[resolve.Role](), reflect.TypeFor[model.Severity](), reflect.TypeFor[topology.Role](),
		reflect.TypeFor[request.Outcome](),
		reflect.TypeFor[request.Protocol](), reflect.TypeFor[status.DifferenceKind](),
		reflect.TypeFor[status.AuditResult](), reflect.TypeFor[audit.Verdict](), reflect.TypeFor[point.Name]()} {
		var err error
		if words[t], err = s.words(t); err != nil {
			return nil, err
		}
	}
	verdicts := []string{string(point.Allowed), string(point.Denied), string(point.Depends)}
	blocks := []string{merge.Defaults.String(), merge.Bare.String(), merge.Overrides.String()}
	strategies := []string{"atomic", "merge", "patch", "none", "union", "custom"}
	roles := words[reflect.TypeFor[topology.Role]()]
	levels := append(slices.Clip(roles), string(policy.FilterLevel), string(policy.SectionLevel))
	reasons, severities, outcomes := words[reflect.TypeFor[merge.Reason]()], words[reflect.TypeFor[model.Severity]()],
		words[reflect.TypeFor[request.Outcome]()]
	return vocabulary{"examples": {
		"Source.Level": levels, "PolicyUse.Level": levels, "GraphNode.Kind": append(slices.Clip(roles),
			"policy", graph.PointKind), "Condition.Status": {"True", "False", "Unknown"},
	}, "enum": {
		"Problem.Severity": severities, "Finding.Severity": severities, "Rule.Severities": severities,
		"Suppression.By": {check.ByFlag, check.ByConfig, check.ByAnnotation},

		"Source.Block": blocks, "Source.Strategy": strategies,
		"PolicyUse.Strategy": strategies, "PolicyUse.Role": words[reflect.TypeFor[resolve.Role]()],
		"Step.Block": blocks, "Step.Strategy": strategies,
		"Deciding.By": words[reflect.TypeFor[merge.Criterion]()], "Loss.Reason": reasons,
		"OverriddenRule.Reason": reasons,
		"ReachItem.State": {reach.StateEffective, reach.StatePartial, reach.StateOverridden, string(merge.Unset),
			string(merge.ConditionFalse), string(merge.Conflicted), reach.StateIgnored},

		"GraphEdge.Kind": {graph.EdgeParent, graph.EdgeTargets, graph.EdgeEffective, graph.EdgeOverridden,
			graph.EdgeConditionFalse, graph.EdgeBypassed},
		"GraphEdge.State": {graph.EdgeFullyEffective, graph.EdgePartial, graph.EdgeFullyOverridden,
			graph.EdgeConditionFalse, graph.EdgeDangling, graph.EdgeTaken, graph.EdgeStopped, graph.EdgeBypassed},
		"GraphEdge.Proxy":    {graph.ProxyDiffers},
		"Topology.Collapsed": {graph.CollapseRules, graph.CollapseRoute, graph.CollapseNamespace},
		"KindInfo.Class":     {"Inherited", "Direct"},

		"PolicyChange.Change": {"Added", "Removed", "Changed"}, "PolicyChange.TargetChange": {"Added", "Removed",
			"Reached", "Unreached"},

		"Item.Verdict": words[reflect.TypeFor[audit.Verdict]()], "Item.Compared": {string(audit.ByValue),
			string(audit.ByPresence)},

		"Difference.Kind":      words[reflect.TypeFor[status.DifferenceKind]()],
		"ObjectStatus.Verdict": words[reflect.TypeFor[status.AuditResult]()],

		"RequestText.Protocol": append(words[reflect.TypeFor[request.Protocol]()], "HTTPS", "SCTP"),
		"Proof.Result":         {prove.Proved, prove.Refuted, prove.ProofUnknown}, "RequestResult.Outcome": outcomes,
		"RequestResult.Assumed": outcomes,
		"BehaviorSide.Outcome":  outcomes, "BehaviorSide.Assumed": outcomes,
		"BehaviorChange.Access":  {behavior.AccessOpened, behavior.AccessClosed},
		"UnnoticedChange.Change": cover.Changes(), "ChangeCount.Change": cover.Changes(),
		"PathPoint.Point":   words[reflect.TypeFor[point.Name]()],
		"PathPoint.Verdict": append(slices.Clip(verdicts), string(point.Bypassed)), "RequestResult.Verdict": verdicts,
		"RuleClasses.Verdict": verdicts,
		"Decision.Outcome":    {string(request.Allowed), string(request.Denied), string(request.NotEvaluated)},

		"ReportedPolicy.State": {"effective", "partial", "overridden", "ignored", "none",
			"unknown"}, "ReportedPolicy.Source": {"report"},
		"Change.Action": {string(publish.Create), string(publish.Update), string(publish.Refresh),
			string(publish.Remove), string(publish.Unchanged), string(publish.Failed)},
		"Result.Result":   {"pass", "fail", "warn", "error", "skip"},
		"Result.Category": {"policy", "finding", "requirement"},

		"Input.Kind": {report.Path, report.Stdin, report.Kustomization, report.Cluster},
	}}, nil
}

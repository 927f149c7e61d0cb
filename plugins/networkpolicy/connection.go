package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// newLayer judges connections where they leave and where they come in; nil: the input has no network
// policies.
func newLayer(r *resolve.Resolution) *point.Layer {
	kind := r.Kind(clusterKind)
	if kind == nil || !kind.IsInUse() && !isForbidden(r, kind) {
		return nil
	}
	all := indexPolicies(kind)
	return &point.Layer{Judge: func(h *point.Hop) []point.Point {
		c := connection{kind: kind, res: r, graph: r.Graph, snapshot: r.Snapshot, from: newConnectionEnd(&h.From),
			to: newConnectionEnd(&h.To), protocol: h.Protocol, port: h.WirePort, index: all}
		if c.from.pod != nil && h.From.Object == h.To.Object && !c.from.pod.Template {
			return nil // a Pod always reaches itself
		}
		var out []point.Point
		for _, dir := range []direction{egress, ingress} {
			if p, ok := c.judgeDirection(dir); ok {
				out = append(out, p)
			}
		}
		return out
	}}
}

// isForbidden reports whether policies of the kinds that stand in one order could not be read.
func isForbidden(r *resolve.Resolution, kind *resolve.Kind) bool {
	return slices.ContainsFunc(append([]model.GroupKind{kind.GroupKind}, kind.Members...),
		func(gk model.GroupKind) bool { return r.Snapshot.Cluster.HasUnread(gk) })
}

// policyIndex is the policies of an input in the order in which they are asked.
type policyIndex struct {
	cluster     []*model.Object // for all namespaces
	byNamespace map[string][]*model.Object
	rules       map[rulesKey][]*rule
}

type rulesKey struct {
	policy *model.Object
	dir    direction
}

func indexPolicies(kind *resolve.Kind) *policyIndex {
	out := &policyIndex{byNamespace: map[string][]*model.Object{}, rules: map[rulesKey][]*rule{}}
	var all []*model.Object
	for _, p := range kind.Policies {
		if !p.Refused {
			all = append(all, p.Object)
		}
	}
	for _, o := range sortPolicies(all) {
		if findStage(o) == ownPolicies {
			out.byNamespace[o.Ref.Namespace] = append(out.byNamespace[o.Ref.Namespace], o)
		} else {
			out.cluster = append(out.cluster, o)
		}
	}
	return out
}

// readRules reads the rules of a policy for a direction, once.
func (x *policyIndex) readRules(o *model.Object, dir direction) []*rule {
	key := rulesKey{o, dir}
	if _, known := x.rules[key]; !known {
		x.rules[key] = readRules(o, dir)
	}
	return x.rules[key]
}

// connectionEnd is one end of a connection.
type connectionEnd struct {
	*point.End
	pod *workload.Pod // nil: something outside of the cluster, or that is not known
}

func newConnectionEnd(e *point.End) connectionEnd {
	out := connectionEnd{End: e}
	if e.Object != nil {
		pod := workload.ReadPod(e.Object)
		pod.Template = pod.Template || e.Stands.Name != ""
		pod.Partial = e.LabelsUnknown
		out.pod = &pod
	}
	return out
}

// connection is what is asked about, and the policies that may have a say in it, in order.
type connection struct {
	kind     *resolve.Kind
	res      *resolve.Resolution
	graph    *topology.Graph
	snapshot *model.Snapshot
	index    *policyIndex
	from, to connectionEnd
	protocol string
	port     int
}

// directionJudge is the judgement of one direction as it goes on: the outcomes that are possible so
// far.
type directionJudge struct {
	*connection
	dir       direction
	pod, peer *connectionEnd
	stages    []evaluate.PassedStage
	outcomes  []outcome
	doubts    []string    // why more than one outcome is possible
	tied      bool        // rules whose order is not defined disagree
	asked     []model.Ref // the policies that were asked, in order
}

// outcome is what may become of the connection.
type outcome struct {
	action ruleAction
	stage  string
	by     []evaluate.Decider
}

// judgeDirection judges one direction at its end; false: that is no Pod, and no policy holds there.
func (c *connection) judgeDirection(dir direction) (point.Point, bool) {
	j := directionJudge{connection: c, dir: dir, pod: &c.to, peer: &c.from}
	name := point.Ingress
	if dir == egress {
		j.pod, j.peer, name = &c.from, &c.to, point.Egress
	}
	if j.pod.pod == nil {
		return point.Point{}, false
	}
	d := evaluate.Decision{Name: string(dir), At: j.pod.Ref(), Outcome: request.Allowed}
	if j.judgeTier(adminTier) && j.judgeNetworkPolicies() && j.judgeTier(baselineTier) {
		j.outcomes = append(j.outcomes, outcome{action: allow})
	}
	d.Passed = j.stages
	j.setDecision(&d)
	if unread := c.res.DescribeGaps(c.findGaps(j.pod)); len(unread) > 0 {
		d.Outcome, d.Why = request.NotEvaluated, []string{"forbidden: " + strings.Join(unread, ", ")}
	}
	out := point.NewPoint(name, ownKind.Kind, clusterKind, d, j.asked, c.port)
	if rest := ownPolicies.String() + "." + string(dir) + ".rest"; out.Verdict == point.Denied && len(d.By) > 0 &&
		d.By[0].Rule == rest {
		out.Because = "nothing in " + d.By[0].Policy.String()
		if more := len(d.By) - 1; more > 0 {
			out.Because += fmt.Sprintf(", or in %d more,", more)
		}
		out.Because += map[direction]string{ingress: " lets it in", egress: " lets it out"}[dir]
	}
	return out, true
}

// findGaps lists what could not be read and may say something at an end.
func (c *connection) findGaps(e *connectionEnd) []resolve.Gap {
	if e.Node != topology.None {
		return c.kind.Gaps().At(e.Node)
	}
	var out []resolve.Gap
	for _, gk := range append([]model.GroupKind{c.kind.GroupKind}, c.kind.Members...) {
		ref := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: e.Namespace()}
		if gk != ownKind {
			ref.Namespace = ""
		}
		if c.snapshot.Cluster.IsUnreadRef(ref) {
			out = append(out, resolve.Gap{Kind: gk, Namespace: ref.Namespace})
		}
	}
	return out
}

// setDecision turns the possible outcomes into a decision.
func (j *directionJudge) setDecision(out *evaluate.Decision) {
	allowed := slices.ContainsFunc(j.outcomes, func(o outcome) bool { return o.action != deny })
	denied := slices.ContainsFunc(j.outcomes, func(o outcome) bool { return o.action == deny })
	switch {
	case j.tied || allowed && denied:
		out.Outcome, out.Why = request.NotEvaluated, removeDuplicates(j.doubts)
	case denied:
		out.Outcome = request.Denied
	}
	var stages []string
	for _, o := range j.outcomes {
		if o.stage != "" {
			stages = append(stages, o.stage)
		}
		for _, by := range o.by {
			if !slices.Contains(out.By, by) {
				out.By = append(out.By, by)
			}
		}
	}
	out.Stage = strings.Join(removeDuplicates(stages), " or ")
	if out.Stage == "" && out.Outcome == request.Allowed {
		out.Why = []string{"nothing denies it"}
	}
}

func removeDuplicates(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// addPassedStage notes a stage that did not, or may not, decide.
func (j *directionJudge) addPassedStage(s policyStage, why string, by []evaluate.Decider) {
	j.stages = append(j.stages, evaluate.PassedStage{Stage: s.String(), Why: why, By: by})
}

// newDecider names a rule.
func newDecider(r *rule) evaluate.Decider {
	origin := r.policy.OriginOf("spec", string(r.dir), formatInt(r.index))
	return evaluate.Decider{Policy: r.policy.Ref, Origin: origin, Rule: r.displayName(), Title: r.title,
		Action: r.actionWord}
}

package networkpolicy

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// judgeConnection judges a connection: it has to be allowed where it leaves and where it comes in.
func judgeConnection(q evaluate.Query, r *resolve.Resolution, k *resolve.Kind) *evaluate.Judgement {
	if q.Answer != nil {
		return nil
	}
	c := connection{kind: k, res: r, graph: r.Graph, snapshot: r.Snapshot, from: newConnectionEnd(r.Graph, q.From),
		to: newConnectionEnd(r.Graph, q.To), protocol: q.Protocol, port: q.Port}
	for _, p := range k.Policies {
		if !p.Refused {
			c.policies = append(c.policies, p.Object)
		}
	}
	c.policies = sortPolicies(c.policies)
	out := &evaluate.Judgement{Outcome: request.Allowed}
	if c.from.pod != nil && c.from.id == c.to.id && !c.from.pod.Template {
		out.Why = []string{"a pod always reaches itself"}
		return out
	}
	for _, dir := range []direction{egress, ingress} {
		d := c.judgeDirection(dir)
		out.Decisions = append(out.Decisions, d)
		out.Outcome = evaluate.CombineOutcomes(out.Outcome, d.Outcome)
	}
	return out
}

// connectionEnd is one end of a connection.
type connectionEnd struct {
	id  topology.NodeID
	pod *workload.Pod // nil: something outside of the cluster, or that is not known
	evaluate.Peer
}

func newConnectionEnd(g *topology.Graph, p evaluate.Peer) connectionEnd {
	e := connectionEnd{id: p.Workload, Peer: p}
	if p.Workload != topology.None {
		pod := g.Pod(p.Workload)
		e.pod = &pod
	}
	return e
}

// displayName is how an end is called.
func (e *connectionEnd) displayName() string {
	if e.pod != nil {
		return e.pod.Ref.String()
	}
	return e.Address.String()
}

// connection is what is asked about, and the policies that may have a say in it, in order.
type connection struct {
	kind     *resolve.Kind
	res      *resolve.Resolution
	graph    *topology.Graph
	snapshot *model.Snapshot
	policies []*model.Object
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
	doubts    []string // why more than one outcome is possible
	tied      bool     // rules whose order is not defined disagree
}

// outcome is what may become of the connection.
type outcome struct {
	action ruleAction
	stage  string
	by     []evaluate.Decider
}

// judgeDirection judges one direction.
func (c *connection) judgeDirection(dir direction) evaluate.Decision {
	j := directionJudge{connection: c, dir: dir, pod: &c.to, peer: &c.from}
	if dir == egress {
		j.pod, j.peer = &c.from, &c.to
	}
	out := evaluate.Decision{Name: string(dir), Outcome: request.Allowed}
	if j.pod.pod == nil {
		out.Why = []string{j.pod.displayName() + " is no pod of the input: no policy holds there"}
		return out
	}
	out.At = j.pod.pod.Ref
	if j.judgeTier(adminTier) && j.judgeNetworkPolicies() && j.judgeTier(baselineTier) {
		j.outcomes = append(j.outcomes, outcome{action: allow})
	}
	out.Passed = j.stages
	j.setDecision(&out)
	if unread := c.res.DescribeGaps(c.kind.Gaps().At(j.pod.id)); len(unread) > 0 {
		out.Outcome, out.Why = request.NotEvaluated, []string{"forbidden: " + strings.Join(unread, ", ")}
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

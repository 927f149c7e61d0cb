package istio

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio/authorization"
)

// workloadJudge judges a hop at a workload.
type workloadJudge struct {
	*hopJudge
	hop    *point.Hop
	member memberState
	source *authorization.Source
	kind   string
}

func (j *workloadJudge) judge() point.Point {
	p := point.Point{Name: point.Workload, Kind: j.kind, Object: j.hop.To.Ref(), Policies: []model.Ref{},
		Identity: identityOf(j.source), Port: j.hop.Port, PolicyKind: authorizationKind}
	certain, possible := j.findRules()
	q := &authorization.Question{Port: j.hop.Port, Source: j.source, Answer: j.hop.Request, Rewritten: true,
		Opaque: j.kind == ztunnelPoint || j.isOpaquePort()}
	d := authorization.Decide(certain, q)
	if len(possible) > len(certain) {
		if other := authorization.Decide(possible, q); other.Outcome != d.Outcome {
			d = other
			d.Outcome, d.Why = request.NotEvaluated, []string{"cannot tell which policies select it: its labels are not in the input"}
		}
	}
	d.At = p.Object
	if p.Tests = q.Tests; q.Opaque {
		p.Tests = nil
	}
	p.Policies = authorization.ListRefusing(possible)
	p.IgnoresRequests = q.Opaque || !slices.ContainsFunc(possible, authorization.Rule.LooksAtRequests)
	if !q.Opaque {
		p.Status = forbiddenStatus
	}
	if j.kind == sidecarPoint {
		judgeTokens(&p, &d, j.findTokenRules(), j.hop.Request)
	}
	j.judgePeers(&p, &d)
	p.Decision = &d
	p.Verdict = point.VerdictOf(d.Outcome)
	p.Because = cmp.Or(p.Because, d.FormatReason())
	if unread := j.describeGaps(); unread != "" {
		p.Verdict, p.Because, d.Outcome, d.Why = point.Depends, unread, request.NotEvaluated, []string{unread}
	}
	return p
}

// findRules lists the rules in force at the workload; possible has those as well of which it is not
// known whether they are, as not all labels of its Pods are.
func (j *workloadJudge) findRules() (certain, possible []authorization.Rule) {
	k := j.res.Kind(authorizationKind)
	if k == nil {
		return nil, nil
	}
	if id := j.hop.To.Node; id != topology.None && len(k.Contexts(id)) > 0 {
		certain = authorization.ListRules(k.Verdict(k.Contexts(id)[0]))
		return certain, certain
	}
	t := j.assumedTarget()
	all := j.listAttached(k, func(p *policy.Policy) bool {
		holds, _ := j.isAttached(p.Ref().Namespace, readPolicyTargets(p.Object), t)
		return holds && (j.kind != ztunnelPoint || !hasEmptySelector(p.Object))
	})
	certain = j.foldRules(t, all)
	if !j.hop.To.LabelsUnknown {
		return certain, certain
	}
	all = j.listAttached(k, func(p *policy.Policy) bool {
		s := readPolicyTargets(p.Object)
		if j.kind == ztunnelPoint && hasEmptySelector(p.Object) {
			return false
		}
		return len(s.refs) == 0 && (p.Ref().Namespace == j.root || p.Ref().Namespace == t.namespace()) &&
			maySelect(s.selector, t.pods[0])
	})
	return certain, j.foldRules(t, all)
}

// maySelect reports whether a selector may pick Pods that have these labels, and perhaps others.
func maySelect(selector model.Body, labels map[string]string) bool {
	for key, value := range selector.Fields {
		if have, ok := labels[key]; ok && have != value.Text() {
			return false
		}
	}
	return true
}

// assumedTarget is the workload as a target of policies, where its Pods are not in the input.
func (j *workloadJudge) assumedTarget() target {
	labels, notes := workload.PodMetadata(j.hop.To.Object)
	return target{proxy: &proxy{form: sidecar, object: j.hop.To.Object, pods: []map[string]string{labels},
		annotations: notes, membership: j.member.membership}}
}

// listAttached lists the policies of a kind that hold, in their order.
func (j *hopJudge) listAttached(k *resolve.Kind, holds func(*policy.Policy) bool) []*policy.Policy {
	var out []*policy.Policy
	for _, p := range k.Policies {
		if !p.Refused && holds(p) {
			out = append(out, p)
		}
	}
	return out
}

// foldRules are the rules that policies have at a target.
func (j *hopJudge) foldRules(t target, layers []*policy.Policy) []authorization.Rule {
	at := foldTarget{target: t, world: j.proxyIndex, settings: j.settings}
	units, _ := at.foldAuthorization(layers)
	var out []authorization.Rule
	for _, u := range units {
		if len(u.Path) == 2 && len(u.From) > 0 {
			out = append(out, authorization.Rule{Action: u.Path[0].Name, Name: u.Path.String(), Value: u.Value,
				Policy: layers[u.From[0].Layer].Object})
		}
	}
	return out
}

// judgePeers adds what the mode of mTLS says: STRICT refuses who has no identity.
func (j *workloadJudge) judgePeers(p *point.Point, d *evaluate.Decision) {
	mode, by := j.findPeerMode()
	if mode != strict || by == nil {
		return
	}
	if !slices.Contains(p.Policies, by.Ref) {
		p.Policies = append([]model.Ref{by.Ref}, p.Policies...)
	}
	decider := evaluate.Decider{Policy: by.Ref, Origin: by.Origin, Rule: "mtls.mode", Action: "STRICT"}
	switch {
	case j.source.Doubt != "":
		if d.Outcome != request.Denied {
			d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, "mTLS", []evaluate.Decider{decider},
				[]string{j.source.Doubt}
		}
	case j.source.Identity == "":
		p.IgnoresRequests, p.Status = true, 0
		d.Outcome, d.Stage, d.By, d.Why = request.Denied, "mTLS", []evaluate.Decider{decider},
			[]string{"the mode is STRICT, and " + j.hop.From.String() + " has no identity of the mesh"}
	}
}

// findPeerMode is the mode of mTLS at the port, and the policy that sets it; nil: none does.
func (j *workloadJudge) findPeerMode() (mode string, by *model.Object) {
	k := j.res.Kind(peerAuthenticationKind)
	if k == nil {
		return permissive, nil
	}
	var units []merge.Unit
	var layers []*policy.Policy
	if id := j.hop.To.Node; id != topology.None && len(k.Contexts(id)) > 0 {
		v := k.Verdict(k.Contexts(id)[0])
		for _, l := range v.Layers {
			layers = append(layers, l.Policy)
		}
		for _, rule := range v.Result.Rules {
			units = append(units, merge.Unit{Path: rule.Path, Value: merge.Unpack(rule.Value), From: rule.From})
		}
	} else {
		layers, units = j.foldAssumedPeers(k)
	}
	port := strconv.Itoa(j.hop.Port)
	if j.kind == ztunnelPoint {
		peers := newTunnelPeers(layers, j.root)
		if by = peers.findStrict(port); by != nil {
			return strict, by
		}
		return permissive, nil
	}
	mode = permissive
	for _, u := range units {
		if len(u.Path) != 2 && len(u.Path) != 3 || len(u.From) == 0 {
			continue
		}
		text := fmt.Sprint(u.Value)
		switch {
		case u.Path[0].Name == "mtls" && by == nil:
		case u.Path[0].Name == "portLevelMtls" && u.Path[1].Name == port:
			if set := model.Text(u.Value, "mode"); set != "" {
				text = set
			}
		default:
			continue
		}
		mode, by = text, layers[u.From[0].Layer].Object
	}
	if by != nil && by.Ref.Name == "" {
		by = nil
	}
	return mode, by
}

// foldAssumedPeers folds the PeerAuthentications of a workload whose Pods are not in the input.
func (j *workloadJudge) foldAssumedPeers(k *resolve.Kind) ([]*policy.Policy, []merge.Unit) {
	t := j.assumedTarget()
	at := foldTarget{target: t, world: j.proxyIndex, settings: j.settings}
	situation := peerSituation(at)
	if situation == nil {
		return nil, nil
	}
	layers := j.listAttached(k, func(p *policy.Policy) bool {
		s := readPolicyTargets(p.Object).selector
		ns := p.Ref().Namespace
		if ns != j.root && ns != t.namespace() || s.Len() > 0 && ns != t.namespace() || t.isLeftOut(p.Object) {
			return false
		}
		picked, _ := t.matchSelector(s)
		return picked
	})
	layers = append(slices.Clone(situation.Builtins), layers...)
	slices.SortStableFunc(layers, situation.Compare)
	units, _ := situation.Fold(layers)(merge.Stack{})
	return layers, units
}

// isOpaquePort reports whether a sidecar sees connections and no requests at the port: a Service says
// so, or nothing is known but that it is a connection to a port of TCP.
func (j *workloadJudge) isOpaquePort() bool {
	for _, service := range j.services[j.hop.To.Namespace()] {
		for _, p := range service.Body.At("spec", "ports").Items {
			if !isBehind(service, j.hop.To.Object) || !leadsTo(p, j.hop.Port) {
				continue
			}
			switch protocol := portProtocol(p); protocol {
			case "tcp", "tls", "https", "mongo", "mysql", "redis":
				return true
			}
		}
	}
	return false
}

// isBehind reports whether a Service selects the Pods of a workload.
func isBehind(service, load *model.Object) bool {
	selector := service.Body.At("spec", "selector")
	return selector.Len() > 0 && hasLabels(workload.PodLabels(load), selector)
}

// leadsTo reports whether a port of a Service leads to a port of Pods.
func leadsTo(p model.Body, port int) bool {
	to := p.Field("targetPort")
	if to.IsNull() {
		to = p.Field("port")
	}
	return to.String() == strconv.Itoa(port)
}

// portProtocol is the protocol that Istio takes a port of a Service for: by appProtocol, else by the
// beginning of its name; "" if it finds out by looking.
func portProtocol(p model.Body) string {
	word, _, _ := strings.Cut(cmp.Or(p.Text("appProtocol"), p.Text("name")), "-")
	return strings.ToLower(word)
}

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

// The kinds of the mesh's points.
const (
	ztunnelPoint  = "ztunnel"
	sidecarPoint  = "sidecar"
	waypointPoint = "waypoint"
)

// forbiddenStatus is what proxies answer to requests that a rule denies.
const forbiddenStatus = 403

// hbonePort is the port by which the proxies of the ambient mode are reached.
const hbonePort = 15008

var (
	authorizationKind      = model.GroupKind{Group: securityGroup, Kind: "AuthorizationPolicy"}
	peerAuthenticationKind = model.GroupKind{Group: securityGroup, Kind: "PeerAuthentication"}
)

// hopJudge judges the hops of one input.
type hopJudge struct {
	*proxyIndex
	res      *resolve.Resolution
	settings model.Settings
	members  map[*model.Object]memberState
	services map[string][]*model.Object // by namespace
}

// memberState is whether a workload is in the mesh; doubt says why that is not known.
type memberState struct {
	membership
	doubt string
}

// newLayer makes the mesh's layer of an input; nil: nothing of Istio is in it.
func newLayer(r *resolve.Resolution) *point.Layer {
	if !isPresent(r.Snapshot, r.Settings) {
		return nil
	}
	j := &hopJudge{proxyIndex: buildProxyIndex(r.Snapshot, r.Settings), res: r, settings: r.Settings,
		members: map[*model.Object]memberState{}, services: map[string][]*model.Object{}}
	for _, o := range r.Snapshot.OfKind(serviceKind) {
		j.services[o.Ref.Namespace] = append(j.services[o.Ref.Namespace], o)
	}
	return &point.Layer{FindDetours: j.findDetours, FindWirePort: j.findWirePort, Judge: j.judge}
}

// findMember tells whether the Pods at an end are in the mesh. Where a Namespace is there and says
// nothing, they are not.
func (j *hopJudge) findMember(e *point.End) memberState {
	switch {
	case e.Object == nil && e.PodsUnknown:
		return memberState{doubt: "cannot tell whether " + e.String() + " is in the mesh: its Pods are not in the input"}
	case e.Object == nil:
		return memberState{membership: excludedMember}
	}
	if known, ok := j.members[e.Object]; ok {
		return known
	}
	labels, notes := workload.PodMetadata(e.Object)
	out := memberState{membership: findMembership(j.in, e.Object, labels, notes)}
	if out.membership == unknownMember {
		ns := model.Ref{Kind: "Namespace", Name: e.Object.Ref.Namespace}
		if j.in.Get(ns) != nil || e.Object.Ref.Namespace == "" {
			out.membership = excludedMember
		} else {
			out.doubt = "cannot tell whether " + e.String() + " is in the mesh: " + ns.String() + " is not in the input"
			if j.in.Cluster.IsUnreadRef(ns) {
				out.doubt = "cannot tell whether " + e.String() + " is in the mesh: " + ns.String() + " is forbidden"
			}
		}
	}
	j.members[e.Object] = out
	return out
}

// isOwnProxy reports whether an end is a proxy of a Gateway of Istio, a waypoint among them.
func (j *hopJudge) isOwnProxy(e *point.End) bool {
	if e.Gateway == nil {
		return false
	}
	_, own := findGatewayForm(j.in, e.Gateway)
	return own
}

// findWirePort is the port that the network sees: between proxies of the mesh, to Pods whose traffic
// ztunnel takes, it is that of HBONE (pilot/pkg/xds/endpoints/endpoint_builder.go:807-870).
func (j *hopJudge) findWirePort(h *point.Hop) int {
	if h.ToProxy || j.findMember(&h.To).membership != ztunnelMember {
		return 0
	}
	if from := j.findMember(&h.From).membership; j.isOwnProxy(&h.From) || from == sidecarMember || from == ztunnelMember {
		return hbonePort
	}
	return 0
}

// findSource is who sends, as a proxy of the mesh sees it.
func (j *hopJudge) findSource(e *point.End) *authorization.Source {
	out := &authorization.Source{}
	if e.Object != nil && e.Object.Ref.Kind == "Pod" {
		for _, text := range workload.ReadPod(e.Object).Addresses {
			out.AddAddress(text)
		}
	} else if e.Address.IsValid() {
		out.Addresses = append(out.Addresses, e.Address)
	}
	member := j.findMember(e)
	switch own := j.isOwnProxy(e); {
	case member.doubt != "" && !own:
		out.Doubt = member.doubt
	case !own && member.membership != sidecarMember && member.membership != ztunnelMember:
	case e.ServiceAccount() == "":
		out.Doubt, out.Namespace = "the service account of "+e.String()+" is not known", e.Namespace()
	default:
		out.Identity = j.trustDomain + "/ns/" + e.Namespace() + "/sa/" + e.ServiceAccount()
	}
	return out
}

// identityOf is the identity of a source for people; nil: it is not known.
func identityOf(s *authorization.Source) *string {
	if s.Doubt != "" {
		return nil
	}
	return &s.Identity
}

// judge judges a hop at the workload that it comes to.
func (j *hopJudge) judge(h *point.Hop) []point.Point {
	if h.ToProxy || h.To.Object == nil || h.To.Object.Ref.Name == "" {
		return nil
	}
	member := j.findMember(&h.To)
	at := workloadJudge{hopJudge: j, hop: h, member: member, source: j.findSource(&h.From), kind: sidecarPoint}
	switch member.membership {
	case excludedMember:
		return nil
	case ztunnelMember:
		at.kind = ztunnelPoint
	}
	p := at.judge()
	if member.doubt != "" {
		if p.Verdict == point.Allowed {
			return nil // whether it is in the mesh does not matter
		}
		p.Verdict, p.Because = point.Depends, member.doubt
	}
	return []point.Point{p}
}

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
	j.judgePeers(&p, &d)
	p.Decision = &d
	p.Verdict = map[request.Outcome]point.Verdict{request.Allowed: point.Allowed, request.Denied: point.Denied,
		request.NotEvaluated: point.Depends}[d.Outcome]
	p.Because = cmp.Or(p.Because, d.FormatReason())
	if unread := j.describeGaps(); unread != "" {
		p.Verdict, p.Because, d.Outcome, d.Why = point.Depends, unread, request.NotEvaluated, []string{unread}
	}
	return p
}

// describeGaps says which policies could not be read; "" if all could.
func (j *hopJudge) describeGaps() string {
	for _, gk := range []model.GroupKind{authorizationKind, peerAuthenticationKind} {
		if j.in.Cluster.HasUnread(gk) {
			return "cannot tell what " + gk.Kind + " objects say: they are forbidden"
		}
	}
	return ""
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
			if !j.isBehind(service) || !leadsTo(p, j.hop.Port) {
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

// isBehind reports whether a Service selects the workload.
func (j *workloadJudge) isBehind(service *model.Object) bool {
	selector := service.Body.At("spec", "selector")
	return selector.Len() > 0 && hasLabels(workload.PodLabels(j.hop.To.Object), selector)
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

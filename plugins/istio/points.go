package istio

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
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

// describeGaps says which policies could not be read; "" if all could.
func (j *hopJudge) describeGaps() string {
	return point.DescribeUnread(j.in.Cluster, authorizationKind, authenticationKind, peerAuthenticationKind)
}

package kuma

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// proxyPoint is the kind of the points of the mesh.
const proxyPoint = "kuma"

var serviceKind = model.GroupKind{Kind: "Service"}

// The modes of a MeshTLS.
const (
	strictMode     = "Strict"
	permissiveMode = "Permissive"
)

// hopJudge judges the hops of one input.
type hopJudge struct {
	in          *model.Snapshot
	settings    model.Settings // with a dialect
	dialect214  bool
	zone        string                     // "": nothing in the input names it
	services    map[string][]*model.Object // by namespace
	identities  map[string][]*model.Object // MeshIdentities by mesh
	permissions []inboundPolicy            // weakest first
	modes       []inboundPolicy            // MeshTLS, weakest first
	members     map[*model.Object]*member
}

// newLayer makes the mesh's layer of an input; nil: nothing in it says who may connect.
func newLayer(r *resolve.Resolution) *point.Layer {
	in := r.Snapshot
	secured := slices.ContainsFunc(in.OfKind(meshKind), func(o *model.Object) bool {
		return settingsOf(o).Text("mtls", "enabledBackend") != ""
	})
	for _, gk := range []model.GroupKind{permissionKind, tlsKind, identityKind} {
		secured = secured || len(in.OfKind(gk)) > 0 || in.Cluster.HasUnread(gk)
	}
	if !secured {
		return nil
	}
	s := withDialect(in, r.Settings)
	j := &hopJudge{in: in, settings: s, dialect214: isDialect214(s), services: map[string][]*model.Object{},
		identities: indexIdentities(in), permissions: listInboundPolicies(r, permissionKind, s),
		modes: listInboundPolicies(r, tlsKind, s), members: map[*model.Object]*member{}}
	for _, o := range in.OfKind(serviceKind) {
		j.services[o.Ref.Namespace] = append(j.services[o.Ref.Namespace], o)
	}
	if s.IsChosen("kuma.zone") {
		j.zone = s.Text("kuma.zone")
	}
	for _, o := range in.OfKind(dataplaneKind) {
		if zone := o.Labels[zoneLabel]; zone != "" && j.zone == "" {
			j.zone = zone
		}
	}
	return &point.Layer{Judge: j.judgeHop}
}

// judgeHop judges a hop at the workload that it comes to. A delegated gateway has no inbounds, and
// nothing in front of it.
func (j *hopJudge) judgeHop(h *point.Hop) []point.Point {
	if h.ToProxy || h.To.Object == nil || h.To.Object.Ref.Name == "" || h.Protocol != "TCP" {
		return nil
	}
	to := j.findMember(&h.To)
	if to.meshed == selector.No || to.proxy.gateway != "" {
		return nil
	}
	at := inboundJudge{hopJudge: j, hop: h, to: to, from: j.findMember(&h.From), inbound: to.proxy.findInbound(h.Port)}
	if h.Port == 0 {
		at.inbound = someInbound
	}
	return []point.Point{at.judge()}
}

// What stands for an inbound: the port has none, or which one it has is not known.
const (
	noInbound   = -1
	someInbound = -2
)

// inboundJudge judges a hop at an inbound.
type inboundJudge struct {
	*hopJudge
	hop      *point.Hop
	to, from *member
	inbound  int // of the proxy, noInbound or someInbound
}

// answer is what the proxy says to one sort of connection.
type answer struct {
	evaluate.Decision
	bypassed bool // the connection goes around the permissions
}

// judge puts the answers to all sorts of connections together that it may be.
func (j *inboundJudge) judge() point.Point {
	allowed := j.findPermissions(j.to, j.inbound)
	mode, by := j.findMode(selector.Yes)
	perhaps, _ := j.findMode(selector.Maybe)
	secured, doubt := j.isSecured()
	var answers []answer
	if secured != selector.No {
		for _, plain := range j.listSorts() {
			answers = append(answers, j.answer(plain, mode, by, &allowed))
			if perhaps != mode {
				answers = append(answers, j.answer(plain, perhaps, nil, &allowed))
			}
		}
	}
	if secured != selector.Yes {
		answers = append(answers, answer{Decision: evaluate.Decision{Outcome: request.Allowed, Why: []string{
			"the workload has no identity of the mesh, without which its proxy asks no permissions"}}})
	}
	out := answers[0]
	for _, other := range answers[1:] {
		if other.Outcome != out.Outcome || other.bypassed != out.bypassed {
			why := j.explain(secured, doubt)
			if perhaps != mode {
				why = "cannot tell whether the mode is " + mode + " or " + perhaps + ": not all labels of " + j.to.name +
					" are in the input"
			}
			out = answer{Decision: evaluate.Decision{Outcome: request.NotEvaluated, Why: []string{why}}}
			break
		}
	}
	if gap := j.describeGaps(); gap != "" {
		out = answer{Decision: evaluate.Decision{Outcome: request.NotEvaluated, Why: []string{gap}}}
	}
	if j.to.meshed == selector.Maybe && (out.Outcome != request.Allowed || out.bypassed) {
		out = answer{Decision: evaluate.Decision{Outcome: request.NotEvaluated, Why: []string{"cannot tell whether " +
			j.to.name + " is in the mesh: " + j.to.why}}}
	}
	policies := allowed.listRefs()
	switch {
	case secured == selector.No:
		policies = []model.Ref{}
	case by != nil && mode == strictMode:
		policies = append([]model.Ref{by.Ref}, policies...)
	}
	if out.bypassed {
		return point.Point{Name: point.Workload, Kind: proxyPoint, Object: j.hop.To.Ref(), Policies: policies,
			Verdict: point.Bypassed, Because: strings.Join(out.Why, "; "), Identity: j.seenIdentity(), Port: j.hop.Port,
			PolicyKind: permissionKind, IgnoresRequests: true}
	}
	out.At = j.hop.To.Ref()
	p := point.NewPoint(point.Workload, proxyPoint, permissionKind, out.Decision, policies, j.hop.Port)
	p.Identity = j.seenIdentity()
	return p
}

// describeGaps says what of the mesh could not be read; "" if all could.
func (j *hopJudge) describeGaps() string {
	return point.DescribeUnread(j.in.Cluster, permissionKind, tlsKind, identityKind)
}

// explain says why it is not known what sort of connection it is.
func (j *inboundJudge) explain(secured selector.Truth, doubt string) string {
	switch {
	case secured == selector.Maybe:
		return doubt
	case j.from.meshed == selector.Maybe:
		return "cannot tell whether " + j.from.name + " is in the mesh: " + j.from.why
	}
	return "cannot tell whether " + j.from.name +
		" comes with TLS of the mesh: it connects to Pods, and what goes to their addresses a sidecar passes on as it is; it has TLS if the Gateway connects to the Service"
}

// isSecured reports whether the workload has a certificate of the mesh; doubt says why that is not
// known.
func (j *inboundJudge) isSecured() (holds selector.Truth, doubt string) {
	d := j.to.proxy
	_, selects := j.findIdentity(j.to)
	mesh := j.findMesh(d.mesh)
	switch {
	case selects == selector.Yes, j.usesBackend(mesh):
		return selector.Yes, ""
	case selects == selector.Maybe:
		return selector.Maybe, "cannot tell whether a MeshIdentity selects " + j.to.name +
			": not all of its labels are in the input"
	case j.in.HasAll(identityKind, j.settings.Text("kuma.systemNamespace")) && (mesh != nil || j.in.HasAll(meshKind, "")):
		return selector.No, ""
	}
	return selector.Maybe, "cannot tell whether " + j.to.name +
		" has an identity: no MeshIdentity that selects it is in the input"
}

func (j *hopJudge) findMesh(name string) *model.Object {
	return j.in.Get(model.Ref{Group: group, Kind: "Mesh", Name: name})
}

// usesBackend reports whether a Mesh itself gives out certificates (2.14).
func (j *hopJudge) usesBackend(mesh *model.Object) bool {
	return j.dialect214 && mesh != nil && settingsOf(mesh).Text("mtls", "enabledBackend") != ""
}

// findMode is the mode of the inbound, and the MeshTLS that sets it; nil: none does. The strongest
// one counts that is for all clients: of those that are about the inbound, or that may be.
func (j *inboundJudge) findMode(least selector.Truth) (mode string, by *model.Object) {
	mode = strictMode
	if mesh := j.findMesh(j.to.proxy.mesh); mesh != nil && j.dialect214 {
		mtls := settingsOf(mesh).Field("mtls")
		for _, b := range mtls.Field("backends").Items {
			if name := b.Text("name"); name != "" && name == mtls.Text("enabledBackend") &&
				strings.EqualFold(b.Text("mode"), permissiveMode) {
				mode = permissiveMode
			}
		}
	}
	for i := range j.modes {
		p := &j.modes[i]
		if p.selectsInbound(j.to, j.inbound) < least {
			continue
		}
		list := p.object.Body.At("spec", "rules")
		if list.Len() == 0 && j.dialect214 {
			list = p.object.Body.At("spec", "from")
		}
		for _, rule := range list.Items {
			if word := rule.Text("default", "mode"); word != "" && rule.Field("matches").Len() == 0 {
				mode, by = word, p.object
			}
		}
	}
	return mode, by
}

// listSorts lists whether the connection comes in plain text, with TLS of the mesh, or, where that is
// not known, both.
func (j *inboundJudge) listSorts() []bool {
	const plain, secure = true, false
	if j.from.meshed == selector.No || j.from.proxy == nil && j.from.meshed != selector.Maybe {
		return []bool{plain}
	}
	if j.from.proxy == nil {
		return []bool{secure, plain}
	}
	_, identified := j.findIdentity(j.from)
	if j.usesBackend(j.findMesh(j.from.proxy.mesh)) {
		identified = selector.Yes
	}
	switch {
	case j.from.proxy.mesh != j.to.proxy.mesh, identified == selector.No:
		return []bool{plain}
	case j.from.meshed == selector.Maybe, identified == selector.Maybe, j.dialsPods():
		return []bool{secure, plain}
	}
	return []bool{secure}
}

// dialsPods reports whether a Gateway connects to Pods by their addresses. Those are no destinations that
// the sidecar beside it knows: it passes on what goes to them, without TLS
// (pkg/xds/generator/transparent_proxy_generator.go, CreateOutboundPassThroughCluster).
func (j *inboundJudge) dialsPods() bool { return j.hop.From.Gateway != nil && !j.hop.ToService }

// answer is what the proxy says to a connection, in plain text or with TLS of the mesh: permissions
// are asked only of the latter (policies/meshtrafficpermission/plugin/v1alpha1/plugin.go:66-78).
func (j *inboundJudge) answer(plain bool, mode string, by *model.Object, allowed *permissions) answer {
	var out answer
	switch {
	case j.inbound == noInbound && mode == permissiveMode:
		out.Outcome, out.bypassed = request.Allowed, true
		out.Why = []string{"no Service leads to the port: the proxy passes on what comes to it, and asks no permissions"}
	case j.inbound == noInbound:
		out.Outcome = request.NotEvaluated
		out.Why = []string{"no Service leads to the port: whether the proxy takes what comes to it depends on its version"}
	case plain && mode == permissiveMode:
		out.Outcome, out.bypassed = request.Allowed, true
		out.Why = []string{"the mode is Permissive, and plain text from " + j.from.name + " passes no permission"}
	case plain:
		out.Outcome, out.Stage = request.Denied, "TLS"
		out.Why = []string{"the mode is Strict, and " + j.from.name + " has no certificate of the mesh"}
		if by != nil {
			out.By = []evaluate.Decider{{Policy: by.Ref, Origin: by.Origin, Rule: "mode", Action: strictMode}}
		}
	default:
		out.Decision = allowed.ask(j.clientIdentity())
	}
	return out
}

// clientIdentity is who the client is, if it has a certificate.
func (j *inboundJudge) clientIdentity() identity {
	if j.from.proxy == nil {
		return identity{{text: identityScheme}, {open: "the identity of " + j.from.name}}
	}
	id, holds := j.findIdentity(j.from)
	if holds != selector.Yes {
		return identity{{text: identityScheme}, {open: "the identity of " + j.from.name}}
	}
	return id
}

// seenIdentity is the identity of the client as the proxy sees it, or would with TLS; "" for none; nil: it
// is not known.
func (j *inboundJudge) seenIdentity() *string {
	sorts := j.listSorts()
	if len(sorts) > 1 && !(j.from.meshed == selector.Yes && j.dialsPods()) {
		return nil
	}
	text, ok := "", true
	if !sorts[0] {
		text, ok = j.clientIdentity().String()
	}
	if !ok {
		return nil
	}
	return &text
}

package build

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// backendBuilder adds what rules send to. Backends that list their ports come before the routes,
// others when a rule names them.
type backendBuilder struct {
	*draft
	missing      map[model.Ref]struct{}            // that were said not to be in the input
	missingCount *noteCount                        // of those
	delegates    map[topology.NodeID][]delegateRef // the backendRefs by which rules hand over to routes
	portUses     []portUse                         // of backends whose ports are those that rules send to

	// The reference that was judged last: rules that follow each other mostly send to one backend.
	last struct {
		from reference.Referrer
		ref  model.Ref
		id   topology.NodeID

		verdict reference.Judgement
	}
}

// addServices adds Services and ServiceImports with their ports, and the standard backends of other
// kinds.
func (bs *backendBuilder) addServices() {
	var ported []topology.NodeID
	for _, gk := range [...]model.GroupKind{gatewayapi.ServiceKind, gatewayapi.XBackendKind,
		gatewayapi.ServiceImportKind} {
		for _, o := range bs.in.OfKind(gk) {
			if id := bs.addBackend(o.Ref, o); gatewayapi.ListsPorts(gk) {
				ported = append(ported, id)
			}
		}
	}
	for _, id := range ported {
		bs.addPorts(id, bs.nodes.Node(id).Object)
	}
}

func (bs *backendBuilder) addBackend(ref model.Ref, o *model.Object) topology.NodeID {
	id := bs.nodes.Add(topology.Node{Role: topology.Backend, Ref: ref, Object: o})
	bs.addToNamespace(ref.Namespace, id)
	return id
}

func (bs *backendBuilder) addPorts(service topology.NodeID, o *model.Object) {
	spec := bs.ReadSpec(o)
	for i, v := range spec.ReadList("ports").Items {
		f := bs.ReadEntry(v, spec.At.AtField("ports").AtEntry(i))
		name, number, protocol := f.ReadText("name"), f.ReadPort("port"), f.ReadText("protocol")
		if f.Bad {
			continue
		}
		if number == 0 {
			bs.ReportSkipped(f.At, "has no port")
			continue
		}
		if name == "" {
			name = manifest.FormatInt(int(number))
		}
		id := bs.nodes.AddPort(service, topology.Node{Role: topology.Port, Ref: o.Ref.WithSection(name), Object: o,
			Index: i}, number, protocol == "UDP")
		bs.addToNamespace(o.Ref.Namespace, id)
		bs.addAbove(id, service)
	}
}

// addBackends connects a rule to what its backendRefs name. References of filters are no edges, but
// must be good too (gatewayapi G33, G34).
func (bs *backendBuilder) addBackends(r *routeDraft, id topology.NodeID, rule *manifest.Fields) {
	bs.checkFilters(r, id, rule)
	for i, v := range rule.ReadList("backendRefs").Items {
		f := bs.ReadEntry(v, rule.At.AtField("backendRefs").AtEntry(i))
		if d, ok := bs.readDelegate(&f); ok && r.kind == gatewayapi.HTTPRouteKind {
			bs.delegates[id] = append(bs.delegates[id], d)
			continue
		}
		if to, ok := f.ReadBackendRef(); ok {
			to.Ref, to.Verb = r.refs.Apply(to.Ref), "sends to"
			bs.connectBackend(r, id, to)
		}
		bs.checkFilters(r, id, &f)
	}
}

// checkFilters judges what the filters of a rule or of a backendRef refer to.
func (bs *backendBuilder) checkFilters(r *routeDraft, id topology.NodeID, of *manifest.Fields) {
	for i, v := range of.ReadList("filters").Items {
		f := bs.ReadEntry(v, of.At.AtField("filters").AtEntry(i))
		for _, use := range [...]struct{ field, does string }{{"requestMirror", "mirrors to"},
			{"externalAuth", "asks for permission at"}} {
			inner := f.ReadObject(use.field)
			if !inner.HasField("backendRef") {
				continue
			}
			ref := inner.ReadObject("backendRef")
			if to, ok := ref.ReadBackendRef(); ok {
				to.Ref, to.Verb = r.refs.Apply(to.Ref), use.does
				bs.checkBackend(r, id, to)
			}
		}
	}
}

// connectBackend adds the edges of one backendRef, or says why there is none.
func (bs *backendBuilder) connectBackend(r *routeDraft, rule topology.NodeID, to manifest.BackendRef) {
	id, ok := bs.checkBackend(r, rule, to)
	if !ok {
		return
	}
	if id == topology.None {
		id = bs.addAssumed(to.Ref)
		bs.last.id = id
	}
	bs.addEdge(rule, id)
	if bs.numberedPorts[to.Ref.GroupKind()] && to.Port != 0 {
		bs.portUses = append(bs.portUses, portUse{id, to.Port, rule})
	}
	if gatewayapi.ListsPorts(to.Ref.GroupKind()) && to.Port != 0 && bs.nodes.Node(id).Object != nil {
		if port := bs.nodes.Port(id, to.Port, r.kind == gatewayapi.UDPRouteKind); port != topology.None {
			bs.addEdge(rule, port)
		}
	}
}

// checkBackend judges one reference to a backend and reports whether the rule has an edge to it,
// and to which node if there is one yet. The edge stays if the port is wrong, because the rule and
// the policies on it do (gatewayapi G35).
func (bs *backendBuilder) checkBackend(r *routeDraft, rule topology.NodeID, to manifest.BackendRef) (topology.NodeID,
	bool) {
	gk := to.Ref.GroupKind()
	if gatewayapi.IsRoute(gk) { // some implementations let one route delegate to another
		bs.addNote(noteTopic{kind: delegationNotEvaluated, about: kindRef(gk)}, r.object)
		return topology.None, false
	}
	if slices.Contains(bs.unfollowedBackends, gk) {
		bs.addNote(noteTopic{kind: backendNotFollowed, about: kindRef(gk)}, r.object)
		r.noteUnjudged(to, "traffic is not followed through a "+gk.Kind)
		return topology.None, false
	}
	id, v := bs.judgeRef(reference.Referrer{Kind: r.kind, Namespace: r.object.Ref.Namespace,
		NoGrants: r.meshBound || r.refs.NoGrants}, to.Ref)
	says := func(p model.Problem, what string) model.Problem {
		p.RuleName = bs.nodes.Node(rule).Ref.Section
		p.Message, p.OfSeveral = "rule "+p.RuleName+" "+to.Verb+" "+what, formatPlural(to.Verb)+" "+what
		return p
	}
	if v.Reason != "" {
		bs.reportBackend(r, to, v.Reason, says(model.Problem{Code: v.Code, Hint: v.Hint},
			to.Ref.String()+", "+v.Why))
		return topology.None, false
	}
	if v.Open != "" {
		r.noteUnjudged(to, v.Open)
	}
	if v.Assumed {
		bs.missingCount.addUse(rule)
	}
	if gk != gatewayapi.ServiceKind {
		return id, true
	}
	switch {
	case to.Port == 0 && !r.missingPortReported:
		bs.ReportInvalid(to.At, to.At.String()+" has no port, which a reference to a Service must have")
		r.missingPortReported = true
	case to.Port != 0 && !v.Assumed && bs.nodes.Port(id, to.Port, false) == topology.None:
		bs.reportBackend(r, to, "", says(model.Problem{Code: model.BackendNotFound}, "port "+
			manifest.FormatInt(int(to.Port))+" of "+to.Ref.String()+", which has no such port"))
	}
	return id, true
}

// formatPlural is a verb as it is said of several: "send to" for "sends to".
func formatPlural(verb string) string {
	word, rest, _ := strings.Cut(verb, " ")
	return strings.TrimSuffix(word, "s") + " " + rest
}

// judgeRef judges a reference to a backend, and finds the node that it has if it has one yet. A
// backend that is assumed to exist is noted once.
func (bs *backendBuilder) judgeRef(from reference.Referrer, ref model.Ref) (topology.NodeID, reference.Judgement) {
	if last := &bs.last; last.id != topology.None && last.ref == ref && last.from == from {
		return last.id, last.verdict
	}
	id, exists := bs.nodes.Find(ref)
	if exists {
		exists = bs.nodes.Node(id).Object != nil
	} else {
		id, exists = topology.None, bs.in.Get(ref) != nil
	}
	v := bs.references.JudgeBackend(from, ref, exists || bs.namesNoObject(ref))
	if v.Assumed {
		if _, said := bs.missing[ref]; !said {
			bs.missing[ref] = struct{}{}
			bs.missingCount = bs.addNamedNote(noteTopic{kind: backendMissing}, ref.String(), nil)
		}
	}
	bs.last.from, bs.last.ref, bs.last.id, bs.last.verdict = from, ref, id, v
	return id, v
}

// reportBackend reports p as a warning about a backendRef; reason is that of the route's
// ResolvedRefs condition, "" if it has none.
func (bs *backendBuilder) reportBackend(r *routeDraft, to manifest.BackendRef, reason string, p model.Problem) {
	p.Severity = model.Warning
	if bs.in.IsRefused(to.Ref) { // which the finding about the backend says
		p.Severity = model.Info
	}
	if reason == string(gatewayv1.RouteReasonBackendNotFound) {
		missing := to.Ref
		p.MissingRef = &missing
	}
	if reason != "" && r.unresolved == (reference.Unresolved{}) {
		r.unresolved = reference.Unresolved{Reason: reason, Message: p.Message}
	}
	bs.AddProblem(p, to.At.Object, to.At.FromRoot()...)
}

// noteUnjudged notes that a backendRef is taken to be good because what would tell may not be read.
func (r *routeDraft) noteUnjudged(to manifest.BackendRef, why string) {
	if r.unresolved == (reference.Unresolved{}) {
		r.unresolved.Message = to.At.String() + " is not evaluated: " + why
	}
}

// addAssumed adds a node for a backend that no earlier step has added: of another kind, or not in
// the input (gatewayapi G36).
func (bs *backendBuilder) addAssumed(ref model.Ref) topology.NodeID {
	id := bs.addBackend(ref, bs.in.Get(ref))
	if gk := ref.GroupKind(); gk != gatewayapi.ServiceKind && gk != gatewayapi.XBackendKind &&
		gk != gatewayapi.ServiceImportKind {
		bs.addNamedNote(noteTopic{kind: backendKind, about: kindRef(gk)}, ref.String(), nil)
	}
	return id
}

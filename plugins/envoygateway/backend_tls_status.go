package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findConflicts finds the BackendTLSPolicies that lose to an earlier one: one that names what an
// earlier one names is out as a whole, and what it names behind the first conflict is free for
// others. Policies come in the controller's order.
func findConflicts(objects []*model.Object) map[model.Ref]model.Ref {
	out, taken := map[model.Ref]model.Ref{}, map[model.Ref]model.Ref{}
	for _, o := range objects {
		for _, ref := range listTargets(o) {
			if by, clash := taken[ref]; clash && by != o.Ref {
				out[o.Ref] = by
				break
			}
			taken[ref] = o.Ref
		}
	}
	return out
}

// listTargets lists what a BackendTLSPolicy targets. A section that is no text names nothing.
func listTargets(o *model.Object) []model.Ref {
	var out []model.Ref
	for _, ref := range o.Body.At("spec", "targetRefs").Items {
		if section := ref.Field("sectionName"); !section.IsNull() && !section.IsText() {
			continue
		}
		out = append(out, model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: o.Ref.Namespace,
			Name: ref.Text("name"), Section: ref.Text("sectionName")})
	}
	return out
}

// sortByAge orders objects as the controller does: by creation time, if all have one, then by
// namespace and name.
func sortByAge(objects []*model.Object) []*model.Object {
	timed := !slices.ContainsFunc(objects, func(o *model.Object) bool { return o.Created.IsZero() })
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *model.Object) int {
		if c := a.Created.Compare(b.Created); timed && c != 0 {
			return c
		}
		return a.Ref.Compare(b.Ref)
	})
}

// objectsIn lists the objects of a kind in one namespace.
func objectsIn(in *model.Snapshot, gk model.GroupKind, namespace string) []*model.Object {
	all := in.OfKind(gk) // sorted by namespace
	at := func(ns string) int {
		i, _ := slices.BinarySearchFunc(all, ns,
			func(o *model.Object, ns string) int { return strings.Compare(o.Ref.Namespace, ns) })
		return i
	}
	return all[at(namespace):at(namespace+"\x00")]
}

func describeConflict(by model.Ref) string {
	return "Policy conflicts with BackendTLSPolicy " + by.FullName() + "."
}

// backendTLSConditions are those that the controller writes about BackendTLSPolicies: in the name
// of every parent of a route that sends to what the policy is in force for, and of every policy
// that does.
func backendTLSConditions(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	var objects []*model.Object
	books := map[model.Ref]*statusWriter{}
	for _, f := range fates {
		if !f.Policy.Refused {
			objects = append(objects, f.Policy.Object)
			books[f.Policy.Ref()] = &statusWriter{controller: controllerName(r)}
		}
	}
	objects = sortByAge(objects)
	lost := findConflicts(objects)
	t := &backendTLS{res: r, kind: k, writers: books, policies: newTLSTable(objects)}
	t.writeRoutes()
	t.writePolicies()
	for _, o := range objects { // by age: a winner that lost to another one has its ancestors by then
		if by, conflicted := lost[o.Ref]; conflicted {
			for _, a := range books[by].ancestors {
				books[o.Ref].setPort(*a.Ref, a.Port)
				books[o.Ref].setRefused(listOne(*a.Ref), "Conflicted", "%s", describeConflict(by))
			}
		}
	}
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		book := books[f.Policy.Ref()]
		if book != nil && len(book.ancestors) > 0 {
			out[f.Policy] = book.buildAncestors()
		}
	}
	return out
}

// backendTLS writes about BackendTLSPolicies.
type backendTLS struct {
	res      *resolve.Resolution
	kind     *resolve.Kind
	writers  map[model.Ref]*statusWriter
	policies tlsTable
}

// writeRoutes writes for what routes send to.
func (t *backendTLS) writeRoutes() {
	g := t.res.Graph
	for _, o := range sortRoutes(t.res.Snapshot) {
		found := g.Lookup(o.Ref)
		if len(found) == 0 {
			continue
		}
		n := g.Node(found[0])
		above := listParents(t.res, t.kind, found[0])
		if len(above) == 0 {
			continue
		}
		if rules := n.Object.Body.At("spec", "rules"); (n.Ref.Kind == "TCPRoute" || n.Ref.Kind == "UDPRoute") &&
			rules.Len() != 1 {
			continue
		}
		for _, to := range listRouteBackends(t.res, found[0]) {
			b := to.ref
			reason, _ := explainBackend(t.res.Snapshot, n.Ref, b)
			if (reason == "" || reason == invalidTLS) && to.fault == "" && b.Weight > 0 {
				t.writeAll(namePort(t.res.Snapshot, b.Ref, int64(b.Port), b.Port != 0), above)
			}
		}
	}
}

// sortRoutes lists routes as the controller goes through them: kind by kind, and by age.
func sortRoutes(in *model.Snapshot) []*model.Object {
	var out []*model.Object
	for _, kind := range []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
		out = append(out, sortByAge(in.OfKind(model.GroupKind{Group: "gateway.networking.k8s.io", Kind: kind}))...)
	}
	return out
}

// writePolicies writes for what other policies of the vendor send to: each policy is the ancestor
// of its own backends.
func (t *backendTLS) writePolicies() {
	for _, kind := range []struct {
		name  string
		paths [][]string
	}{
		{"SecurityPolicy", [][]string{{"extAuth", "http"}, {"extAuth", "grpc"}, {"oidc", "provider"},
			{"jwt", "providers", "*", "remoteJWKS"}}},
		{"EnvoyExtensionPolicy", [][]string{{"extProc", "*"}}},
	} {
		k := t.res.Kind(model.GroupKind{Group: policyGroup, Kind: kind.name})
		if k == nil {
			continue
		}
		for _, p := range k.Policies {
			if !slices.ContainsFunc(k.TargetsOf(p), func(id topology.NodeID) bool {
				return k.StaysAt(p, id) &&
					t.isTranslated(kind.name, id)
			}) {
				continue
			}
			for _, path := range kind.paths {
				eachAt(p.Object.Body.At("spec"), path, func(at model.Body) {
					for _, ref := range at.Field("backendRefs").Items {
						t.writeBackend(t.resolveBackend(p.Ref(), ref), p.Ref(), 0)
					}
					// deprecated
					if one := at.Field("backendRef"); path[0] == "extAuth" && one.IsObject() &&
						at.Field("backendRefs").Len() == 0 {
						t.writeBackend(t.resolveBackend(p.Ref(), one), p.Ref(), 0)
					}
				})
			}
		}
	}
}

// isTranslated reports whether the controller translates a policy of a kind that names backends for
// a target, and so finds these: of routes only for those that a listener takes. For TCPRoutes a
// SecurityPolicy with backends is invalid before that.
func (t *backendTLS) isTranslated(kind string, target topology.NodeID) bool {
	n := t.res.Node(target)
	if kind == "SecurityPolicy" && n.Ref.Kind == "TCPRoute" {
		return false
	}
	if n.Role != topology.Route && n.Role != topology.Rule {
		return true
	}
	for _, route := range t.res.Graph.Lookup(n.Ref.WithoutSection()) {
		if slices.ContainsFunc(listParents(t.res, t.kind, route), func(p parent) bool { return len(p.listeners) > 0 }) {
			return true
		}
	}
	return false
}

const policyGroup = "gateway.envoyproxy.io"

// backendKind is the vendor's own kind of backends.
var backendKind = model.GroupKind{Group: policyGroup, Kind: "Backend"}

// eachAt calls see for the values at a path; * is every entry of a list.
func eachAt(b model.Body, path []string, see func(model.Body)) {
	switch {
	case len(path) == 0:
		see(b)
	case path[0] == "*":
		for _, entry := range b.Items {
			eachAt(entry, path[1:], see)
		}
	default:
		eachAt(b.Field(path[0]), path[1:], see)
	}
}

// resolveBackend is what a backendRef of a policy means, with the port's name for a section.
func (t *backendTLS) resolveBackend(from model.Ref, ref model.Body) model.Ref {
	out := model.Ref{Group: fieldAnyCase(ref, "group").Text(), Kind: fieldAnyCase(ref, "kind").Text(),
		Namespace: fieldAnyCase(ref, "namespace").Text(), Name: fieldAnyCase(ref, "name").Text()}
	if out.Kind == "" {
		out.Kind = "Service"
	}
	if out.Namespace == "" {
		out.Namespace = from.Namespace
	}
	port, numbered := fieldAnyCase(ref, "port").Value().(int64)
	return namePort(t.res.Snapshot, out, port, numbered)
}

// fieldAnyCase is the field of an object by its name, else one that is so named but for the case of
// its letters: the controller's decoder takes it.
func fieldAnyCase(b model.Body, name string) model.Body {
	if b.Has(name) {
		return b.Field(name)
	}
	for key, value := range b.Fields {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return model.Body{}
}

// writeAll notes that traffic of the parents of a route goes to a backend.
func (t *backendTLS) writeAll(to model.Ref, above []parent) {
	for _, parent := range above {
		t.writeBackend(to, parent.ref, parent.port)
	}
}

// writeBackend notes that traffic of an ancestor, with the port of its parentRef, goes to a
// backend: the policy for the port goes before the one for the object.
func (t *backendTLS) writeBackend(to, ancestor model.Ref, port int32) {
	if to.GroupKind() == backendKind && !t.res.Settings.Bool("envoygateway.enableBackend") {
		return
	}
	o := t.policies.policyFor(to)
	if o == nil {
		return
	}
	book := t.writers[o.Ref]
	book.setPort(ancestor, port)
	resolved := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
		Message: "Resolved all the Object references."}
	switch fault := judgeAuthorities(o.Ref.Namespace, o.Body.At("spec", "validation"), t.res.Snapshot); {
	case fault.reason != "":
		resolved.Status, resolved.Reason, resolved.Message = "False", fault.reason, formatSentence(fault.message)
		book.setRefused(listOne(ancestor), "NoValidCACertificate", "%s", resolved.Message)
	case fault.unknown:
		resolved.Status, resolved.Reason, resolved.Message = "Unknown", "NotEvaluated", fault.message
		book.setCondition(listOne(ancestor), status.Condition{Type: "Accepted", Status: "Unknown", Reason: "NotEvaluated",
			Message: fault.message})
	}
	book.setCondition(listOne(ancestor), resolved)
	book.setAccepted(listOne(ancestor))
}

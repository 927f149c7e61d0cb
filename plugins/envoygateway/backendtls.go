package envoygateway

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// clashes finds the BackendTLSPolicies that lose to an earlier one: one that names what an earlier one names is out as a whole, and what it
// names behind the first clash is free for others. Policies come in the controller's order.
func clashes(objects []*model.Object) map[model.Ref]model.Ref {
	out, taken := map[model.Ref]model.Ref{}, map[model.Ref]model.Ref{}
	for _, o := range objects {
		for _, ref := range backendRefs(o) {
			if by, clash := taken[ref]; clash && by != o.Ref {
				out[o.Ref] = by
				break
			}
			taken[ref] = o.Ref
		}
	}
	return out
}

// backendRefs lists what a BackendTLSPolicy targets. A section that is no text names nothing.
func backendRefs(o *model.Object) []model.Ref {
	var out []model.Ref
	for _, ref := range o.Body.At("spec", "targetRefs").Items {
		if section := ref.Field("sectionName"); !section.IsNull() && !section.IsText() {
			continue
		}
		out = append(out, model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: o.Ref.Namespace, Name: ref.Text("name"), Section: ref.Text("sectionName")})
	}
	return out
}

// byAge orders objects as the controller does: by creation time, if all have one, then by namespace and name.
func byAge(objects []*model.Object) []*model.Object {
	timed := !slices.ContainsFunc(objects, func(o *model.Object) bool { return o.Created.IsZero() })
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *model.Object) int {
		if c := a.Created.Compare(b.Created); timed && c != 0 {
			return c
		}
		return a.Ref.Compare(b.Ref)
	})
}

// within lists the objects of a kind in one namespace.
func within(in *model.Snapshot, gk model.GroupKind, namespace string) []*model.Object {
	all := in.Of(gk) // sorted by namespace
	at := func(ns string) int {
		i, _ := slices.BinarySearchFunc(all, ns, func(o *model.Object, ns string) int { return strings.Compare(o.Ref.Namespace, ns) })
		return i
	}
	return all[at(namespace):at(namespace+"\x00")]
}

func conflictsWith(by model.Ref) string {
	return "Policy conflicts with BackendTLSPolicy " + by.FullName() + "."
}

// tlsConditions are those that the controller writes about BackendTLSPolicies: in the name of every parent of a route that sends to what the
// policy is in force for, and of every policy that does.
func tlsConditions(r *resolve.Resolution, k *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	var objects []*model.Object
	books := map[model.Ref]*ledger{}
	for _, f := range fates {
		if !f.Policy.Refused {
			objects = append(objects, f.Policy.Object)
			books[f.Policy.Ref()] = &ledger{controller: controllerName(r)}
		}
	}
	objects = byAge(objects)
	lost := clashes(objects)
	t := &tls{res: r, kind: k, books: books, at: map[model.Ref]*model.Object{}}
	for _, o := range objects {
		if _, out := lost[o.Ref]; out {
			continue
		}
		for _, ref := range backendRefs(o) {
			if t.at[ref] == nil {
				t.at[ref] = o
			}
		}
	}
	t.routes()
	t.policies()
	for _, o := range objects { // by age: a winner that lost to another one has its ancestors by then
		if by, conflicted := lost[o.Ref]; conflicted {
			for _, a := range books[by].ancestors {
				books[o.Ref].from(*a.Ref, a.Port)
				books[o.Ref].refuse(only(*a.Ref), "Conflicted", "%s", conflictsWith(by))
			}
		}
	}
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		book := books[f.Policy.Ref()]
		if book != nil && len(book.ancestors) > 0 {
			out[f.Policy] = book.written()
		}
	}
	return out
}

// tls writes about BackendTLSPolicies; at are the policies in force, by what they name.
type tls struct {
	res   *resolve.Resolution
	kind  *resolve.Kind
	books map[model.Ref]*ledger
	at    map[model.Ref]*model.Object
}

// routes writes for what routes send to.
func (t *tls) routes() {
	g := t.res.Graph
	for _, o := range routesInOrder(t.res.Snapshot) {
		found := g.Lookup(o.Ref)
		if len(found) == 0 {
			continue
		}
		n := g.Node(found[0])
		above := parents(t.res, t.kind, found[0])
		if len(above) == 0 {
			continue
		}
		for _, to := range t.mirrors(n) {
			t.writeAll(to, above)
		}
		for _, section := range g.Sections(n.Ref) {
			for _, rule := range g.Lookup(n.Ref.In(section)) {
				for _, b := range g.Backends(rule) {
					if b.Reason != "" {
						continue
					}
					t.writeAll(b.Ref, above)
				}
			}
		}
	}
}

// routesInOrder lists routes as the controller goes through them: kind by kind, and by age.
func routesInOrder(in *model.Snapshot) []*model.Object {
	var out []*model.Object
	for _, kind := range []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
		out = append(out, byAge(in.Of(model.GroupKind{Group: "gateway.networking.k8s.io", Kind: kind}))...)
	}
	return out
}

// mirrors lists what the rules of a route copy requests to.
func (t *tls) mirrors(route *topology.Node) []model.Ref {
	var out []model.Ref
	each(route.Object.Body.At("spec"), []string{"rules", "*", "filters", "*", "requestMirror"}, func(at model.Body) {
		if ref := at.Field("backendRef"); !ref.IsNull() {
			out = append(out, t.backend(route.Ref, ref))
		}
	})
	return out
}

// policies writes for what other policies of the vendor send to: each policy is the ancestor of its own backends.
func (t *tls) policies() {
	for _, kind := range []struct {
		name  string
		paths [][]string
	}{
		{"SecurityPolicy", [][]string{{"extAuth", "http"}, {"extAuth", "grpc"}, {"oidc", "provider"}, {"jwt", "providers", "*", "remoteJWKS"}}},
		{"EnvoyExtensionPolicy", [][]string{{"extProc", "*"}}},
	} {
		k := t.res.Kind(model.GroupKind{Group: policyGroup, Kind: kind.name})
		if k == nil {
			continue
		}
		for _, p := range k.Policies {
			if !slices.ContainsFunc(k.TargetsOf(p), func(id topology.NodeID) bool { return k.Keeps(p, id) && t.translated(kind.name, id) }) {
				continue
			}
			for _, path := range kind.paths {
				each(p.Object.Body.At("spec"), path, func(at model.Body) {
					for _, ref := range at.Field("backendRefs").Items {
						t.write(t.backend(p.Ref(), ref), p.Ref(), 0)
					}
					if one := at.Field("backendRef"); path[0] == "extAuth" && one.IsObject() && at.Field("backendRefs").Len() == 0 { // deprecated
						t.write(t.backend(p.Ref(), one), p.Ref(), 0)
					}
				})
			}
		}
	}
}

// translated reports whether the controller translates a policy of a kind that names backends for a target, and so finds these: of routes only
// for those that a listener takes. For TCPRoutes a SecurityPolicy with backends is invalid before that.
func (t *tls) translated(kind string, target topology.NodeID) bool {
	n := t.res.Node(target)
	if kind == "SecurityPolicy" && n.Ref.Kind == "TCPRoute" {
		return false
	}
	if n.Role != topology.Route && n.Role != topology.Rule {
		return true
	}
	for _, route := range t.res.Graph.Lookup(n.Ref.WithoutSection()) {
		if slices.ContainsFunc(parents(t.res, t.kind, route), func(p parent) bool { return len(p.listeners) > 0 }) {
			return true
		}
	}
	return false
}

const policyGroup = "gateway.envoyproxy.io"

// backendKind is the vendor's own kind of backends.
var backendKind = model.GroupKind{Group: policyGroup, Kind: "Backend"}

// each calls see for what stands at a path; * is every entry of a list.
func each(b model.Body, path []string, see func(model.Body)) {
	switch {
	case len(path) == 0:
		see(b)
	case path[0] == "*":
		for _, entry := range b.Items {
			each(entry, path[1:], see)
		}
	default:
		each(b.Field(path[0]), path[1:], see)
	}
}

// backend is what a backendRef of a policy means, with the port's name for a section.
func (t *tls) backend(from model.Ref, ref model.Body) model.Ref {
	out := model.Ref{Group: anyCase(ref, "group").Text(), Kind: anyCase(ref, "kind").Text(), Namespace: anyCase(ref, "namespace").Text(), Name: anyCase(ref, "name").Text()}
	if out.Kind == "" {
		out.Kind = "Service"
	}
	if out.Namespace == "" {
		out.Namespace = from.Namespace
	}
	port, numbered := anyCase(ref, "port").Value().(int64)
	if out.Kind != "Service" && out.Kind != "ServiceImport" {
		if numbered {
			out.Section = strconv.FormatInt(port, 10)
		}
		return out
	}
	if o := t.res.Snapshot.Get(out); o != nil {
		for _, p := range o.Body.At("spec", "ports").Items {
			if p.Field("port").Value() == port {
				out.Section = p.Text("name")
			}
		}
	}
	return out
}

// anyCase is the field of an object by its name, else one that is so named but for the case of its letters: the controller's decoder takes it.
func anyCase(b model.Body, name string) model.Body {
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
func (t *tls) writeAll(to model.Ref, above []parent) {
	for _, parent := range above {
		t.write(to, parent.ref, parent.port)
	}
}

// write notes that traffic of an ancestor, with the port of its parentRef, goes to a backend: the policy for the port goes before the one for the
// object.
func (t *tls) write(to, ancestor model.Ref, port int32) {
	if to.GroupKind() == backendKind && !t.res.Settings.Bool("envoygateway.enableBackend") {
		return
	}
	o := t.at[to]
	if o == nil {
		o = t.at[to.WithoutSection()]
	}
	if o == nil {
		return
	}
	book := t.books[o.Ref]
	book.from(ancestor, port)
	resolved := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs", Message: "Resolved all the Object references."}
	for _, ref := range o.Body.At("spec", "validation", "caCertificateRefs").Items {
		flaw, what := t.res.Graph.Authority(model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: o.Ref.Namespace, Name: ref.Text("name")})
		switch flaw {
		case topology.MissingCertificate, topology.IncompleteCertificate, topology.MalformedCertificate:
			book.refuse(only(ancestor), "NoValidCACertificate", "%s", what)
			resolved.Status, resolved.Reason, resolved.Message = "False", "InvalidCACertificateRef", what
		case topology.WithheldCertificate:
			if resolved.Status == "True" {
				resolved.Status, resolved.Reason, resolved.Message = "Unknown", "NotEvaluated", what
			}
		}
	}
	book.set(only(ancestor), resolved)
	book.accept(only(ancestor))
}

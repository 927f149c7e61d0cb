package linkerd

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"linkerd.Grants": buildGrantGates, "linkerd.Limits": buildLimitGates}
}

// gateGrant is a grant as gates see it: one that fits lets a request through, whatever others say.
type gateGrant struct {
	object   model.Ref
	field    string
	networks []string // as effective prints them; those with exceptions have words behind the address
	identity bool     // an identity of the mesh is needed
	audit    bool     // it lets everybody in, and notes who was let in by nothing else
	partial  bool     // it is for some requests only, and others do not have it
	missing  string   // an authentication that is not in the input and may exist; "": none
}

// isAnybody reports whether a grant is for every address of a family.
func (w *gateGrant) isAnybody() bool {
	return slices.ContainsFunc(w.networks, func(n string) bool { return protect.CoversAll(n) })
}

// serverOf is the Server at a node, which is one or a route on one; nil: there is none.
func serverOf(g *topology.Graph, id topology.NodeID) *topology.Node {
	if g.Node(id).Role == serverRole {
		return g.Node(id)
	}
	if up := g.Parents(serverFamily, id); len(up) > 0 {
		return g.Node(up[0])
	}
	return nil
}

// buildGrantGates are those of all grants at a port, a Server or a route on one.
func buildGrantGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() { // the grants are judged together
		return nil
	}
	node := in.Resolution().Node(in.Node)
	own := model.Ref{} // what denies if nothing grants
	var all []gateGrant
	switch node.Role {
	case portRole:
		own = in.Source("accessPolicy")
		all = listPortGrants(in, own)
	case serverRole, serverRouteRole:
		if in.Kind.GroupKind == oldAuthorizationKind && in.InForceAt(authorizationKind, in.Node) != nil {
			return nil // the other kind has them
		}
		server := serverOf(in.Resolution().Graph, in.Node)
		if server == nil {
			return nil
		}
		own = server.Ref
		all = append(listGrants(in, in.Node), listAccessGrants(readServer(server.Object).accessPolicy(), own, in)...)
	}
	if len(all) == 0 {
		g.Object, g.Field = own, "accessPolicy"
		g.AddReason(gate.DeniesAll, g.Field)
		return []protect.Gate{g}
	}
	return buildGates(in, g, all)
}

// buildGates are the gates of grants, which are alternatives.
func buildGates(in protect.Input, g protect.Gate, all []gateGrant) []protect.Gate {
	listed := func(w gateGrant) bool { return !w.isAnybody() }
	if g.Property == gate.IPList && !slices.ContainsFunc(all, listed) {
		return nil
	}
	var out []protect.Gate
	for _, w := range all {
		one := g
		one.Object, one.Field, one.Group, one.Refuses = w.object, w.field, in.GroupOf("grants"), protect.MayRefuse
		if w.identity && g.Property == gate.Authentication {
			one.Method = "mtls"
		}
		code := w.weaknessCode(g.Property)
		if code.VerdictOf() == gate.Fails && w.partial {
			code = gate.Skipped
		}
		if code != "" {
			one.AddReason(code, w.field)
		}
		if code == gate.MissingObject {
			one.Reasons[len(one.Reasons)-1].Message += ": " + w.missing
		}
		out = append(out, one)
	}
	return out
}

// weaknessCode is why a property does not hold for those whom a grant lets in; "" if it does.
func (w *gateGrant) weaknessCode(p gate.Property) gate.Code {
	switch {
	case w.missing != "":
		return gate.MissingObject
	case w.audit:
		return gate.DryRun
	case p == gate.Authentication && !w.identity:
		return gate.AnonymousAllowed
	case p == gate.Authorization && !w.identity && w.isAnybody():
		return gate.AllowsAll
	case p == gate.IPList && w.isAnybody() && w.identity:
		return gate.Skipped
	case p == gate.IPList && w.isAnybody():
		return gate.AnyAddress
	}
	return ""
}

// listPortGrants are the grants at a port: those of its Server and of the routes on it, else the
// default of the port, and what is let through for probes.
func listPortGrants(in protect.Input, own model.Ref) []gateGrant {
	var out []gateGrant
	r := in.Resolution()
	if own.GroupKind() == serverKind {
		if id := findNode(r.Graph, own, serverRole); id != topology.None {
			v := readServer(r.Node(id).Object)
			ofServer := append(listGrants(in, id), listAccessGrants(v.accessPolicy(), own, in)...)
			out = append(out, ofServer...)
			for _, route := range r.Graph.Children(serverFamily, id) {
				if !v.readsRoutes(r.Node(route).Ref.GroupKind()) {
					continue
				}
				for _, w := range listGrants(in, route) {
					if !slices.ContainsFunc(ofServer, func(o gateGrant) bool { return o.object == w.object }) {
						w.partial = true
						out = append(out, w)
					}
				}
			}
		}
	} else {
		out = listAccessGrants(in.Text("accessPolicy"), own, in)
	}
	for _, path := range in.List("probes", "paths") {
		text, _ := path.(string)
		if text != "" && in.Reader.IsPath(text) {
			out = append(out, gateGrant{object: in.Source("probes"), field: "probes",
				networks: model.Texts(in.Value("probes", "networks")), partial: true})
		}
	}
	return out
}

// listGrants are the grants of policies at a Server or a route on one.
func listGrants(in protect.Input, id topology.NodeID) []gateGrant {
	var out []gateGrant
	for _, gk := range []model.GroupKind{authorizationKind, oldAuthorizationKind} {
		v := in.InForceAt(gk, id)
		if v == nil {
			continue
		}
		for i := range v.Result.Rules {
			rule := &v.Result.Rules[i]
			if len(rule.From) == 0 {
				continue
			}
			value := merge.Unpack(rule.Value)
			w := gateGrant{object: v.Layers[rule.From[0].Layer].Policy.Object.Ref, field: rule.Name,
				networks: model.Texts(value, "networks")}
			w.identity = model.Get(value, "identities") != nil
			out = append(out, w)
		}
		out = append(out, listUncertainGrants(in, v)...)
	}
	return out
}

// listUncertainGrants are policies that grant nothing because an authentication is not in the
// input, where it may exist all the same.
func listUncertainGrants(in protect.Input, v *resolve.Verdict) []gateGrant {
	var out []gateGrant
	snapshot := in.Snapshot()
	w := meshIndex{in: snapshot, settings: readSettings(in.Resolution().Settings)}
	for _, l := range v.Layers {
		o := l.Policy.Object
		if o.Ref.GroupKind() != authorizationKind || snapshot.HasAll(meshTLSKind, o.Ref.Namespace) &&
			snapshot.HasAll(networkKind, o.Ref.Namespace) {
			continue
		}
		if g := w.readAuthorization(o); g.voidReason != "" && g.missing != "" {
			out = append(out, gateGrant{object: o.Ref, field: "authorizations." + o.Ref.Name, missing: g.missing})
		}
	}
	return out
}

// listAccessGrants are the grants of a word of accessPolicy.
func listAccessGrants(word string, own model.Ref, in protect.Input) []gateGrant {
	w := meshIndex{settings: readSettings(in.Resolution().Settings)}
	g, grants := w.grantOfWord(word)
	if !grants {
		return nil
	}
	out := gateGrant{object: own, field: "accessPolicy", identity: g.identities != nil, audit: word == audit}
	for _, n := range g.networks {
		out.networks = append(out.networks, n.String())
	}
	return []gateGrant{out}
}

// buildLimitGates are those of the rate limit of the Server that governs a port. Every proxy counts
// for itself.
func buildLimitGates(in protect.Input, g protect.Gate) []protect.Gate {
	own := in.Source("accessPolicy")
	id := findNode(in.Resolution().Graph, own, serverRole)
	if own.GroupKind() != serverKind || id == topology.None {
		return nil
	}
	v := in.InForceAt(rateLimitKind, id)
	if v == nil {
		return nil
	}
	var out []protect.Gate
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		if len(rule.From) == 0 {
			continue
		}
		one := g
		one.Object, one.Field = v.Layers[rule.From[0].Layer].Policy.Object.Ref, rule.Name
		counter := protect.Counter{Limit: model.Get(merge.Unpack(rule.Value), "requestsPerSecond"), Per: "1s",
			Scope: "backend", Replicas: "each"}
		switch rule.Name {
		case "identity":
			counter.Key = []string{"client identity"}
			fallthrough
		case "total":
			one.Counters = []protect.Counter{counter}
		default: // limits of single clients
			one.AddReason(gate.Skipped, rule.Name)
		}
		out = append(out, one)
	}
	return out
}

package agentgateway

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var (
	gatewayKind = model.GroupKind{Group: policy.GatewayGroup, Kind: "Gateway"}
	grantKind   = model.GroupKind{Group: policy.GatewayGroup, Kind: "ReferenceGrant"}
)

// target is one object that a policy targets, or what it targets in vain.
type target struct {
	ref      model.Ref // without a section
	failure  string    // why the policy is not attached there; "": it is
	gateways []model.Ref
}

// reach tells through which Gateways objects are reached, and by what.
type reach struct {
	res   *resolve.Resolution
	users map[model.Ref][]user
	known map[model.Ref][]model.Ref
	open  bool // what uses a backend depends on grants that may not be read
}

// user is a policy or an AgentgatewayBackend that refers to a backend.
type user struct {
	policy  *policy.Policy
	backend model.Ref
}

func newReach(r *resolve.Resolution, k *resolve.Kind) *reach {
	out := &reach{res: r, users: map[model.Ref][]user{}, known: map[model.Ref][]model.Ref{}}
	strict := k.Settings.Text("agentgateway.backendRefGrantMode") == "route-and-policy"
	out.open = strict && r.Snapshot.Cluster.MissesAny(grantKind)
	for _, p := range k.Policies {
		if p.Refused {
			continue
		}
		for _, ref := range usedBy(p.Object) {
			if home := p.Ref().Namespace; !strict || ref.to.Namespace == home || r.Graph.Granted(p.Ref().GroupKind(), home, ref.to) {
				out.users[ref.to] = append(out.users[ref.to], user{policy: p})
			}
		}
	}
	for _, o := range r.Snapshot.Of(backendKind) {
		for _, ref := range backendRefs(o.Body.Field("spec"), []string{"spec"}, o.Ref.Namespace) {
			if home := o.Ref.Namespace; !strict || ref.to.Namespace == home || r.Graph.Granted(backendKind, home, ref.to) {
				out.users[ref.to] = append(out.users[ref.to], user{backend: o.Ref})
			}
		}
	}
	return out
}

// gateways are those through which an object is reached, sorted.
func (r *reach) gateways(ref model.Ref) []model.Ref {
	found, ok := r.known[ref]
	if !ok {
		seen := map[model.Ref]bool{}
		r.collect(ref, seen, &found)
		slices.SortFunc(found, model.Ref.Compare)
		found = slices.Compact(found)
		r.known[ref] = found
	}
	return found
}

func (r *reach) collect(ref model.Ref, seen map[model.Ref]bool, out *[]model.Ref) {
	if seen[ref] {
		return
	}
	seen[ref] = true
	g := r.res.Graph
	switch {
	case ref.GroupKind() == gatewayKind:
		if r.res.Snapshot.Get(ref) != nil {
			*out = append(*out, ref)
		}
	case topology.IsListenerSet(ref.GroupKind()):
		for _, id := range g.Lookup(ref) {
			if gateway := g.Set(id).Gateway; gateway != topology.None {
				*out = append(*out, g.Node(gateway).Ref)
			}
		}
	default:
		*out = append(*out, g.GatewaysAbove(ref)...)
		for _, u := range r.users[ref] {
			if u.policy == nil {
				r.collect(u.backend, seen, out)
				continue
			}
			for _, t := range r.named(u.policy) {
				if t.failure == "" {
					r.collect(t.ref, seen, out)
				}
			}
		}
	}
}

// targets are what a policy targets, with the Gateways that its status speaks of.
func (r *reach) targets(p *policy.Policy) []target {
	out := r.named(p)
	for i := range out {
		t := &out[i]
		t.gateways = r.gateways(t.ref)
		if t.failure == "" && len(t.gateways) == 0 {
			t.failure = fmt.Sprintf("%s is not attached to any Gateway", named(t.ref))
		}
	}
	return out
}

// named are what the references of a policy name, and what they name in vain.
func (r *reach) named(p *policy.Policy) []target {
	var out []target
	for _, t := range p.Refs {
		if t.Selects == nil {
			ref := t.Ref.WithoutSection()
			out = append(out, target{ref: ref, failure: r.failure(ref, t)})
			continue
		}
		found := false
		for _, o := range r.res.Snapshot.Of(t.Ref.GroupKind()) {
			if o.Ref.Namespace == t.Ref.Namespace && t.Selects.Picks(o) {
				found = true
				out = append(out, target{ref: o.Ref, failure: r.failure(o.Ref, t)})
			}
		}
		if !found {
			out = append(out, target{failure: fmt.Sprintf("no %s matching selector found in namespace %s", t.Ref.Kind, t.Ref.Namespace)})
		}
	}
	return out
}

func named(ref model.Ref) string { return ref.Kind + " " + ref.FullName() }

// failure says why an object, or its section or port, cannot be targeted; "" if it can.
func (r *reach) failure(ref model.Ref, t policy.TargetRef) string {
	o := r.res.Snapshot.Get(ref)
	switch {
	case o == nil && r.res.Snapshot.Cluster.MissesRef(ref):
		return ""
	case o == nil:
		return named(ref) + " not found"
	case t.Port != 0 && !slices.Contains(numbers(o.Body.At("spec", "listeners")), int(t.Port)):
		return fmt.Sprintf("port %d not found in %s", t.Port, named(ref))
	case t.Ref.Section == "":
		return ""
	case ref.GroupKind() == model.GroupKind{Kind: "Service"}:
		number, err := strconv.Atoi(t.Ref.Section)
		if err != nil {
			return fmt.Sprintf("sectionName %q is not a valid port number for %s", t.Ref.Section, named(ref))
		}
		if !slices.Contains(numbers(o.Body.At("spec", "ports")), number) {
			return fmt.Sprintf("port %d not found in %s", number, named(ref))
		}
		return ""
	}
	if !slices.Contains(sections(o), t.Ref.Section) {
		return fmt.Sprintf("sectionName %q not found in %s", t.Ref.Section, named(ref))
	}
	return ""
}

// numbers are the ports of a list.
func numbers(list model.Body) []int {
	var out []int
	for _, e := range list.Items {
		if n, ok := e.Field("port").Value().(int64); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// sections are the names by which policies can be for a part of an object.
func sections(o *model.Object) []string {
	var out []string
	for _, field := range []string{"listeners", "rules"} {
		for _, e := range o.Body.At("spec", field).Items {
			out = append(out, e.Text("name"))
		}
	}
	if o.Ref.GroupKind() == backendKind {
		out = parts(o)
	}
	return out
}

package agentgateway

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var (
	gatewayKind = model.GroupKind{Group: policy.GatewayGroup, Kind: "Gateway"}
	grantKind   = model.GroupKind{Group: policy.GatewayGroup, Kind: "ReferenceGrant"}
)

// policyTarget is one object that a policy targets, or what it targets in vain.
type policyTarget struct {
	ref      model.Ref // without a section
	failure  string    // why the policy is not attached there; "": it is
	gateways []model.Ref
}

// gatewayReach tells through which Gateways objects are reached, and by what.
type gatewayReach struct {
	res       *resolve.Resolution
	users     map[model.Ref][]backendUser
	known     map[model.Ref][]model.Ref
	uncertain bool // what uses a backend depends on grants that may not be read
}

// backendUser is a policy or an AgentgatewayBackend that refers to a backend.
type backendUser struct {
	policy  *policy.Policy
	backend model.Ref
}

func newGatewayReach(r *resolve.Resolution, k *resolve.Kind) *gatewayReach {
	out := &gatewayReach{res: r, users: map[model.Ref][]backendUser{}, known: map[model.Ref][]model.Ref{}}
	strict := k.Settings.Text("agentgateway.backendRefGrantMode") == "route-and-policy"
	out.uncertain = strict && r.Snapshot.Cluster.HasUnread(grantKind)
	for _, p := range k.Policies {
		if p.Refused {
			continue
		}
		for _, ref := range listUsedBackends(p.Object) {
			if home := p.Ref().Namespace; !strict || ref.Namespace == home ||
				r.Graph.IsGranted(p.Ref().GroupKind(), home, ref) {
				out.users[ref] = append(out.users[ref], backendUser{policy: p})
			}
		}
	}
	for _, o := range r.Snapshot.OfKind(backendKind) {
		for _, ref := range listBackendsOfBackend(o) {
			out.users[ref] = append(out.users[ref], backendUser{backend: o.Ref})
		}
	}
	return out
}

// findGateways are those through which an object is reached, sorted.
func (r *gatewayReach) findGateways(ref model.Ref) []model.Ref {
	found, ok := r.known[ref]
	if !ok {
		seen := map[model.Ref]bool{}
		r.collectGateways(ref, seen, &found)
		slices.SortFunc(found, model.Ref.Compare)
		found = slices.Compact(found)
		r.known[ref] = found
	}
	return found
}

func (r *gatewayReach) collectGateways(ref model.Ref, seen map[model.Ref]bool, out *[]model.Ref) {
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
	case gatewayapi.IsListenerSet(ref.GroupKind()):
		for _, id := range g.Lookup(ref) {
			if gateway := g.ListenerSet(id).Gateway; gateway != topology.None {
				*out = append(*out, g.Node(gateway).Ref)
			}
		}
	default:
		*out = append(*out, g.GatewaysAbove(ref)...)
		for _, u := range r.users[ref] {
			if u.policy == nil {
				r.collectGateways(u.backend, seen, out)
				continue
			}
			for _, t := range r.listTargets(u.policy) {
				if t.failure == "" {
					r.collectGateways(t.ref, seen, out)
				}
			}
		}
	}
}

// resolveTargets are what a policy targets, with the Gateways that its status speaks of.
func (r *gatewayReach) resolveTargets(p *policy.Policy) []policyTarget {
	out := r.listTargets(p)
	for i := range out {
		t := &out[i]
		t.gateways = r.findGateways(t.ref)
		if t.failure == "" && len(t.gateways) == 0 {
			t.failure = fmt.Sprintf("%s is not attached to any Gateway", formatRef(t.ref))
		}
	}
	return out
}

// listTargets are what the references of a policy name, and what they name in vain.
func (r *gatewayReach) listTargets(p *policy.Policy) []policyTarget {
	var out []policyTarget
	for _, t := range p.Refs {
		if t.Selection == nil {
			ref := t.Ref.WithoutSection()
			out = append(out, policyTarget{ref: ref, failure: r.explainFailure(ref, t)})
			continue
		}
		found := false
		for _, o := range r.res.Snapshot.OfKind(t.Ref.GroupKind()) {
			if o.Ref.Namespace == t.Ref.Namespace && t.Selection.SelectsObject(o) {
				found = true
				out = append(out, policyTarget{ref: o.Ref, failure: r.explainFailure(o.Ref, t)})
			}
		}
		if !found {
			out = append(out, policyTarget{failure: fmt.Sprintf("no %s matching selector found in namespace %s",
				t.Ref.Kind, t.Ref.Namespace)})
		}
	}
	return out
}

func formatRef(ref model.Ref) string { return ref.Kind + " " + ref.FullName() }

// explainFailure says why an object, or its section or port, cannot be targeted; "" if it can.
func (r *gatewayReach) explainFailure(ref model.Ref, t policy.TargetRef) string {
	o := r.res.Snapshot.Get(ref)
	switch {
	case o == nil && !r.res.Snapshot.FindExistence(ref).IsAbsent():
		return ""
	case o == nil:
		return formatRef(ref) + " not found"
	case t.Port != 0 && !slices.Contains(listPorts(o.Body.At("spec", "listeners")), int(t.Port)):
		return fmt.Sprintf("port %d not found in %s", t.Port, formatRef(ref))
	case t.Ref.Section == "":
		return ""
	case ref.GroupKind() == model.GroupKind{Kind: "Service"}:
		number, err := strconv.Atoi(t.Ref.Section)
		if err != nil {
			return fmt.Sprintf("sectionName %q is not a valid port number for %s", t.Ref.Section, formatRef(ref))
		}
		if !slices.Contains(listPorts(o.Body.At("spec", "ports")), number) {
			return fmt.Sprintf("port %d not found in %s", number, formatRef(ref))
		}
		return ""
	}
	if !slices.Contains(listSections(o), t.Ref.Section) {
		return fmt.Sprintf("sectionName %q not found in %s", t.Ref.Section, formatRef(ref))
	}
	return ""
}

// listPorts are the ports of a list.
func listPorts(list model.Body) []int {
	var out []int
	for _, e := range list.Items {
		if n, ok := e.Field("port").Value().(int64); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// listSections are the names by which policies can be for a part of an object.
func listSections(o *model.Object) []string {
	var out []string
	for _, field := range []string{"listeners", "rules"} {
		for _, e := range o.Body.At("spec", field).Items {
			out = append(out, e.Text("name"))
		}
	}
	if o.Ref.GroupKind() == backendKind {
		out = listPartNames(o)
	}
	return out
}

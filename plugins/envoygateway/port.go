package envoygateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

const gatewayGroup = "gateway.networking.k8s.io"

// httpListener is a listener for plain HTTP: such ones on one port of a proxy share what a ClientTrafficPolicy says.
type httpListener struct {
	owner model.Ref // the Gateway or the ListenerSet
	name  string
	port  any
	proxy string // the Gateway behind it, or its class where the Gateways of the class are merged
}

func (l httpListener) String() string { return l.owner.FullName() + "/" + l.name }

// samePort finds the listeners at which a ClientTrafficPolicy is in error: it names one that shares its port with others, or an object one of
// whose listeners shares its port with those of another object.
func samePort(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	all, http := httpListeners(in), false
	for _, target := range targetsOf(p, in) {
		for _, l := range all {
			http = http || reaches(target, l, in)
			if !reaches(target, l, in) || target.Section == "" && taken(l, target, p, in) {
				continue
			}
			if fault := l.shared(all, target); fault != "" {
				p.Fail(l.owner.In(l.name), fault)
			}
		}
	}
	if http && slices.ContainsFunc(topology.ListenerSetKinds(), in.Cluster.MissesAny) {
		return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "listener sets may not be read: whether one of their listeners shares its port with those of the policy is not known"}.At(p.Object)}
	}
	return "", nil
}

// shared says what is wrong with a policy for the target that reaches the listener, "" if nothing is.
func (l httpListener) shared(all []httpListener, target model.Ref) string {
	var names []string
	for _, o := range all {
		if o != l && o.port == l.port && o.proxy == l.proxy && (target.Section != "" || o.owner != l.owner) {
			names = append(names, o.String())
		}
	}
	if names == nil {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("ClientTrafficPolicy is being applied to multiple http (non https) listeners (%s) on the same port, which is not allowed", strings.Join(names, ", "))
}

// httpListeners lists the listeners for plain HTTP of all Gateways and ListenerSets.
func httpListeners(in *model.Snapshot) []httpListener {
	var out []httpListener
	add := func(o *model.Object, gateway *model.Object) {
		proxy := gateway.Ref.FullName()
		if class := gateway.Text("spec", "gatewayClassName"); merges(in, class) {
			proxy = "class " + class
		}
		for _, l := range o.Body.At("spec", "listeners").Items {
			if l.Text("protocol") == "HTTP" {
				out = append(out, httpListener{owner: o.Ref, name: l.Text("name"), port: l.Field("port").Value(), proxy: proxy})
			}
		}
	}
	for _, o := range in.Of(model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}) {
		add(o, o)
	}
	for _, gk := range topology.ListenerSetKinds() {
		for _, o := range in.Of(gk) {
			if gateway := in.Get(gatewayOf(o)); gateway != nil {
				add(o, gateway)
			}
		}
	}
	return out
}

// gatewayOf is the Gateway that a ListenerSet names.
func gatewayOf(set *model.Object) model.Ref {
	ref := model.Ref{Group: gatewayGroup, Kind: "Gateway", Namespace: set.Text("spec", "parentRef", "namespace"), Name: set.Text("spec", "parentRef", "name")}
	if ref.Namespace == "" {
		ref.Namespace = set.Ref.Namespace
	}
	return ref
}

// merges reports whether the Gateways of a class share one proxy: the EnvoyProxy of the class says so.
func merges(in *model.Snapshot, class string) bool {
	o := in.Get(model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: class})
	if o == nil {
		return false
	}
	params := o.Body.At("spec", "parametersRef")
	proxy := in.Get(model.Ref{Group: params.Text("group"), Kind: params.Text("kind"), Namespace: params.Text("namespace"), Name: params.Text("name")})
	if proxy == nil {
		return false
	}
	on, _ := proxy.Get("spec", "mergeGateways").(bool)
	return on
}

// targetsOf lists what a policy names and what it selects in its own namespace.
func targetsOf(p *policy.Policy, in *model.Snapshot) []model.Ref {
	var out []model.Ref
	for _, t := range p.Refs {
		if t.Selects == nil {
			out = append(out, t.Ref)
			continue
		}
		for _, o := range in.Of(t.Ref.GroupKind()) {
			if o.Ref.Namespace == p.Ref().Namespace && t.Selects.Picks(o) {
				out = append(out, o.Ref)
			}
		}
	}
	return out
}

// reaches reports whether a policy for the target reaches a listener.
func reaches(target model.Ref, l httpListener, in *model.Snapshot) bool {
	if target.Section != "" {
		return target.Whole() == l.owner && target.Section == l.name
	}
	if target == l.owner {
		return true
	}
	set := in.Get(l.owner)
	return topology.IsListenerSet(l.owner.GroupKind()) && set != nil && gatewayOf(set) == target
}

// taken reports whether a policy for the listener itself, or for its ListenerSet, has a listener that p reaches by a target above.
func taken(l httpListener, target model.Ref, p *policy.Policy, in *model.Snapshot) bool {
	for _, o := range within(in, p.Ref().GroupKind(), l.owner.Namespace) {
		refs := slices.Collect(func(yield func(model.Body) bool) {
			if one := o.Body.At("spec", "targetRef"); !one.IsNull() {
				yield(one)
				return
			}
			for _, ref := range o.Body.At("spec", "targetRefs").Items {
				if !yield(ref) {
					return
				}
			}
		})
		for _, ref := range refs {
			section := ref.Text("sectionName")
			if ref.Text("kind") != l.owner.Kind || ref.Text("name") != l.owner.Name || section != "" && section != l.name {
				continue
			}
			if section != "" || topology.IsListenerSet(l.owner.GroupKind()) && target != l.owner {
				return true
			}
		}
	}
	return false
}

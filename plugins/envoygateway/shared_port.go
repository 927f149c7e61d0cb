package envoygateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

const gatewayGroup = "gateway.networking.k8s.io"

// httpListener is a listener for plain HTTP that takes traffic: such ones on one port of a proxy
// share what a ClientTrafficPolicy says.
type httpListener struct {
	owner   model.Ref // the Gateway or the ListenerSet
	gateway model.Ref
	name    string
	port    int32  // of the proxy's container
	proxy   string // the Gateway behind it, or its class where the Gateways of the class are merged
}

// String is the listener as the controller names it: the Gateway, the ListenerSet if one has it,
// and its own name.
func (l httpListener) String() string { return l.namePrefix() + l.name }

func (l httpListener) namePrefix() string {
	if l.owner == l.gateway {
		return l.owner.FullName() + "/"
	}
	return l.gateway.FullName() + "/" + l.owner.FullName() + "/"
}

// checkSamePort finds the listeners at which a ClientTrafficPolicy is in error: it names one that
// shares its port with others, or an object one of whose listeners shares its port with those of
// another object.
func checkSamePort(_ *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	all := listHTTPListeners(g, in)
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		http := false
		for _, target := range resolveTargets(p, in) {
			for _, l := range all {
				http = http || l.isBelow(target)
				if !l.isBelow(target) || target.Section == "" && l.isTaken(all, target, p, in) {
					continue
				}
				if fault := l.explainSharedPort(all, target); fault != "" && target.Section != "" {
					p.Fail(l.owner.WithSection(l.name), fault)
				} else if fault != "" {
					p.FailAndYield(l.owner.WithSection(l.name), fault)
				}
			}
		}
		if http && slices.ContainsFunc(gatewayapi.ListenerSetKinds(), in.Cluster.HasUnread) {
			return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: "listener sets are forbidden: cannot tell whether one of their listeners shares its port with those of the policy"}.At(p.Object)}
		}
		return "", nil
	}
}

// explainSharedPort says what is wrong with a policy for the target that reaches the listener, ""
// if nothing is: a policy for a listener must have the port for it alone, one for an object must
// have all of the port's listeners below it. The controller tells those of a Gateway by how their
// names begin, so that one of the same namespace whose name begins alike passes for it.
func (l httpListener) explainSharedPort(all []httpListener, target model.Ref) string {
	own := l.namePrefix()
	if !gatewayapi.IsListenerSet(target.GroupKind()) {
		own = l.gateway.FullName()
	}
	var names []string
	for _, o := range all {
		if o != l && o.port == l.port && o.proxy == l.proxy && (target.Section != "" ||
			!strings.HasPrefix(o.String(), own)) {
			names = append(names, o.String())
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf(
		"ClientTrafficPolicy is being applied to multiple http (non https) listeners (%s) on the same port, which is not allowed", strings.Join(names, ", "))
}

// isBelow reports whether a policy for the target reaches the listener.
func (l httpListener) isBelow(target model.Ref) bool {
	if target.Section != "" {
		return target == l.owner.WithSection(l.name)
	}
	return target == l.owner || target == l.gateway
}

// listHTTPListeners lists the listeners for plain HTTP that take traffic, in the controller's
// order: by Gateway, its own before those of its ListenerSets. What is refused or conflicts with
// another one has no place in the proxy.
func listHTTPListeners(g *topology.Graph, in *model.Snapshot) []httpListener {
	var out []httpListener
	for _, gateway := range sortByCreation(g, g.Order(topology.Traffic), topology.Gateway) {
		o := g.Node(gateway).Object
		proxy := o.Ref.FullName()
		if class := o.Text("spec", "gatewayClassName"); isMerged(in, class) {
			proxy = "class " + class
		}
		sets := slices.DeleteFunc(sortByCreation(g, g.ListenerSetsOf(gateway), topology.ListenerSet),
			func(id topology.NodeID) bool { return g.ListenerSet(id).State != topology.SetAccepted })
		for _, owner := range slices.Concat([]topology.NodeID{gateway}, sets) {
			ref := g.Node(owner).Ref
			for _, name := range g.Sections(ref) {
				for _, id := range g.Lookup(ref.WithSection(name)) {
					if f := g.Listener(id); f.Protocol == "HTTP" && f.Accepted && !f.InvalidKinds {
						out = append(out, httpListener{owner: ref, gateway: o.Ref, name: name,
							port: containerPort(in, o, f.Port), proxy: proxy})
					}
				}
			}
		}
	}
	return out
}

// sortByCreation lists the nodes of a role that are in the input, the oldest first, then by
// namespace and name.
func sortByCreation(g *topology.Graph, ids []topology.NodeID, role topology.Role) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		if n := g.Node(id); n.Role == role && n.Object != nil {
			out = append(out, id)
		}
	}
	slices.SortStableFunc(out, func(a, b topology.NodeID) int {
		x, y := g.Node(a).Object, g.Node(b).Object
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Ref.Namespace, y.Ref.Namespace),
			cmp.Compare(x.Ref.Name, y.Ref.Name))
	})
	return out
}

// containerPort is the port on which the proxy listens: one that needs privileges is shifted,
// unless the EnvoyProxy says otherwise.
func containerPort(in *model.Snapshot, gateway *model.Object, port int32) int32 {
	const privileged, shift = 1024, 10000
	own := gateway.Body.At("spec", "infrastructure", "parametersRef")
	keep, said := in.Get(model.Ref{Group: own.Text("group"), Kind: own.Text("kind"), Namespace: gateway.Ref.Namespace,
		Name: own.Text("name")}), false
	for _, proxy := range []*model.Object{keep, findProxy(in, gateway.Text("spec", "gatewayClassName"))} {
		if proxy == nil || said {
			continue
		}
		if on, ok := proxy.Get("spec", "provider", "kubernetes", "useListenerPortAsContainerPort").(bool); ok {
			if said = true; on {
				return port
			}
		}
	}
	if port < privileged {
		return port + shift
	}
	return port
}

// isMerged reports whether the Gateways of a class share one proxy: the EnvoyProxy of the class
// says so.
func isMerged(in *model.Snapshot, class string) bool {
	proxy := findProxy(in, class)
	if proxy == nil {
		return false
	}
	on, _ := proxy.Get("spec", "mergeGateways").(bool)
	return on
}

// findProxy is the EnvoyProxy of a class, nil if it has none.
func findProxy(in *model.Snapshot, class string) *model.Object {
	o := in.Get(model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: class})
	if o == nil {
		return nil
	}
	params := o.Body.At("spec", "parametersRef")
	return in.Get(model.Ref{Group: params.Text("group"), Kind: params.Text("kind"),
		Namespace: params.Text("namespace"), Name: params.Text("name")})
}

// resolveTargets lists what a policy names and what it selects in its own namespace.
func resolveTargets(p *policy.Policy, in *model.Snapshot) []model.Ref {
	var out []model.Ref
	for _, t := range p.Refs {
		if t.Selection == nil {
			out = append(out, t.Ref)
			continue
		}
		for _, o := range in.OfKind(t.Ref.GroupKind()) {
			if o.Ref.Namespace == p.Ref().Namespace && t.Selection.SelectsObject(o) {
				out = append(out, o.Ref)
			}
		}
	}
	return out
}

// isTaken reports whether a policy for the listener itself, or one for its ListenerSet that is not
// in error there, has a listener that p reaches by a target above.
func (l httpListener) isTaken(all []httpListener, target model.Ref, p *policy.Policy, in *model.Snapshot) bool {
	for _, o := range objectsIn(in, p.Ref().GroupKind(), l.owner.Namespace) {
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
			if ref.Text("kind") != l.owner.Kind || ref.Text("name") != l.owner.Name || section != "" &&
				section != l.name {
				continue
			}
			if section != "" || l.owner != l.gateway && target != l.owner && l.explainSharedPort(all, l.owner) == "" {
				return true
			}
		}
	}
	return false
}

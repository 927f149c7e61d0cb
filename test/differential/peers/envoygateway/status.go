package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/gatewayapi/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// facts are what the controller says of an input.
type facts map[string]string

// statuses notes the conditions of policies for every ancestor, of routes for every parent, and those of Gateways, ListenerSets and listeners.
func (f facts) statuses(r *resource.Resources) {
	for _, p := range r.ClientTrafficPolicies {
		f.policy(p, p.Status)
	}
	for _, p := range r.BackendTrafficPolicies {
		f.policy(p, p.Status)
	}
	for _, p := range r.SecurityPolicies {
		f.policy(p, p.Status)
	}
	for _, p := range r.EnvoyExtensionPolicies {
		f.policy(p, p.Status)
	}
	for _, p := range r.BackendTLSPolicies {
		for _, a := range p.Status.Ancestors { // in words of its own
			f.conditions("BackendTLSPolicy", named(p)+" at "+reference(a.AncestorRef, p.Namespace), a.Conditions)
		}
	}
	for _, o := range r.HTTPRoutes {
		f.route(o, o.Status.Parents)
	}
	for _, o := range r.GRPCRoutes {
		f.route(o, o.Status.Parents)
	}
	for _, o := range r.TLSRoutes {
		f.route(o, o.Status.Parents)
	}
	for _, o := range r.TCPRoutes {
		f.route(o, o.Status.Parents)
	}
	for _, o := range r.UDPRoutes {
		f.route(o, o.Status.Parents)
	}
	for _, o := range r.Gateways {
		if status.GatewayAccepted(o) { // as the provider does before it writes
			status.UpdateGatewayStatusAccepted(o)
		}
		f.conditions("Gateway", named(o), o.Status.Conditions)
		for _, l := range o.Status.Listeners {
			f.listener(named(o)+"/"+string(l.Name), l.AttachedRoutes, l.Conditions)
		}
	}
	for _, o := range r.ListenerSets {
		f.conditions("ListenerSet", named(o), o.Status.Conditions)
		for _, l := range o.Status.Listeners {
			f.listener(named(o)+"/"+string(l.Name), l.AttachedRoutes, l.Conditions)
		}
	}
}

// named is a kind, a namespace and a name.
func named(o client.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetNamespace() + "/" + o.GetName()
}

// conditions leaves out what is not predicted: whether a proxy is programmed, that nothing conflicts, and that a listener is accepted, which is not
// said of all that are.
func (f facts) conditions(sort, where string, conditions []metav1.Condition) {
	for _, c := range conditions {
		if c.Type == "Programmed" || c.Type == "OverlappingTLSConfig" || c.Type == "Conflicted" && c.Status == metav1.ConditionFalse || sort == "listener" && c.Type == "Accepted" && c.Status == metav1.ConditionTrue {
			continue
		}
		f[fmt.Sprintf("%s.%s %s", sort, c.Type, where)] = fmt.Sprintf("%s %s", c.Status, c.Reason)
	}
}

// policy notes the messages as well: they name the policies and routes that a policy meets.
func (f facts) policy(o client.Object, of gwapiv1.PolicyStatus) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	for _, a := range of.Ancestors {
		where := named(o) + " at " + reference(a.AncestorRef, o.GetNamespace())
		f.conditions(kind, where, a.Conditions)
		for _, c := range a.Conditions {
			text, _ := json.Marshal(c.Message)
			f[fmt.Sprintf("%s.%s-message %s", kind, c.Type, where)] = string(text)
		}
	}
}

func (f facts) route(o client.Object, parents []gwapiv1.RouteParentStatus) {
	for _, p := range parents {
		where := named(o) + " at " + reference(p.ParentRef, o.GetNamespace())
		f.conditions("route", where, p.Conditions)
		for _, c := range p.Conditions {
			if c.Type == "RouteRulesOverlap" {
				text, _ := json.Marshal(c.Message)
				f["route.RouteRulesOverlap-message "+where] = string(text)
			}
		}
	}
}

func (f facts) listener(where string, attached int32, conditions []metav1.Condition) {
	f.conditions("listener", where, conditions)
	f["attached "+where] = fmt.Sprint(attached)
}

// reference is what a parent or an ancestor is, with the namespace that goes without saying.
func reference(r gwapiv1.ParentReference, namespace string) string {
	kind := "Gateway"
	if r.Kind != nil {
		kind = string(*r.Kind)
	}
	if r.Namespace != nil {
		namespace = cmp.Or(string(*r.Namespace), namespace)
	}
	out := kind + " " + namespace + "/" + string(r.Name)
	if r.SectionName != nil {
		out += "/" + string(*r.SectionName)
	}
	if r.Port != nil {
		out += fmt.Sprintf(":%d", *r.Port)
	}
	return out
}

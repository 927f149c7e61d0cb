package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// askEnvoyGateway reads the predicted conditions, and has the controller translate the predicted effective policies.
func askEnvoyGateway(ctx context.Context, p program.Program, translate translate, in *input) (facts, error) {
	var status struct{ Items []reported }
	if err := p.JSON(ctx, in.Objects, &status, "status", "-A", "--vendor-setting", "envoygateway.enableBackend=true"); err != nil {
		return nil, err
	}
	var effective struct{ Items []predicted }
	if err := p.JSON(ctx, in.Objects, &effective, "effective", "-A", "--vendor-setting", "envoygateway.enableBackend=true"); err != nil {
		return nil, err
	}
	back := newWrittenBack(in, effective.Items, lost(status.Items), broken(status.Items))
	settings, err := translate(&input{Seed: in.Seed, Objects: back.objects})
	if err != nil {
		return nil, fmt.Errorf("written back: %w", err)
	}
	out := facts{}
	reportedFacts(out, status.Items, foreigners(in.Objects))
	for key, value := range settings {
		if isSetting(key) {
			out[back.renamed(key)] = back.renamed(value)
		} else if strings.HasPrefix(key, "path") {
			out[back.renamed(key)] = unsaid // unless a policy is predicted there
		}
	}
	for _, item := range effective.Items {
		for _, path := range item.Paths {
			if rule := back.rule(item); rule != "" {
				out[pathSort(rule)+" "+path.String()+" "+rule] = "open"
			}
		}
	}
	return out, nil
}

// pathSort is the sort of fact that a path to a rule is. TLSRoutes are connections too.
func pathSort(rule string) string {
	switch kind, _, _ := strings.Cut(rule, "/"); kind {
	case "tcproute", "tlsroute":
		return "path.tcp"
	case "udproute":
		return "path.udp"
	}
	return "path"
}

// lost are the listeners that are predicted to take no traffic.
func lost(items []reported) map[string]bool {
	out := map[string]bool{}
	for _, item := range items {
		for _, a := range item.Ancestors {
			for _, c := range a.Conditions {
				if item.Object.Section != "" && (c.Type == "Conflicted" && c.Status == "True" || c.Reason == "InvalidRouteKinds") {
					out[item.Object.String()] = true
				}
			}
		}
	}
	return out
}

// broken are the BackendTLSPolicies that are predicted to have no certificates: the routes to their backends answer 500.
func broken(items []reported) map[string]bool {
	out := map[string]bool{}
	for _, item := range items {
		for _, a := range item.Ancestors {
			for _, c := range a.Conditions {
				if item.Object.Kind == "BackendTLSPolicy" && c.Reason == "NoValidCACertificate" {
					out[item.Object.String()] = true
				}
			}
		}
	}
	return out
}

// isSetting tells facts about settings from those about conditions.
func isSetting(key string) bool {
	sort, _, _ := strings.Cut(key, " ")
	return slices.Contains([]string{"route", "traffic", "security", "extensions", "client", "tcp", "udp"}, sort)
}

// predicted is an effective policy.
type predicted struct {
	PolicyKind string
	Target     struct{ Kind, Namespace, Name, Section string }
	Paths      []listenerPath
	Spec       object
}

type listenerPath struct{ Gateway, ListenerSet, Listener string }

// String is the name that the controller has for a listener.
func (p listenerPath) String() string {
	if p.ListenerSet != "" {
		return p.Gateway + "/" + p.ListenerSet + "/" + p.Listener
	}
	return p.Gateway + "/" + p.Listener
}

// owner is the object that holds the listener, object the listener itself, as conditions name them.
func (p listenerPath) owner() string {
	if p.ListenerSet != "" {
		return "ListenerSet " + p.ListenerSet
	}
	return "Gateway " + p.Gateway
}

func (p listenerPath) object() string { return p.owner() + "/" + p.Listener }

// reported is what the status of an object is predicted to be.
type reported struct {
	Object         reportedRef
	AttachedRoutes *int
	Ancestors      []reportedAncestor
}

type reportedAncestor struct {
	AncestorRef    *reportedRef
	ControllerName string
	Conditions     []struct{ Type, Status, Reason, Message string }
}

type reportedRef struct {
	Group, Kind, Namespace, Name, Section string
	Port                                  int
}

func (r reportedRef) String() string {
	out := r.Kind + " " + r.Namespace + "/" + r.Name
	if r.Section != "" {
		out += "/" + r.Section
	}
	if r.Port != 0 {
		out += fmt.Sprintf(":%d", r.Port)
	}
	return out
}

// reportedFacts notes conditions. Of what the Gateway API defines only the policies' messages are compared: for the rest every implementation has
// its own words. Listeners that have other conditions are not said to be accepted by the controller, nor is anything said about the listeners of a
// set that its Gateway refuses. What foreign names is another controller's.
func reportedFacts(out facts, items []reported, foreign map[string]bool) {
	silent := map[string]bool{}
	for _, item := range items {
		for _, a := range item.Ancestors {
			for _, c := range a.Conditions {
				if item.Object.Kind == "ListenerSet" && c.Type == "Accepted" && c.Reason == "NotAllowed" {
					silent[item.Object.String()] = true
				}
			}
		}
	}
	for _, item := range items {
		o := item.Object
		owner := o
		owner.Section = ""
		isListener := o.Section != "" && (o.Kind == "Gateway" || o.Kind == "ListenerSet")
		if foreign[owner.String()] || isListener && silent[owner.String()] {
			continue
		}
		if isListener && item.AttachedRoutes != nil {
			out["attached "+o.String()] = fmt.Sprint(*item.AttachedRoutes)
		}
		for _, a := range item.Ancestors {
			if a.ControllerName == "" || a.ControllerName == envoyController {
				a.note(out, o, isListener)
			}
		}
	}
}

// note notes the conditions for one ancestor.
func (a reportedAncestor) note(out facts, o reportedRef, isListener bool) {
	sort, where := o.Kind, o.String()
	switch {
	case isListener:
		sort = "listener"
	case strings.HasSuffix(o.Kind, "Route"):
		sort = "route"
	}
	if a.AncestorRef != nil {
		where += " at " + a.AncestorRef.String()
	}
	for _, c := range a.Conditions {
		if c.Type == "Programmed" || isListener && c.Type == "Accepted" && c.Status == "True" {
			continue
		}
		key := sort + "." + c.Type
		out[key+" "+where] = c.Status + " " + c.Reason
		if strings.HasSuffix(o.Kind, "Policy") && o.Group == envoyGroup || c.Type == "RouteRulesOverlap" {
			text, _ := json.Marshal(c.Message)
			out[key+"-message "+where] = string(text)
		}
	}
}

// foreigners are the Gateways of other controllers, and the ListenerSets that name them.
func foreigners(objects []object) map[string]bool {
	out := map[string]bool{}
	for _, o := range objects {
		namespace, name := metadataOf(o)
		spec, _ := o["spec"].(object)
		parent, _ := spec["parentRef"].(object)
		switch {
		case o["kind"] == "Gateway" && spec["gatewayClassName"] != "eg":
			out["Gateway "+namespace+"/"+name] = true
		case o["kind"] == "ListenerSet" && out["Gateway "+text(parent, "namespace", namespace)+"/"+text(parent, "name", "")]:
			out["ListenerSet "+namespace+"/"+name] = true
		}
	}
	return out
}

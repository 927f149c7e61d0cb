package main

import (
	"context"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// istioItem is what is in force of one kind at one target.
type istioItem struct {
	PolicyKind string
	Target     struct{ Kind, Namespace, Name string }
	Paths      []struct{ Gateway string }
	Spec       object
	Rules      []struct {
		Name    string
		Value   any
		Sources []struct{ Policy struct{ Namespace string } }
	}
}

// kind is the kind of policy without its group.
func (i istioItem) kind() string {
	name, _, _ := strings.Cut(i.PolicyKind, ".")
	return name
}

// keys name the target in facts: what a waypoint serves is another target behind each waypoint.
func (i istioItem) keys() []string {
	switch i.Target.Kind {
	case "Namespace":
		return []string{"Namespace " + i.Target.Name}
	case "Service", "ServiceEntry":
		var out []string
		for _, p := range i.Paths {
			out = append(out, i.Target.Kind+" "+i.Target.Namespace+"/"+i.Target.Name+" via "+p.Gateway)
		}
		return out
	}
	return []string{i.Target.Kind + " " + i.Target.Namespace + "/" + i.Target.Name}
}

// istioAnswer is what the program says of an input.
type istioAnswer struct {
	Items    []istioItem
	Problems []struct {
		Code string
		Ref  struct{ Kind, Namespace, Name string }
	}
}

// askIstio reads what is in force everywhere. Policies whose content is merged are written back: Telemetry, and the rules of tokens.
func askIstio(ctx context.Context, p program.Program, translate translate, in *input) (facts, error) {
	var all, listener istioAnswer
	version := []string{"effective", "-A", "--vendor-setting", "istio.proxyVersion=1.32.0"}
	if err := p.JSON(ctx, in.Objects, &all, version...); err != nil {
		return nil, err
	}
	if in.has("WasmPlugin") || in.has("TrafficExtension") {
		if err := p.JSON(ctx, in.Objects, &listener, append(version, "--policy-kind", "wasmplugin,trafficextension", "--vendor-setting", "istio.filterChain=NETWORK",
			"--vendor-setting", "istio.listenerPort=80", "--vendor-setting", "istio.listenerClass=inbound")...); err != nil {
			return nil, err
		}
	}
	for _, answer := range []*istioAnswer{&all, &listener} {
		answer.Items = slices.DeleteFunc(answer.Items, func(i istioItem) bool { return i.isOutside(in) })
	}
	out := facts{}
	for _, item := range all.Items {
		for _, key := range item.keys() {
			item.say(out, key, in)
		}
	}
	for _, item := range listener.Items {
		for _, key := range item.keys() {
			item.extensions(out, "listener "+key)
		}
	}
	if slices.ContainsFunc(in.Objects, func(o object) bool {
		return o["kind"] == "AuthorizationPolicy" && (at(o, "spec", "targetRefs") != nil || at(o, "spec", "targetRef") != nil)
	}) {
		if err := istioStatuses(ctx, out, p, in); err != nil {
			return nil, err
		}
	}
	if err := translated(out, translate, in, all.Items); err != nil {
		return nil, err
	}
	if err := istioPoints(ctx, out, p, in); err != nil {
		return nil, err
	}
	elsewhere(out, in)
	for _, problem := range all.Problems { // it is not known whether the waypoint takes the Service, or it does not and is shown as if it did
		if problem.Code == "NotEvaluated" && (problem.Ref.Kind == "Service" || problem.Ref.Kind == "ServiceEntry") {
			for key := range out {
				if strings.Contains(key, problem.Ref.Kind+" "+problem.Ref.Namespace+"/"+problem.Ref.Name+" via ") {
					out[key] = unsaid
				}
			}
		}
	}
	return out, nil
}

// istioStatuses notes the condition of every AuthorizationPolicy that has one.
func istioStatuses(ctx context.Context, out facts, p program.Program, in *input) error {
	var list struct {
		Items []struct {
			Object    struct{ Kind, Namespace, Name string }
			Ancestors []struct {
				Conditions []struct{ Type, Status, Reason, Message string }
			}
		}
	}
	if err := p.JSON(ctx, in.Objects, &list, "status", "-A"); err != nil {
		return err
	}
	for _, item := range list.Items {
		for _, a := range item.Ancestors {
			for _, c := range a.Conditions {
				if c.Type == "WaypointAccepted" {
					set(out, "status "+item.Object.Kind+" "+item.Object.Namespace+"/"+item.Object.Name, canonical(object{"status": c.Status == "True", "reason": c.Reason, "message": c.Message}))
				}
			}
		}
	}
	return nil
}

// say notes what is compared as it is.
func (i istioItem) say(out facts, key string, in *input) {
	switch i.kind() {
	case "AuthorizationPolicy":
		if i.tunneled(in) {
			i.tunnel(out, key)
			return
		}
		i.authorization(out, key, in)
	case "PeerAuthentication":
		if i.tunneled(in) { // what the control plane tells proxies; ztunnel has something else, which the points say
			out["mtls "+key] = unsaid
			return
		}
		mode := at(i.Spec, "mtls", "mode")
		if i.Target.Kind == "Namespace" {
			set(out, "mtls "+key, canonical(object{"mode": mode}))
			return
		}
		ports, _ := at(i.Spec, "portLevelMtls").(object)
		modes := object{}
		for port, v := range ports {
			modes[port] = at(v, "mode")
		}
		set(out, "mtls "+key, canonical(object{"mode": mode, "ports": modes}))
	case "ProxyConfig":
		set(out, "proxyconfig "+key, canonical(i.Spec))
	case "EnvoyFilter":
		i.patches(out, key)
	case "WasmPlugin", "TrafficExtension":
		i.extensions(out, "extensions "+key)
	}
}

// authorization notes the rules of each list, and the policies of each action in their order.
func (i istioItem) authorization(out facts, key string, in *input) {
	lists, orders := map[string][]string{}, map[string][]string{}
	for _, rule := range i.Rules {
		list, name, _ := strings.Cut(rule.Name, ".")
		lists[list] = append(lists[list], name)
		namespace, policy := policyOf(name)
		action := actionOf(in, namespace, policy)
		if strings.HasPrefix(list, "shadow-") {
			action = "shadow-" + action
		}
		if full := namespace + "/" + policy; !slices.Contains(orders[action], full) {
			orders[action] = append(orders[action], full)
		}
	}
	for list, names := range lists {
		slices.Sort(names)
		set(out, "rules "+key+" "+list, canonical(names))
	}
	for action, names := range orders {
		set(out, "order "+key+" "+action, canonical(names))
	}
}

// policyOf is the policy of a rule, by the name that Istio gives it.
func policyOf(rule string) (namespace, name string) {
	namespace, rest, _ := strings.Cut(strings.TrimPrefix(rule, "ns["), "]-policy[")
	name, _, _ = strings.Cut(rest, "]")
	return namespace, name
}

// actionOf is the action of an AuthorizationPolicy.
func actionOf(in *input, namespace, name string) string {
	if action, ok := at(authzOf(in, namespace, name), "spec", "action").(string); ok {
		return action
	}
	return "ALLOW"
}

// authzOf is an AuthorizationPolicy of the input.
func authzOf(in *input, namespace, name string) any {
	for _, o := range in.Objects {
		if o["kind"] == "AuthorizationPolicy" && at(o, "metadata", "namespace") == namespace && at(o, "metadata", "name") == name {
			return o
		}
	}
	return nil
}

// patches notes the patches of each sort in their order.
func (i istioItem) patches(out facts, key string) {
	if i.Target.Kind == "Namespace" {
		return
	}
	lists := map[string][]string{}
	for _, rule := range i.Rules {
		parts := strings.SplitN(rule.Name, ".", 3)
		policy, _, _ := strings.Cut(parts[2], "[")
		sort, _ := at(rule.Value, "applyTo").(string)
		name, _ := at(rule.Value, "patch", "value", "name").(string)
		lists[sort] = append(lists[sort], parts[1]+"/"+policy+" "+name)
	}
	for sort, names := range lists {
		set(out, "patches "+key+" "+sort, canonical(names))
	}
}

// extensions notes the extensions of each phase in their order.
func (i istioItem) extensions(out facts, key string) {
	lists := map[string][]string{}
	for _, rule := range i.Rules {
		parts := strings.SplitN(rule.Name, ".", 3)
		lists[parts[0]] = append(lists[parts[0]], parts[1]+"/"+parts[2])
	}
	for phase, names := range lists {
		set(out, key+" "+i.kind()+" "+phase, canonical(names))
	}
}

// at is what a tree has under some keys.
func at(v any, path ...string) any {
	for _, key := range path {
		fields, _ := v.(object)
		v = fields[key]
	}
	return v
}

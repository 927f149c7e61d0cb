package main

import "slices"

// tunneled reports whether ztunnel takes the traffic of a workload.
func (i istioItem) tunneled(in *input) bool { return i.member(in) == "ztunnel" }

// isOutside reports whether it is a workload outside of the mesh, of which the control plane knows nothing.
func (i istioItem) isOutside(in *input) bool { return i.member(in) == "outside" }

// member is how a workload is in the mesh, by its labels and those of its namespace; "" of what is no workload.
func (i istioItem) member(in *input) string {
	if i.Target.Kind != "Pod" && i.Target.Kind != "Deployment" {
		return ""
	}
	var space, own any
	for _, o := range in.Objects {
		labels, name, namespace := at(o, "metadata", "labels"), at(o, "metadata", "name"), at(o, "metadata", "namespace")
		switch {
		case o["kind"] == "Namespace" && name == i.Target.Namespace:
			space = labels
		case o["kind"] == i.Target.Kind && name == i.Target.Name && namespace == i.Target.Namespace:
			if own = labels; o["kind"] == "Deployment" {
				own = at(o, "spec", "template", "metadata", "labels")
			}
		}
	}
	switch {
	case at(space, "istio-injection") == "enabled" && at(own, "sidecar.istio.io/inject") != "false":
		return "sidecar"
	case at(space, "istio.io/dataplane-mode") == "ambient" && at(own, "istio.io/dataplane-mode") != "none":
		return "ztunnel"
	}
	return "outside"
}

// tunnel notes the policies by action.
func (i istioItem) tunnel(out facts, key string) {
	for _, action := range []string{"ALLOW", "DENY"} {
		var names []string
		rules, _ := i.Spec[action].(object)
		for rule := range rules {
			namespace, name := policyOf(rule)
			if full := namespace + "/" + name; !slices.Contains(names, full) {
				names = append(names, full)
			}
		}
		slices.Sort(names)
		set(out, "tunnel "+key+" "+action, canonical(names))
	}
}

// tunnelBack writes the policies back with the rules that ztunnel is said to have, by the names of the facts about them.
func tunnelBack(in *input, items []istioItem) map[string]object {
	out := map[string]object{}
	for _, item := range items {
		if item.kind() != "AuthorizationPolicy" || !item.tunneled(in) {
			continue
		}
		for _, rule := range item.Rules {
			action, rest := rule.Name[:len("DENY")], rule.Name[len("DENY."):]
			if action == "ALLO" {
				action, rest = "ALLOW", rule.Name[len("ALLOW."):]
			}
			namespace, name := policyOf(rest)
			fact := "tunnelrules " + item.keys()[0] + " " + namespace + "/" + name
			if out[fact] == nil {
				spec := object{"action": action}
				if selector := at(authzOf(in, namespace, name), "spec", "selector"); selector != nil {
					spec["selector"] = selector
				}
				out[fact] = object{"apiVersion": "security.istio.io/v1", "kind": "AuthorizationPolicy", "metadata": object{"name": name, "namespace": namespace}, "spec": spec}
			}
			if fields, is := rule.Value.(object); is { // else it says that nothing matches
				spec := out[fact]["spec"].(object)
				rules, _ := spec["rules"].([]any)
				spec["rules"] = append(rules, seen(fields))
			}
		}
	}
	return out
}

// seen is a rule that API servers take: what is left of nothing but attributes that ztunnel does not see matches everything.
func seen(rule object) object {
	out := object{}
	for field, inner := range map[string]string{"from": "source", "to": "operation"} {
		entries, _ := rule[field].([]any)
		empty := func(e any) bool { fields, _ := at(e, inner).(object); return len(fields) == 0 }
		if len(entries) > 0 && !slices.ContainsFunc(entries, empty) {
			out[field] = entries
		}
	}
	if when, is := rule["when"]; is {
		out["when"] = when
	}
	return out
}

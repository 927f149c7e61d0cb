package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What stands for an effective policy that the program says not to know, and for one in error.
var (
	unsaidPolicy = object{"statPrefix": "unsaid"}
	faultyPolicy = object{"acl": object{"defaultAction": "deny", "rules": []object{{"action": "allow", "cidrs": []string{"10.1.2.3/8"}}}}}
)

const unsaidMark = `"statPrefix":"unsaid"`

// rewriting is an input without the policies that are not in error: those above routes that are in error stay, for what they do is no setting.
type rewriting struct {
	rest   []object
	faulty map[string]bool
	routes map[string]object // by kind, namespace and name
	out    []object
	copies map[string]string // the names of routes by the way to them
}

func rewrite(in *input, faulty map[string]bool) (*rewriting, error) {
	in, err := in.clone()
	if err != nil {
		return nil, err
	}
	r := &rewriting{faulty: faulty, routes: map[string]object{}, copies: map[string]string{}}
	for _, o := range in.Objects {
		switch o["kind"] {
		case "TrafficPolicy":
			if faulty[fullName(o)] {
				r.rest = append(r.rest, o)
			}
		case "HTTPRoute", "GRPCRoute":
			r.routes[fmt.Sprintf("%s %s", o["kind"], fullName(o))] = o
			for _, rule := range rulesOf(o) {
				filters, _ := rule["filters"].([]any)
				rule["filters"] = slices.DeleteFunc(filters, func(f any) bool { return f.(object)["type"] == "ExtensionRef" })
			}
		default:
			r.rest = append(r.rest, o)
		}
	}
	return r, nil
}

// fullName is the namespace and the name of an object.
func fullName(o object) string {
	namespace, name := metadataOf(o)
	return namespace + "/" + name
}

func rulesOf(route object) []object {
	spec, _ := route["spec"].(object)
	return entries(spec["rules"])
}

// bare are the objects with the routes as they are.
func (r *rewriting) bare() []object {
	out := slices.Clone(r.rest)
	for _, name := range slices.Sorted(maps.Keys(r.routes)) {
		out = append(out, r.routes[name])
	}
	return out
}

// predicted are the objects with a copy of a route for each way that leads to it, and one policy on each of its rules: what the program says to
// be in force there.
func (r *rewriting) predicted(effective, overridden prediction) []object {
	r.out = slices.Clone(r.rest)
	special := map[string]object{} // what stands for the effective policy, by where
	for _, loss := range overridden.Items {
		for _, way := range loss.Paths {
			switch at := loss.where(way); {
			case !loss.aboutRule():
			case loss.Reason == "NotEvaluated":
				special[at] = unsaidPolicy
				r.write(loss, way, unsaidPolicy)
			case loss.Reason == "Invalid" && slices.Contains([]string{"route", "rule", "filter"}, loss.Source.Level):
				special[at] = faultyPolicy
				r.fault(loss, way)
			}
		}
	}
	for _, item := range effective.Items {
		spec := item.policies()
		for _, way := range item.Paths {
			if item.aboutRule() && special[item.where(way)] == nil {
				r.write(item, way, spec)
			}
		}
	}
	return r.out
}

// fault puts a policy in error where one is, on the rule or on a route that hands over to it: that one answers with an error itself.
func (r *rewriting) fault(loss predictedItem, way via) {
	by, at := loss.Source.Policy, loss.Source.Target
	if by == nil || !r.faulty[by.Namespace+"/"+by.Name] {
		return
	}
	spec := maps.Clone(faultyPolicy)
	name := strings.TrimSuffix(r.copied(way, loss), loss.Target.Name) + at.Name
	spec["targetRefs"] = []object{withSection(object{"group": gatewayGroup, "kind": loss.Target.Kind, "name": name}, at.Section)}
	r.add(at.Namespace, spec)
}

// add adds a policy.
func (r *rewriting) add(namespace string, spec object) {
	r.out = append(r.out, object{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy",
		"metadata": object{"namespace": namespace, "name": fmt.Sprintf("e%d", len(r.out))}, "spec": spec})
}

// write puts a policy on a rule, as it is on one way. Of several providers that are in force together each takes a policy.
func (r *rewriting) write(at predictedItem, way via, spec object) {
	if len(spec) == 0 {
		return
	}
	spec = maps.Clone(spec)
	for name, value := range spec {
		several, ok := value.([]any)
		if !ok {
			continue
		}
		for _, one := range several[1:] {
			r.write(at, way, object{name: one})
		}
		spec[name] = several[0]
	}
	spec["targetRefs"] = []object{{"group": gatewayGroup, "kind": at.Target.Kind, "name": r.copied(way, at), "sectionName": at.Target.Section}}
	r.add(at.Target.Namespace, spec)
}

// copied copies the routes on a way, once: they hand over along it and nowhere else, and the first has the listener of the way as its only
// parent. It gives the name of the last.
func (r *rewriting) copied(way via, to predictedItem) string {
	leaf := to.Target.Namespace + "/" + to.Target.Name
	key := fmt.Sprint(way, to.Target.Kind, leaf)
	if name := r.copies[key]; name != "" {
		return name
	}
	prefix := fmt.Sprintf("way-%d-", len(r.copies)+1)
	chain := append(slices.Clone(way.DelegatedFrom), leaf)
	for i, name := range chain {
		route := r.routes[to.Target.Kind+" "+name]
		spec := maps.Clone(route["spec"].(object))
		delete(spec, "parentRefs")
		if i == 0 {
			spec["parentRefs"] = []object{way.parent()}
		}
		var rules []object
		for at, rule := range rulesOf(route) {
			rule = maps.Clone(rule)
			section := fmt.Sprintf("rule-%d", at+1)
			rule["name"] = section
			switch {
			case i < len(way.DelegatedRules) && section == way.DelegatedRules[i]:
				namespace, next, _ := strings.Cut(chain[i+1], "/")
				rule["backendRefs"] = []object{{"group": gatewayGroup, "kind": "HTTPRoute", "namespace": namespace, "name": prefix + next}}
			case i < len(chain)-1 || handsOver(rule):
				continue
			}
			rules = append(rules, rule)
		}
		spec["rules"] = rules
		metadata := maps.Clone(route["metadata"].(object))
		metadata["name"] = prefix + metadata["name"].(string)
		delete(metadata, "labels")
		r.out = append(r.out, object{"apiVersion": route["apiVersion"], "kind": route["kind"], "metadata": metadata, "spec": spec})
	}
	r.copies[key] = prefix + to.Target.Name
	return r.copies[key]
}

// parent is the listener of a way as the parent of a route.
func (v via) parent() object {
	kind, owner := "Gateway", v.Gateway
	if v.ListenerSet != "" {
		kind, owner = "ListenerSet", v.ListenerSet
	}
	namespace, name, _ := strings.Cut(owner, "/")
	return object{"group": gatewayGroup, "kind": kind, "namespace": namespace, "name": name, "sectionName": v.Listener}
}

func handsOver(rule object) bool {
	backends, _ := rule["backendRefs"].([]any)
	return len(backends) > 0 && backends[0].(object)["kind"] == "HTTPRoute"
}

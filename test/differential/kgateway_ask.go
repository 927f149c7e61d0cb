package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// askKgateway has the peer translate what is predicted, and reads the statuses. Routes of which nothing is predicted are as they are without
// policies.
func askKgateway(ctx context.Context, p program, translate translate, in *input) (facts, error) {
	var list effectiveList
	if err := p.json(ctx, in, &list, "effective", "-A"); err != nil {
		return nil, err
	}
	bare, err := rewritten(in)
	if err != nil {
		return nil, err
	}
	out := facts{}
	for _, objects := range [][]object{bare.all(), bare.predicted(list)} {
		translated, err := translate(&input{Seed: in.Seed, Objects: objects})
		if err != nil {
			return nil, errors.Join(errors.New("what is predicted cannot be translated"), err)
		}
		for key, value := range translated {
			switch {
			case !strings.HasPrefix(key, "route "):
			case strings.Contains(value, unsaidMark):
				out[key] = unsaid
			default:
				out[key] = value
			}
		}
	}
	return out, conditionsOf(ctx, p, in, out)
}

// effectiveList is what effective prints.
type effectiveList struct {
	Items []effectiveItem
}

type effectiveItem struct {
	PolicyKind string
	Target     struct{ Kind, Namespace, Name, Section string }
	Paths      []via
	Spec       object
	Lost       []struct{ Reason string }
	Rules      []struct{ Lost []struct{ Reason string } }
}

// via is a way to a rule.
type via struct {
	Gateway, Listener             string
	DelegatedFrom, DelegatedRules []string
}

func (v via) String() string {
	return fmt.Sprint(v.Gateway, v.Listener, v.DelegatedFrom, v.DelegatedRules)
}

// unknown reports whether the program says not to know what is in force.
func (i effectiveItem) unknown() bool {
	for _, l := range i.Lost {
		if l.Reason == "NotEvaluated" {
			return true
		}
	}
	for _, r := range i.Rules {
		for _, l := range r.Lost {
			if l.Reason == "NotEvaluated" {
				return true
			}
		}
	}
	return false
}

// unsaidMark is the setting of what the program says not to know.
const unsaidMark = `"statPrefix":"unsaid"`

// rewriting is an input without its policies, of which routes are copied.
type rewriting struct {
	rest   []object
	routes map[string]object // by namespace and name
}

func rewritten(in *input) (*rewriting, error) {
	in, err := in.clone()
	if err != nil {
		return nil, err
	}
	out := &rewriting{routes: map[string]object{}}
	for _, o := range in.Objects {
		switch o["kind"] {
		case "TrafficPolicy":
		case "HTTPRoute":
			out.routes[fullName(o)] = o
			for _, rule := range rulesOf(o) {
				filters, _ := rule["filters"].([]any)
				rule["filters"] = slices.DeleteFunc(filters, func(f any) bool { return f.(object)["type"] == "ExtensionRef" })
			}
		default:
			out.rest = append(out.rest, o)
		}
	}
	return out, nil
}

func fullName(o object) string {
	metadata := o["metadata"].(object)
	return fmt.Sprintf("%s/%s", metadata["namespace"], metadata["name"])
}

func rulesOf(route object) []object {
	var out []object
	list, _ := route["spec"].(object)["rules"].([]any)
	for _, rule := range list {
		out = append(out, rule.(object))
	}
	return out
}

// all are the objects as they were, without policies.
func (r *rewriting) all() []object {
	out := slices.Clone(r.rest)
	for _, name := range slices.Sorted(maps.Keys(r.routes)) {
		out = append(out, r.routes[name])
	}
	return out
}

// predicted are the objects with a copy of a route for each way that leads to it, and one policy on each of its rules: what the program says to
// be in force there.
func (r *rewriting) predicted(list effectiveList) []object {
	out := slices.Clone(r.rest)
	copies := map[string]string{} // names of routes by way
	for _, item := range list.Items {
		if item.PolicyKind != "TrafficPolicy.gateway.kgateway.dev" || item.Target.Kind != "HTTPRoute" || item.Target.Section == "" {
			continue
		}
		leaf := item.Target.Namespace + "/" + item.Target.Name
		for _, way := range item.Paths {
			key := way.String() + leaf
			if copies[key] == "" {
				name, more := r.copied(way, leaf, len(copies)+1)
				out = append(out, more...)
				copies[key] = name
			}
			spec := maps.Clone(item.Spec)
			if item.unknown() {
				spec = object{"statPrefix": "unsaid"}
			}
			if len(spec) == 0 {
				continue
			}
			spec["targetRefs"] = []object{{"group": gatewayAPI, "kind": "HTTPRoute", "name": copies[key], "sectionName": item.Target.Section}}
			out = append(out, object{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy",
				"metadata": object{"namespace": item.Target.Namespace, "name": fmt.Sprintf("e%d", len(out))}, "spec": spec})
		}
	}
	return out
}

// copied copies the routes on a way: they hand over along it and nowhere else, and the first has the listener of the way as its only parent. It
// gives the name of the last.
func (r *rewriting) copied(way via, leaf string, number int) (string, []object) {
	chain := append(slices.Clone(way.DelegatedFrom), leaf)
	var out []object
	for i, name := range chain {
		route := r.routes[name]
		spec := maps.Clone(route["spec"].(object))
		delete(spec, "parentRefs")
		if i == 0 {
			namespace, gateway, _ := strings.Cut(way.Gateway, "/")
			spec["parentRefs"] = []object{{"group": gatewayAPI, "kind": "Gateway", "namespace": namespace, "name": gateway, "sectionName": way.Listener}}
		}
		var rules []object
		for at, rule := range rulesOf(route) {
			rule = maps.Clone(rule)
			section := fmt.Sprintf("rule-%d", at+1)
			rule["name"] = section
			switch handsOver := isDelegation(rule); {
			case i < len(chain)-1 && section == way.DelegatedRules[i]:
				namespace, next, _ := strings.Cut(chain[i+1], "/")
				rule["backendRefs"] = []object{{"group": gatewayAPI, "kind": "HTTPRoute", "namespace": namespace, "name": copyName(number, next)}}
			case i < len(chain)-1 || handsOver:
				continue
			}
			rules = append(rules, rule)
		}
		spec["rules"] = rules
		metadata := maps.Clone(route["metadata"].(object))
		metadata["name"] = copyName(number, metadata["name"].(string))
		out = append(out, object{"apiVersion": route["apiVersion"], "kind": "HTTPRoute", "metadata": metadata, "spec": spec})
	}
	return out[len(out)-1]["metadata"].(object)["name"].(string), out
}

func copyName(number int, name string) string { return fmt.Sprintf("way-%d-%s", number, name) }

func isDelegation(rule object) bool {
	backends, _ := rule["backendRefs"].([]any)
	return len(backends) > 0 && backends[0].(object)["kind"] == "HTTPRoute"
}

// conditionsOf adds the conditions of policies by ancestor.
func conditionsOf(ctx context.Context, p program, in *input, out facts) error {
	var list struct {
		Items []struct {
			Object    struct{ Kind, Namespace, Name string }
			Ancestors []struct {
				AncestorRef struct{ Kind, Namespace, Name, Section string }
				Conditions  []struct{ Type, Status, Reason string }
			}
		}
	}
	if err := p.json(ctx, in, &list, "status", "-A"); err != nil {
		return err
	}
	for _, item := range list.Items {
		if !strings.HasSuffix(item.Object.Kind, "Policy") {
			continue
		}
		for _, a := range item.Ancestors {
			var said []string
			for _, c := range a.Conditions {
				said = append(said, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
			}
			slices.Sort(said)
			out[fmt.Sprintf("status %s %s/%s %s %s/%s %s", item.Object.Kind, item.Object.Namespace, item.Object.Name,
				a.AncestorRef.Kind, a.AncestorRef.Namespace, a.AncestorRef.Name, a.AncestorRef.Section)] = strings.Join(said, " ")
		}
	}
	return nil
}

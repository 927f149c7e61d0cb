package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// askKgateway has the peer translate what is predicted, and reads the statuses. Routes of which nothing is predicted are as they are without
// policies.
func askKgateway(ctx context.Context, p program.Program, translate translate, in *input) (facts, error) {
	var effective, overridden prediction
	out := facts{}
	args := settingArgs(in, "kgateway")
	faulty, err := conditionsOf(ctx, p, in, out, args)
	if err != nil {
		return nil, err
	}
	if err := p.JSON(ctx, in.Objects, &effective, append([]string{"effective", "-A"}, args...)...); err != nil {
		return nil, err
	}
	if err := p.JSON(ctx, in.Objects, &overridden, append([]string{"overridden", "-A"}, args...)...); err != nil {
		return nil, err
	}
	r, err := rewrite(in, faulty)
	if err != nil {
		return nil, err
	}
	for _, objects := range [][]object{r.bare(), r.predicted(effective, overridden)} {
		// Providers that are in force together are written as a policy each, which share a level.
		translated, err := translate(&input{Seed: in.Seed, Objects: objects, Settings: map[string]string{"policyMerge": `{"trafficPolicy":{"extAuth":"DeepMerge","extProc":"DeepMerge"}}`}})
		if err != nil {
			return nil, errors.Join(errors.New("what is predicted cannot be translated"), err)
		}
		for key, value := range translated {
			switch {
			case !strings.HasPrefix(key, "route ") || out[key] == unsaid:
			case value == "several" || strings.Contains(value, unsaidMark):
				out[key] = unsaid
			default:
				out[key] = value
			}
		}
	}
	return out, nil
}

// settingArgs are the arguments that tell the program how the vendor's controller is started.
func settingArgs(in *input, vendor string) []string {
	var out []string
	for name, value := range in.Settings {
		out = append(out, "--vendor-setting", vendor+"."+name+"="+value)
	}
	return out
}

// prediction is what effective and overridden print.
type prediction struct {
	Items []predictedItem
}

// predictedItem is an effective policy, or a loss.
type predictedItem struct {
	PolicyKind string
	Target     struct{ Kind, Namespace, Name, Section string }
	Paths      []via
	Spec       object
	Rules      []struct {
		Name    string
		Sources []struct{ Policy *struct{ Name string } }
	}
	Source struct { // of what is overridden
		Level  string
		Policy *struct{ Namespace, Name string }
		Target struct{ Namespace, Name, Section string }
	}
	Reason string
}

// via is a way to a rule.
type via struct {
	Gateway, ListenerSet, Listener string
	DelegatedFrom, DelegatedRules  []string
}

func (v via) String() string {
	return fmt.Sprint(v.Gateway, v.ListenerSet, v.Listener, v.DelegatedFrom, v.DelegatedRules)
}

// aboutRule reports whether something is said about TrafficPolicies at a rule.
func (i predictedItem) aboutRule() bool {
	return i.PolicyKind == "TrafficPolicy.gateway.kgateway.dev" && strings.HasSuffix(i.Target.Kind, "Route") && i.Target.Section != ""
}

// policies is what policies set of what is in force: what the route says itself, the copies of the route say too.
func (i predictedItem) policies() object {
	for _, rule := range i.Rules {
		if slices.ContainsFunc(rule.Sources, func(s struct{ Policy *struct{ Name string } }) bool { return s.Policy == nil }) {
			remove(i.Spec, strings.Split(rule.Name, ".")...)
		}
	}
	return i.Spec
}

// remove removes the field at a path.
func remove(from object, path ...string) {
	if len(path) == 1 {
		delete(from, path[0])
	} else if inner, ok := from[path[0]].(object); ok {
		remove(inner, path[1:]...)
	}
}

// where names a rule and a way to it.
func (i predictedItem) where(way via) string {
	return fmt.Sprint(way, i.Target)
}

// conditionsOf adds the conditions of policies by ancestor, and gives the policies that are in error, by namespace and name.
func conditionsOf(ctx context.Context, p program.Program, in *input, out facts, args []string) (map[string]bool, error) {
	var list struct {
		Items []struct {
			Object    struct{ Kind, Namespace, Name string }
			Ancestors []struct {
				AncestorRef struct{ Kind, Namespace, Name, Section string }
				Conditions  []struct{ Type, Status, Reason string }
			}
		}
	}
	if err := p.JSON(ctx, in.Objects, &list, append([]string{"status", "-A"}, args...)...); err != nil {
		return nil, err
	}
	faulty := map[string]bool{}
	for _, item := range list.Items {
		if !strings.HasSuffix(item.Object.Kind, "Policy") {
			continue
		}
		name := item.Object.Namespace + "/" + item.Object.Name
		for _, a := range item.Ancestors {
			var said []string
			for _, c := range a.Conditions {
				said = append(said, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
				if c.Type == "Accepted" && c.Status == "False" {
					faulty[name] = true
				}
			}
			slices.Sort(said)
			out[fmt.Sprintf("status %s %s %s %s/%s %s", item.Object.Kind, name,
				a.AncestorRef.Kind, a.AncestorRef.Namespace, a.AncestorRef.Name, a.AncestorRef.Section)] = strings.Join(said, " ")
		}
	}
	return faulty, nil
}

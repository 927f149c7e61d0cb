package requirement

import (
	"github.com/google/cel-go/common/types/ref"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

type objectValue = map[string]any

// newPolicyValue is an effective policy as expressions see it, in the shape of the contract. All
// texts and lists are there; what is not asked for is not made.
func newPolicyValue(e *view.EffectivePolicy) ref.Val {
	return newLazyObject(map[string]func() any{
		"policyKind": func() any { return e.PolicyKind }, "profile": func() any { return e.Profile },
		"id":      func() any { return e.ID },
		"ordered": func() any { return e.Ordered }, "rules": func() any { return ruleValues(e.Rules) },
		"sources": func() any { return listSources(e) },
		"spec": func() any {
			if e.Spec == nil {
				return objectValue{}
			}
			return merge.Unpack(e.Spec)
		},
		"policies": func() any {
			out := make([]any, len(e.Policies))
			for i := range e.Policies {
				out[i] = useValue(&e.Policies[i])
			}
			return out
		},
		"lost": func() any {
			out := make([]any, len(e.Lost))
			for i := range e.Lost {
				out[i] = lossValue(e.Lost[i].Rule, &e.Lost[i].Loss)
			}
			return out
		},
		"groups": func() any {
			out := make([]any, len(e.Groups))
			for i, g := range e.Groups {
				out[i] = objectValue{"name": g.Name, "rules": ruleValues(g.Rules)}
			}
			return out
		},
	})
}

// measurePolicy measures an effective policy.
func measurePolicy(e *view.EffectivePolicy) expression.Sizes {
	out := expression.SizesOf(e.Spec).Max(expression.SizesOf(make([]any, max(len(e.Rules), len(e.Lost),
		len(e.Policies)))))
	for i := range e.Rules {
		out = out.Max(expression.SizesOf(e.Rules[i].Value)).Max(expression.SizesOf(make([]any,
			max(len(e.Rules[i].Lost), len(e.Rules[i].Sources)))))
		for j := range e.Rules[i].Lost {
			out = out.Max(expression.SizesOf(e.Rules[i].Lost[j].Value))
		}
	}
	for i := range e.Lost {
		out = out.Max(expression.SizesOf(e.Lost[i].Value))
	}
	for _, g := range e.Groups {
		for i := range g.Rules {
			out = out.Max(expression.SizesOf(g.Rules[i].Value))
		}
	}
	return out
}

// listSources returns every block of a policy that sets something in force, once, and every policy
// that has a say without setting anything itself. Values that no policy wrote have none.
func listSources(e *view.EffectivePolicy) []any {
	out := []any{}
	seen, heard := map[view.Source]bool{}, map[model.Ref]bool{}
	add := func(rules []view.Rule) {
		for _, r := range rules {
			for _, s := range r.Sources {
				if s.Policy == nil {
					continue
				}
				key := s
				key.Policy, key.Target, key.Origin = nil, nil, nil
				key.Builtin = s.Policy.String() + "\x00" + s.Target.String()
				if !seen[key] {
					seen[key], heard[*s.Policy] = true, true
					out = append(out, sourceValue(&s))
				}
			}
		}
	}
	add(e.Rules)
	for _, g := range e.Groups {
		add(g.Rules)
	}
	for _, u := range e.Policies {
		if u.Policy != nil && (u.Role == "contributing" || u.Role == "partial") && !heard[*u.Policy] {
			out = append(out, sourceValue(&view.Source{Policy: u.Policy, Target: u.Target, Level: u.Level,
				Strategy: u.Strategy, Part: u.Part}))
		}
	}
	return out
}

func ruleValues(rules []view.Rule) []any {
	out := make([]any, len(rules))
	for i, r := range rules {
		lost := make([]any, len(r.Lost))
		for j := range r.Lost {
			lost[j] = lossValue(r.Name, &r.Lost[j])
		}
		out[i] = objectValue{"name": r.Name, "value": merge.Unpack(r.Value), "sources": sourceValues(r.Sources),
			"lost": lost}
	}
	return out
}

func sourceValues(sources []view.Source) []any {
	out := make([]any, len(sources))
	for i := range sources {
		out[i] = sourceValue(&sources[i])
	}
	return out
}

// sourceValue has no policy where no policy wrote the value.
func sourceValue(s *view.Source) objectValue {
	out := objectValue{"target": refValue(s.Target), "level": s.Level, "block": s.Block, "strategy": s.Strategy,
		"condition": s.Condition,
		"builtin":   s.Builtin, "part": s.Part}
	if s.Policy != nil {
		out["policy"] = refValue(s.Policy)
	}
	return out
}

func lossValue(rule string, l *view.Loss) objectValue {
	out := sourceValue(&l.Source)
	out["rule"], out["reason"], out["message"] = rule, l.Reason, l.Message
	out["value"], out["lostTo"] = merge.Unpack(l.Value), sourceValues(l.LostTo)
	return out
}

func useValue(u *view.PolicyUse) objectValue {
	out := objectValue{"target": refValue(u.Target), "level": u.Level, "strategy": u.Strategy, "builtin": u.Builtin,
		"part": u.Part, "role": u.Role}
	if u.Policy != nil {
		out["policy"] = refValue(u.Policy)
	}
	return out
}

func refValue(r *model.Ref) objectValue {
	return objectValue{"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name, "section": r.Section}
}

func pathValue(p view.Path) objectValue {
	return objectValue{"gatewayClass": p.GatewayClass, "gateway": p.Gateway, "listenerSet": p.ListenerSet,
		"listener": p.Listener, "direction": p.Direction,
		"mesh": p.Mesh, "dataplane": p.Dataplane, "destination": p.Destination, "hostname": p.Hostname,
		"binding": p.Binding, "route": p.Route,
		"delegatedFrom": textValues(p.DelegatedFrom), "delegatedRules": textValues(p.DelegatedRules)}
}

func textValues(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

func labelValues(labels map[string]string) objectValue {
	out := make(objectValue, len(labels))
	for key, value := range labels {
		out[key] = value
	}
	return out
}

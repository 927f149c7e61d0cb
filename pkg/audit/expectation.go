package audit

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// expectation is an effective policy, as comparisons need it.
type expectation struct {
	*view.EffectivePolicy
	spec     map[string]any
	policies []model.Ref // of the stack
}

type expectedKey struct {
	target model.Ref
	kind   string
}

// expectationsByTarget returns the effective policies by target and kind.
func expectationsByTarget(list *effective.EffectivePolicyList) map[expectedKey][]*expectation {
	out := make(map[expectedKey][]*expectation, len(list.Items))
	specs := map[string]map[string]any{} // by id, which stands for kind, spec and sources
	for i := range list.Items {
		item := &list.Items[i]
		spec, known := specs[item.ID]
		if !known {
			spec = toMap(item.Spec)
			specs[item.ID] = spec
		}
		e := &expectation{EffectivePolicy: item, spec: spec}
		for _, use := range item.Policies {
			if use.Policy != nil {
				e.policies = append(e.policies, *use.Policy)
			}
		}
		key := expectedKey{item.Target, item.PolicyKind}
		out[key] = append(out[key], e)
	}
	return out
}

func toMap(spec any) map[string]any {
	if b, ok := spec.(model.Body); ok {
		spec = b.Value()
	}
	m, _ := merge.Unpack(spec).(map[string]any)
	return m
}

// expectedOnPath returns the expectations that hold on a path through a listener; with none, on any
// through the Gateway.
func expectedOnPath(all []*expectation, path view.Path) []*expectation {
	var out []*expectation
	for _, e := range all {
		if slices.ContainsFunc(e.Paths, func(p view.Path) bool {
			return p.Gateway == path.Gateway && (path.Listener == "" || p.Listener == "" ||
				p.Listener == path.Listener && p.ListenerSet == path.ListenerSet)
		}) {
			out = append(out, e)
		}
	}
	return out
}

// settingSources returns the policies behind a setting, and whether anything but a policy is.
func (e *expectation) settingSources(setting string) (policies []model.Ref, builtin bool) {
	for i := range e.Rules {
		if !isRelated(e.Rules[i].Name, setting) {
			continue
		}
		for _, s := range e.Rules[i].Sources {
			switch {
			case s.Policy == nil:
				builtin = true
			case !slices.Contains(policies, *s.Policy):
				policies = append(policies, *s.Policy)
			}
		}
	}
	return policies, builtin
}

// isRelated reports whether one of two dotted paths is the other, or is below it.
func isRelated(a, b string) bool {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	return long[:len(short)] == short && (len(long) == len(short) || long[len(short)] == '.' || long[len(short)] == '[')
}

// findUncertain returns the policies of which something is not known, with what.
func findUncertain(problems []model.Problem) map[model.Ref]string {
	out := map[model.Ref]string{}
	for _, p := range problems {
		if p.Ref != nil && (p.IsIncomplete() || p.Code == model.PolicyInError || p.Code == model.InvalidObject) {
			out[p.Ref.WithoutSection()] = p.Message
		}
	}
	return out
}

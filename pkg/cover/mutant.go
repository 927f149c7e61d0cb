package cover

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// The changes that are made, in the order in which they are tried.
const (
	PolicyDeleted   = "PolicyDeleted"
	SettingRemoved  = "SettingRemoved"
	NumberRaised    = "NumberRaised"    // to a thousand times as much
	OverrideLowered = "OverrideLowered" // overrides become defaults
	TargetRemoved   = "TargetRemoved"   // one of the targets of a policy
	GrantDeleted    = "GrantDeleted"
	FilterRemoved   = "FilterRemoved" // of a route rule, one that names an object
	ParentRemoved   = "ParentRemoved" // one of the parents of a route
	RuleDeleted     = "RuleDeleted"   // a rule of a route
)

// Changes are all of them.
func Changes() []string {
	return []string{PolicyDeleted, SettingRemoved, NumberRaised, OverrideLowered, TargetRemoved, GrantDeleted,
		FilterRemoved, ParentRemoved, RuleDeleted}
}

// maxSettingDepth is how deep below the root of the settings single ones are taken out.
const maxSettingDepth = 3

// Mutant is an input with one thing changed.
type Mutant struct {
	Change string
	Object model.Ref
	Origin model.Origin
	Part   string // of the object, as a dotted path; "": all of it

	edit func(spec map[string]any) // nil: the object is gone
}

// Apply returns the input as the mutant has it.
func (m *Mutant) Apply(in *model.Snapshot) *model.Snapshot {
	objects := make([]*model.Object, 0, len(in.Objects))
	for _, o := range in.Objects {
		switch {
		case o.Ref != m.Object:
			objects = append(objects, o)
		case m.edit != nil:
			changed := *o
			root, _ := o.Body.Value().(map[string]any)
			m.edit(root)
			changed.Body = model.Pack(root, nil)
			objects = append(objects, &changed)
		}
	}
	problems := slices.DeleteFunc(slices.Clone(in.Problems), func(p model.Problem) bool {
		return p.Ref != nil &&
			p.Ref.WithoutSection() == m.Object
	})
	out := model.NewSnapshot(objects, problems)
	out.CopyScope(in)
	return out
}

// Mutants are those of an input: those of policies first, then those of what policies and traffic
// depend on.
func Mutants(r *resolve.Resolution) []Mutant {
	var out []Mutant
	for _, k := range r.Kinds {
		if k.IsLaterScope() || k.Virtual {
			continue
		}
		seen := map[model.Ref]bool{}
		for _, p := range k.Policies {
			if p.Builtin != "" || p.Refused || p.Object == nil || p.Object.Ref.GroupKind() != k.GroupKind ||
				seen[p.Object.Ref] {
				continue
			}
			seen[p.Object.Ref] = true
			out = append(out, policyMutants(p)...)
		}
	}
	for _, o := range r.Snapshot.Objects {
		out = append(out, trafficMutants(o)...)
	}
	slices.SortStableFunc(out, func(a, b Mutant) int {
		return slices.Index(Changes(),
			a.Change) - slices.Index(Changes(), b.Change)
	})
	return out
}

// policyMutants returns the ways to weaken a policy.
func policyMutants(p *policy.Policy) []Mutant {
	o := p.Object
	out := []Mutant{{Change: PolicyDeleted, Object: o.Ref, Origin: o.Origin}}
	root, _ := o.Body.Value().(map[string]any)
	for i := range p.Blocks {
		at := p.Kind.Content.At
		if p.Blocks[i].Kind != merge.Bare {
			at = p.Kind.Content.Blocks[p.Blocks[i].Kind]
		}
		block, _ := valueAt(root, at).(map[string]any)
		if block == nil {
			continue
		}
		for _, path := range removableSettings(block, &p.Blocks[i]) {
			whole := slices.Concat(at, path)
			out = append(out, Mutant{Change: SettingRemoved, Object: o.Ref, Origin: o.OriginOf(whole...),
				Part: strings.Join(whole, "."), edit: removeAt(whole)})
		}
	}
	out = append(out, numberMutants(p, root)...)
	overrides, defaults := p.Kind.Content.Blocks[merge.Overrides], p.Kind.Content.Blocks[merge.Defaults]
	if overrides != nil && defaults != nil && valueAt(root, overrides) != nil && valueAt(root, defaults) == nil {
		out = append(out, Mutant{Change: OverrideLowered, Object: o.Ref, Origin: o.OriginOf(overrides...),
			Part: strings.Join(overrides, "."), edit: func(root map[string]any) {
				value := valueAt(root, overrides)
				removeAt(overrides)(root)
				if parent, is := valueAt(root, defaults[:len(defaults)-1]).(map[string]any); is {
					parent[defaults[len(defaults)-1]] = value
				}
			}})
	}
	for i := range p.Refs {
		at := p.Refs[i].At
		if list, is := valueAt(root, at[:max(0, len(at)-1)]).([]any); is && len(list) > 1 {
			out = append(out, Mutant{Change: TargetRemoved, Object: o.Ref, Origin: o.OriginOf(at...),
				Part: strings.Join(at, "."), edit: removeAt(at)})
		}
	}
	return out
}

// removableSettings returns the paths below a block that can be taken out one by one: the fields
// that settings of the block begin with, and as long as they have several fields themselves, these.
// The only one that there is goes with the policy.
func removableSettings(block map[string]any, of *merge.Block) [][]string {
	var fields []string
	for i := range of.Units {
		if path := of.Units[i].Path; len(path) > 0 && path[0].Form == merge.Key && !of.Units[i].Filled &&
			block[path[0].Name] != nil {
			fields = append(fields, path[0].Name)
		}
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	var out [][]string
	var below func(at []string, v any, alone bool)
	below = func(at []string, v any, alone bool) {
		inner, _ := v.(map[string]any)
		if !alone && (len(inner) != 1 || len(at) == maxSettingDepth) {
			out = append(out, slices.Clone(at))
		}
		if len(at) == maxSettingDepth {
			return
		}
		names := make([]string, 0, len(inner))
		for name := range inner {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			below(append(slices.Clone(at), name), inner[name], alone && len(names) == 1)
		}
	}
	for _, name := range fields {
		below([]string{name}, block[name], len(fields) == 1)
	}
	return out
}

// numberMutants returns the numbers of a policy, each a thousand times as large: limits that limit
// nothing.
func numberMutants(p *policy.Policy, root map[string]any) []Mutant {
	var out []Mutant
	var below func(at []string, v any)
	below = func(at []string, v any) {
		switch of := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(of)) {
				below(append(slices.Clone(at), name), of[name])
			}
		case []any:
			for i := range of {
				below(append(slices.Clone(at), strconv.Itoa(i)), of[i])
			}
		case int64:
			if of > 0 && of < 1<<40 {
				out = append(out, Mutant{Change: NumberRaised, Object: p.Object.Ref, Origin: p.Object.OriginOf(at...),
					Part: strings.Join(at, "."), edit: setValueAt(at, 1000*of)})
			}
		}
	}
	base := p.Kind.Content.At
	if settings, is := valueAt(root, base).(map[string]any); is {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if at := append(slices.Clone(base), name); !slices.ContainsFunc(p.Refs,
				func(r policy.TargetRef) bool { return len(r.At) >= len(at) && slices.Equal(r.At[:len(at)], at) }) {
				below(at, settings[name])
			}
		}
	}
	return out
}

// setValueAt returns an edit that puts a value where another one is.
func setValueAt(path []string, value any) func(map[string]any) {
	return func(root map[string]any) {
		last := len(path) - 1
		switch of := valueAt(root, path[:last]).(type) {
		case map[string]any:
			of[path[last]] = value
		case []any:
			if i, err := strconv.Atoi(path[last]); err == nil && i < len(of) {
				of[i] = value
			}
		}
	}
}

// trafficMutants returns the ways to change what traffic meets: the rules and parents of a route,
// the filters that name objects, and what permits references.
func trafficMutants(o *model.Object) []Mutant {
	if o.Ref.Kind == "ReferenceGrant" && o.Ref.Group == gatewayGroup {
		return []Mutant{{Change: GrantDeleted, Object: o.Ref, Origin: o.Origin}}
	}
	if o.Ref.Group != gatewayGroup || !strings.HasSuffix(o.Ref.Kind, "Route") {
		return nil
	}
	var out []Mutant
	add := func(change string, at ...string) {
		out = append(out, Mutant{Change: change, Object: o.Ref, Origin: o.OriginOf(at...), Part: strings.Join(at, "."),
			edit: removeAt(at)})
	}
	if parents := o.Body.At("spec", "parentRefs"); parents.Len() > 1 {
		for i := range parents.Len() {
			add(ParentRemoved, "spec", "parentRefs", strconv.Itoa(i))
		}
	}
	rules := o.Body.At("spec", "rules")
	for i, rule := range rules.Items {
		at := []string{"spec", "rules", strconv.Itoa(i)}
		if rules.Len() == 1 { // a route without rules has one that takes everything
			out = append(out, Mutant{Change: RuleDeleted, Object: o.Ref, Origin: o.Origin})
		} else {
			add(RuleDeleted, at...)
		}
		for j, f := range rule.Field("filters").Items {
			if f.Text("type") == "ExtensionRef" {
				add(FilterRemoved, append(slices.Clone(at), "filters", strconv.Itoa(j))...)
			}
		}
	}
	return out
}

const gatewayGroup = gatewayv1.GroupName

// valueAt returns the value at a path; entries of lists are numbers.
func valueAt(v any, path []string) any {
	for _, name := range path {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(of) {
				return nil
			}
			v = of[i]
		default:
			return nil
		}
	}
	return v
}

// removeAt returns an edit that takes out what is at a path.
func removeAt(path []string) func(map[string]any) {
	return func(root map[string]any) {
		last := len(path) - 1
		switch of := valueAt(root, path[:last]).(type) {
		case map[string]any:
			delete(of, path[last])
		case []any:
			i, _ := strconv.Atoi(path[last])
			list := slices.Delete(slices.Clone(of), i, i+1)
			if parent, is := valueAt(root, path[:last-1]).(map[string]any); is {
				parent[path[last-1]] = list
			}
		}
	}
}

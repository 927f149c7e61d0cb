package policy

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Policy is one custom resource, decoded by its kind.
type Policy struct {
	Kind   *Kind
	Object *model.Object
	// among the policies that are resolved together: those of its kind, or of all kinds that stand
	// for one
	Position         int
	Refs             []TargetRef
	Blocks           []merge.Block        // in the order defaults, bare, overrides; only those that are there
	Unset            []string             // deactivated names, sorted, each once
	Refused          bool                 // the API server would not have it: it takes no part
	DemandedStrategy *merge.Strategy      // what it demands as the lower side of a merge; nil: nothing
	Fault            string               // why it is in error by a check of its kind; "": it is not
	Reason           string               // of a Fault: the reason of the condition Accepted; "": Invalid
	Faults           map[model.Ref]string // why it is in error on ways through single nodes, by these
	// of these the nodes where it leaves its place to others, whatever the kind says
	YieldsAt   map[model.Ref]bool
	NamedApart bool // an object that is no place of traffic names it
	Problems   []model.Problem
	// not "": no policy, but a setting of Object itself that beats those of policies; what to call
	// it
	Builtin string

	// of a kind without a descriptor: what is not understood, and matters wherever the policy
	// stands
	Uncertain []Uncertainty
	// likewise: fields that look like references and are not understood; then it is not known where
	// else it stands
	UnknownRefFields []string

	Labels map[string]string // completed ones; nil: the object's own count

	Whole *Policy    // of a part: the policy; else nil
	Part  string     // of a part: how it is called, as to[0]
	Index int        // of a part: its position
	Entry model.Body // of a part: what it is cut from

	Places []topology.NodeID // of a part: the nodes found for the last point of its scope

	at            []string                    // where a part's settings, or the built-in setting, stand
	strategyNames [merge.Overrides + 1]string // the strategy word of each block
}

// Label returns the label of the policy that counts, "" if it has none.
func (p *Policy) Label(name string) string {
	if p.Labels != nil {
		return p.Labels[name]
	}
	return p.Object.Labels[name]
}

// Fail notes why the policy is in error on ways through a node.
func (p *Policy) Fail(at model.Ref, fault string) {
	if p.Faults == nil {
		p.Faults = map[model.Ref]string{}
	}
	p.Faults[at] = fault
}

// FailAndYield notes why the policy is in error on ways through a node, where it leaves its place
// to others even if the kind's policies in error hold theirs.
func (p *Policy) FailAndYield(at model.Ref, fault string) {
	p.Fail(at, fault)
	if p.YieldsAt == nil {
		p.YieldsAt = map[model.Ref]bool{}
	}
	p.YieldsAt[at] = true
}

// Ref is the policy's identity.
func (p *Policy) Ref() model.Ref { return p.Object.Ref }

// AppendBlock adds a block, behind those that are there.
func (p *Policy) AppendBlock(b merge.Block) {
	p.Blocks = append(p.Blocks, b)
	p.strategyNames[b.Kind] = b.Strategy.Name()
}

// ConditionOf returns the text of the condition of the policy's block, "" if it has none.
func (p *Policy) ConditionOf(b merge.BlockKind) string {
	for i := range p.Blocks {
		if when, ok := p.Blocks[i].When.(*expression.Condition); ok && p.Blocks[i].Kind == b {
			return when.Text
		}
	}
	return ""
}

// StrategyName returns the strategy of the policy's block, in the contract's words.
func (p *Policy) StrategyName(b merge.BlockKind) string { return p.strategyNames[b] }

// OriginOf returns the place of a rule of one of the policy's blocks.
func (p *Policy) OriginOf(b merge.BlockKind, rule merge.Path) model.Origin {
	if p.Builtin != "" {
		return p.builtinOrigin()
	}
	var few [12]string
	at := append(few[:0], p.Kind.Content.BlockPath(b)...)
	if p.at != nil {
		at = append(few[:0], p.at...)
	}
	rule = p.pathInObject(at, rule)
	for _, seg := range rule {
		if seg.Form != merge.Key {
			break
		}
		at = append(at, seg.Name)
	}
	return p.Object.OriginOf(at...)
}

// pathInObject returns the part of a rule's path that the object itself has below a place: a vendor
// that rewrites its policies may have put all of them below more names.
func (p *Policy) pathInObject(at []string, rule merge.Path) merge.Path {
	if p.Kind.Normalize == nil {
		return rule
	}
	settings := p.Object.Body.At(at...)
	for i, seg := range rule {
		if settings.Has(seg.Name) {
			return rule[i:]
		}
	}
	return rule
}

// Base returns the whole policy of a part, and any other policy itself.
func (p *Policy) Base() *Policy {
	if p.Whole != nil {
		return p.Whole
	}
	return p
}

// NestSettings returns settings as they stand below the spec of a policy: where the settings root
// is deeper, with the objects around it.
func (k *Kind) NestSettings(settings any) any {
	if at := k.Content.At; k.Scope == nil && len(at) > 1 && at[0] == "spec" {
		for _, name := range slices.Backward(at[1:]) {
			settings = map[string]any{name: settings}
		}
	}
	return settings
}

// RenderDocument makes the document that conditions read: the policy bare, with its containers
// always there (engine E6).
func (p *Policy) RenderDocument(settings any) any {
	spec := map[string]any{}
	for _, pt := range p.Kind.Rules {
		if len(pt.Path) > 1 && pt.Path[0].Form == merge.Key && !pt.Filler && pt.Keys == nil && !pt.Numbers {
			spec[pt.Path[0].Name] = map[string]any{}
		}
	}
	if m, ok := settings.(map[string]any); ok {
		maps.Copy(spec, m)
	}
	o := p.Object
	return map[string]any{
		"apiVersion": o.Text("apiVersion"), "kind": o.Ref.Kind, "spec": spec,
		"metadata": map[string]any{"name": o.Ref.Name, "namespace": o.Ref.Namespace, "labels": toAnyMap(o.Labels),
			"annotations": toAnyMap(o.Annotations)},
	}
}

func toAnyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

package policy

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Builtin is a setting that no policy writes and that beats those that do: a field of the object of a node, in the place of a setting.
type Builtin struct {
	At    topology.Role
	Unit  []string // the setting that it stands for
	From  []string // where it stands: below the rule, listener or port that the node is, else below the object's spec
	Label string   // for people
	Func  BuiltinOf
}

// BuiltinOf reads a built-in setting by an algorithm of the vendor: its value and where it stands in the node's object; nil if there is none.
type BuiltinOf func(n *topology.Node) (value any, at []string)

// value is what the node says, nil for nothing, and where in its object.
func (b *Builtin) value(n *topology.Node) (any, []string) {
	if n.Role != b.At || n.Object == nil {
		return nil, nil
	}
	if b.Func != nil {
		return b.Func(n)
	}
	at := slices.Concat(nodePath(n), b.From)
	v := n.Object.Body.At(at...)
	if v.IsNull() {
		return nil, nil
	}
	return v.Part(), at
}

// nodePath is where what a node stands for is written in its object.
func nodePath(n *topology.Node) []string {
	switch n.Role {
	case topology.Rule:
		return []string{"spec", "rules", strconv.Itoa(n.Index)}
	case topology.Listener:
		return []string{"spec", "listeners", strconv.Itoa(n.Index)}
	case topology.Port:
		return []string{"spec", "ports", strconv.Itoa(n.Index)}
	}
	return []string{"spec"}
}

// HasBuiltins reports whether the node has a setting of its own that beats those of policies.
func (k *Kind) HasBuiltins(n *topology.Node) bool {
	return slices.ContainsFunc(k.Builtins, func(b Builtin) bool { v, _ := b.value(n); return v != nil })
}

// BuiltinsOf are the settings of a node that beat those of policies, each as a policy that nobody wrote, in the order of the descriptor.
func (k *Kind) BuiltinsOf(n *topology.Node) []*Policy {
	var out []*Policy
	for _, b := range k.Builtins {
		value, at := b.value(n)
		if value == nil {
			continue
		}
		path := merge.Keys(b.Unit...)
		strategy := merge.Strategy{Wins: merge.Higher, Cut: merge.Rules, Shape: append(slices.Clip(k.Rules), merge.Pattern{Path: path})}
		out = append(out, &Policy{Kind: k, Object: n.Object, Builtin: b.Label, at: at,
			Blocks: []merge.Block{{Kind: merge.Bare, Units: []merge.Unit{{Path: path, Value: value}}, Strategy: strategy}}})
	}
	return out
}

// builtinOrigin is the place of a built-in setting.
func (p *Policy) builtinOrigin() model.Origin { return p.Object.OriginOf(p.at...) }

package policy

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Builtin is a setting that no policy writes: a field of the object of a node, in the place of a
// setting.
type Builtin struct {
	Role topology.Role
	Unit []string // the setting that it stands for
	// where it stands: below the rule, listener or port that the node is, else below the object's
	// spec
	Path  []string
	Label string        // for people
	Level topology.Role // "": it beats all policies; else it stands among them at this level, below those of its node
	Func  BuiltinFunc
}

// BuiltinFunc reads a built-in setting by an algorithm of the vendor: its value and where it stands
// in the node's object; nil if there is none.
type BuiltinFunc func(n *topology.Node) (value any, at []string)

// readValue returns what the node says, nil for nothing, and where in its object.
func (b *Builtin) readValue(n *topology.Node) (any, []string) {
	if n.Role != b.Role || n.Object == nil {
		return nil, nil
	}
	if b.Func != nil {
		return b.Func(n)
	}
	at := slices.Concat(nodePath(n), b.Path)
	v := n.Object.Body.At(at...)
	if v.IsNull() {
		return nil, nil
	}
	return v.ScalarOrBody(), at
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

// HasBuiltins reports whether the node has a setting of its own that stands beside those of
// policies, or beats them.
func (k *Kind) HasBuiltins(n *topology.Node) bool {
	return slices.ContainsFunc(k.Builtins, func(b Builtin) bool { v, _ := b.readValue(n); return v != nil })
}

// NodeSetting is a setting of a node itself, as a policy that nobody wrote.
type NodeSetting struct {
	Level topology.Role // at which it stands among policies; "": it beats them all
	*Policy
}

// BuiltinsOf returns the settings of a node itself, in the order of the descriptor.
func (k *Kind) BuiltinsOf(n *topology.Node) []NodeSetting {
	var out []NodeSetting
	for _, b := range k.Builtins {
		value, at := b.readValue(n)
		if value == nil {
			continue
		}
		path := merge.KeyPath(b.Unit...)
		units := []merge.Unit{{Path: path, Value: value}}
		strategy := merge.Strategy{Wins: merge.Higher, Cut: merge.Rules, Shape: append(slices.Clip(k.Rules),
			merge.Pattern{Path: path})}
		if b.Level != "" {
			units, strategy = merge.Recut(units, k.Rules), merge.Strategy{Cut: merge.Rules}
		}
		out = append(out, NodeSetting{b.Level, &Policy{Kind: k, Object: n.Object, Builtin: b.Label, at: at,
			Blocks: []merge.Block{{Kind: merge.Bare, Units: units, Strategy: strategy}}}})
	}
	return out
}

// builtinOrigin is the place of a built-in setting.
func (p *Policy) builtinOrigin() model.Origin { return p.Object.OriginOf(p.at...) }

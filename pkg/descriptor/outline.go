package descriptor

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"go.yaml.in/yaml/v3"
)

// The outline of a descriptor says what the kind is called, what its policies may target and where they may hold. The rest says what a policy
// means, and is read only where there are policies: every command waits for what is read, and an input has policies of few kinds.

// Later reports whether a field of a PolicyKind document is no part of the outline.
func Later(field string) bool {
	switch field {
	case "admission", "checks", "defaults", "builtins", "content", "rules", "strategy", "compare", "resolve", "normalize", "summaries",
		"facets", "notEvaluated", "lints", "advice", "invalid", "tolerant", "fold", "sameTarget", "rejects":
		return true
	}
	return false
}

// needed are the kinds of an input that are read whole, and as the input decides: those of which it has policies, alone or together with others,
// or lacks some that the cluster has, and those that say something without any.
func (c *Catalog) needed(in *model.Snapshot) map[model.GroupKind]bool {
	needed := map[model.GroupKind]bool{}
	for gk, k := range c.kinds {
		together := append([]model.GroupKind{gk}, k.Members...)
		if k.Virtual || k.Speaks() || slices.ContainsFunc(together, func(gk model.GroupKind) bool { return len(in.Of(gk)) > 0 || in.Cluster.MissesAny(gk) }) {
			for _, gk := range together {
				needed[gk] = true
			}
		}
	}
	return needed
}

// wholeOf is a kind read whole, once for all inputs that one catalogue is asked about.
func (c *Catalog) wholeOf(k *policy.Kind) *policy.Kind {
	if known, ok := c.read.Load(k.GroupKind); ok {
		return known.(*policy.Kind)
	}
	if whole, err := c.builder.kind(k.GroupKind, c.chosen); err == nil { // tests read all of them
		k = whole
	}
	c.read.Store(k.GroupKind, k)
	return k
}

// rawKind is a PolicyKind document before variants and extension are applied.
type rawKind struct {
	form.Document
	node         *yaml.Node // the outline of the document, or all of it
	file, vendor string
	user         bool
}

// part is the document with all its fields, or its outline.
func (k rawKind) part(whole bool) (rawKind, error) {
	if !whole {
		return k, nil
	}
	n, err := k.Whole()
	k.node = n
	return k, err
}

// outline leaves out of a descriptor what is read later, as variants and dialects may set it.
func outline(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !Later(n.Content[i].Value) {
			out.Content = append(out.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &out
}

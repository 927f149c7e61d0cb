package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameParts asks for which names the parts are, where the scope splits its results.
func (k *scoped) nameParts(settings model.Settings) {
	if k.Scope.Split == nil {
		return
	}
	names := k.Scope.Split(k.res.Snapshot, settings)
	k.labels = make([][]string, len(k.parts))
	for i, a := range k.parts {
		k.labels[i] = names(a.Policy)
	}
}

// common is the stacks of what a group of callers and a set have in common: none, one, or where names split it one for each of them.
func (k *scoped) common(c, n int32) []StackID {
	if n == 0 {
		return nil
	}
	key := [2]int32{c, n}
	ids, ok := k.meets[key]
	if !ok {
		ids = k.split(k.callers[c].parts.common(k.sets[n]))
		k.meets[key] = ids
	}
	return ids
}

// split numbers the stacks that a set makes, in the order in which their names are seen first.
func (k *scoped) split(parts set) []StackID {
	var order []string
	by := map[string]set{}
	for _, i := range parts {
		names := []string{""}
		if k.labels != nil && len(k.labels[i]) > 0 {
			names = k.labels[i]
		}
		for _, name := range names {
			if by[name] == nil {
				order = append(order, name)
			}
			if !slices.Contains(by[name], i) {
				by[name] = append(by[name], i)
			}
		}
	}
	var out []StackID
	for _, name := range order {
		out = append(out, k.intern(by[name], name))
	}
	return out
}

// NameOf is the name that a stack is for; "" if it is for none in particular.
func (k *Kind) NameOf(s StackID) string { return k.names[s] }

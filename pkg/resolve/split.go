package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameParts asks for which names the parts are, where the scope splits its results.
func (k *scopeEngine) nameParts(settings model.Settings) {
	if k.Scope.Split == nil {
		return
	}
	names := k.Scope.Split(k.res.Snapshot, settings)
	k.partNames = make([][]string, len(k.parts))
	for i, a := range k.parts {
		k.partNames[i] = names(a.Policy)
	}
}

// commonStacks returns the stacks of what a group of callers and a set have in common: none, one,
// or where names split it one for each of them.
func (k *scopeEngine) commonStacks(c, n int32) []StackID {
	if n == 0 {
		return nil
	}
	key := [2]int32{c, n}
	ids, ok := k.meetings[key]
	if !ok {
		ids = k.splitByName(k.callers[c].parts.intersection(k.sets[n]))
		k.meetings[key] = ids
	}
	return ids
}

// splitByName numbers the stacks that a set makes, in the order in which their names are seen
// first.
func (k *scopeEngine) splitByName(parts partSet) []StackID {
	var order []string
	by := map[string]partSet{}
	for _, i := range parts {
		names := []string{""}
		if k.partNames != nil && len(k.partNames[i]) > 0 {
			names = k.partNames[i]
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
		out = append(out, k.internStack(by[name], name))
	}
	return out
}

// NameOf returns the name that a stack is for; "" if it is for none in particular.
func (k *Kind) NameOf(s StackID) string { return k.stackNames[s] }

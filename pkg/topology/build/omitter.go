package build

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// AddOmitter adds a function that finds the objects of the input which make others at run time under
// names that are not known: these may exist without being in the input. It is called once, with the
// whole input.
func (b *Builder) AddOmitter(find func(in *model.Snapshot, omit func(model.Omission))) {
	b.omitterFuncs = append(b.omitterFuncs, find)
}

// collectOmissions returns what the objects of the input make at run time under names that are not
// known, in the order of the linkers.
func (b *Builder) collectOmissions(in *model.Snapshot) []model.Omission {
	var out []model.Omission
	for _, find := range b.omitterFuncs {
		find(in, func(o model.Omission) { out = append(out, o) })
	}
	return out
}

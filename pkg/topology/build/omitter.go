package build

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// AddOmitter has find tell which objects of the input make others at run time whose names nobody
// knows: such others may exist without being in the input. It is asked once, about the whole input.
func (b *Builder) AddOmitter(find func(in *model.Snapshot, omit func(model.Omission))) {
	b.omitterFuncs = append(b.omitterFuncs, find)
}

// collectOmissions returns what the objects of the input make at run time without telling its
// names, in the order of the linkers.
func (b *Builder) collectOmissions(in *model.Snapshot) []model.Omission {
	var out []model.Omission
	for _, find := range b.omitterFuncs {
		find(in, func(o model.Omission) { out = append(out, o) })
	}
	return out
}

package build

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// AddMaker has find tell which objects something in the input makes: these need not be in the input
// to exist. It is asked once, about the whole input, and names for each object what makes it. An
// object without a namespace stands for those of its name in all namespaces.
func (b *Builder) AddMaker(find func(in *model.Snapshot, made func(object, by model.Ref))) {
	b.makerFuncs = append(b.makerFuncs, find)
}

// collectMade returns what makes the objects that something in the input makes. Of several makers
// the first in the order of references is named.
func (b *Builder) collectMade(in *model.Snapshot) map[model.Ref]model.Ref {
	out := map[model.Ref]model.Ref{}
	for _, find := range b.makerFuncs {
		find(in, func(object, by model.Ref) {
			if before, there := out[object]; !there || by.Compare(before) < 0 {
				out[object] = by
			}
		})
	}
	return out
}

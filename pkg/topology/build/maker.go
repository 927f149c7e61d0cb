package build

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// AddMaker has find tell which objects something in the input makes: these need not be in the input
// to exist. It is asked once, about the whole input, and names for each object what makes it. An
// object without a namespace stands for those of its name in all namespaces.
func (b *Builder) AddMaker(find func(in *model.Snapshot, made func(object, by model.Ref))) {
	b.makerFuncs = append(b.makerFuncs, find)
}

// AddMakers returns the input with what the linkers say its objects make, under names that are known
// or not: that takes the place of what was said of an input before. Of several makers the first in
// the order of references is named.
func AddMakers(in *model.Snapshot, settings model.Settings, linkers ...Linker) *model.Snapshot {
	b := newBuilder(settings, linkers)
	out := *in
	out.Makers = map[model.Ref]model.Ref{}
	for _, find := range b.makerFuncs {
		find(in, func(object, by model.Ref) {
			if before, there := out.Makers[object]; !there || by.Compare(before) < 0 {
				out.Makers[object] = by
			}
		})
	}
	out.Unnamed = b.collectOmissions(in)
	return &out
}

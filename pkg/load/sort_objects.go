package load

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// sortObjects sorts objects by reference, then by place. Those of one kind and namespace are sorted
// on their own, several kinds and namespaces in parallel.
func sortObjects(objects []*model.Object) {
	groups := map[model.Ref][]sortedObject{} // by reference without name
	for _, o := range objects {
		at := model.Ref{Group: o.Ref.Group, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace}
		groups[at] = append(groups[at], sortedObject{object: o})
	}
	order := slices.SortedFunc(maps.Keys(groups), model.Ref.Compare)
	model.Parallel(len(order), 1, func(i int) { sortGroup(groups[order[i]]) })
	objects = objects[:0]
	for _, at := range order {
		for _, k := range groups[at] {
			objects = append(objects, k.object)
		}
	}
}

// sortedObject is an object with the bytes of its name by which it usually differs from others.
// Names lie far apart in memory, and looking at them is most of the time that sorting takes.
type sortedObject struct {
	key    uint64
	object *model.Object
}

func sortGroup(group []sortedObject) {
	shared := group[0].object.Ref.Name // what all names begin with
	for _, k := range group {
		shared = shared[:sharedPrefix(shared, k.object.Ref.Name)]
	}
	for i := range group {
		var start [8]byte
		copy(start[:], group[i].object.Ref.Name[len(shared):])
		group[i].key = binary.BigEndian.Uint64(start[:])
	}
	slices.SortFunc(group, func(a, b sortedObject) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Or(a.object.Ref.Compare(b.object.Ref), a.object.Origin.Compare(b.object.Origin))
	})
}

// sharedPrefix is how many bytes two texts begin with in common.
func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

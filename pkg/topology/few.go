package topology

import "slices"

// few is a set that is small as a rule, and used again and again: as long as it is, searching a list takes less than a table.
type few[K comparable] struct {
	n    int
	list [16]K
	more map[K]struct{} // what does not fit in the list
}

// add adds k and reports whether it was not there.
func (f *few[K]) add(k K) bool {
	if f.has(k) {
		return false
	}
	if f.n < len(f.list) {
		f.list[f.n] = k
	} else {
		if f.more == nil {
			f.more = map[K]struct{}{}
		}
		f.more[k] = struct{}{}
	}
	f.n++
	return true
}

func (f *few[K]) has(k K) bool {
	if slices.Contains(f.list[:min(f.n, len(f.list))], k) {
		return true
	}
	_, ok := f.more[k]
	return ok
}

// clear empties the set. A large table is given up, as emptying it takes its size every time.
func (f *few[K]) clear() { f.n, f.more = 0, nil }

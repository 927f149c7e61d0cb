package cli

import "sync"

// sizes adds up what several readings at a time have read, each under a number of its own, and bounds the memory by the sum.
type sizes struct {
	streams Streams
	lock    sync.Mutex
	read    map[int]int64
}

// of is told how much one reading has read so far.
func (m *sizes) of(part int) func(bytes int64) {
	return func(bytes int64) {
		m.lock.Lock()
		defer m.lock.Unlock()
		m.read[part] = bytes
		setMemoryLimit(m.streams, m.sum(), leastMemory*int64(len(m.read))) // each has at least what it would have alone
	}
}

func (m *sizes) sum() int64 {
	all := int64(0)
	for _, n := range m.read {
		all += n
	}
	return all
}

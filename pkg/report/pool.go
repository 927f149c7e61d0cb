package report

import (
	"bytes"
	"hash/maphash"
)

// pool holds distinct texts, numbered in the order in which they came.
type pool struct {
	seed  maphash.Seed
	text  []byte // the members, with a comma between them
	ends  []int  // where each member ends
	table []int32
}

// leastTable is how many places a table begins with.
const leastTable = 1 << 10

func newPool() *pool { return &pool{seed: maphash.MakeSeed(), table: make([]int32, leastTable)} }

// add is the number of a member, which is taken in if it is new.
func (p *pool) add(member []byte) int {
	if 2*len(p.ends) >= len(p.table) {
		p.grow()
	}
	at := p.place(member)
	if n := p.table[at]; n != 0 {
		return int(n) - 1
	}
	if len(p.ends) > 0 {
		p.text = append(p.text, ',')
	}
	p.text = append(p.text, member...)
	p.ends = append(p.ends, len(p.text))
	p.table[at] = int32(len(p.ends))
	return len(p.ends) - 1
}

// place is where a member is in the table, or belongs.
func (p *pool) place(member []byte) int {
	mask := len(p.table) - 1
	at := int(maphash.Bytes(p.seed, member)) & mask
	for p.table[at] != 0 && !bytes.Equal(p.member(int(p.table[at])-1), member) {
		at = (at + 1) & mask
	}
	return at
}

func (p *pool) member(n int) []byte {
	from := 0
	if n > 0 {
		from = p.ends[n-1] + 1
	}
	return p.text[from:p.ends[n]]
}

func (p *pool) grow() {
	p.table = make([]int32, 2*len(p.table))
	for n := range p.ends {
		p.table[p.place(p.member(n))] = int32(n) + 1
	}
}

package report

import (
	"bytes"
	"hash/maphash"
	"io"
)

// textPool holds distinct texts, numbered in the order in which they came.
type textPool struct {
	seed    maphash.Seed
	blocks  [][]byte // the members, with a comma between them; one text that grows would be copied again and again
	size    int      // of all blocks, in bytes
	members []member
	table   []slot // open addressing, with a power of two of slots
}

// member is where a member is in the blocks.
type member struct{ block, from, to int32 }

// slot is a place of the table; number 0: it is free.
type slot struct {
	hash   uint32 // most members that are not the one looked for are told by it
	number int32  // of the member, from 1 on
}

const (
	minTable = 1 << 10 // slots that a table begins with
	minBlock = 1 << 10 // bytes of the first block; the next ones are twice as large, up to
	maxBlock = 1 << 20 // this, or as large as a member
)

func newPool() *textPool { return &textPool{seed: maphash.MakeSeed(), table: make([]slot, minTable)} }

// addText returns the number of a text, which is taken in if it is new.
func (p *textPool) addText(text []byte) int {
	if 2*len(p.members) >= len(p.table) {
		p.growTable()
	}
	hash := uint32(maphash.Bytes(p.seed, text))
	at := p.findSlot(hash, text)
	if n := p.table[at].number; n != 0 {
		return int(n) - 1
	}
	p.members = append(p.members, p.appendText(text))
	p.table[at] = slot{hash, int32(len(p.members))}
	return len(p.members) - 1
}

// findSlot returns where a text is in the table, or belongs.
func (p *textPool) findSlot(hash uint32, text []byte) int {
	mask := len(p.table) - 1
	at := int(hash) & mask
	for s := p.table[at]; s.number != 0 && !(s.hash == hash && bytes.Equal(p.textOf(s.number), text)); s = p.table[at] {
		at = (at + 1) & mask
	}
	return at
}

func (p *textPool) textOf(number int32) []byte {
	m := p.members[number-1]
	return p.blocks[m.block][m.from:m.to]
}

// appendText writes a text behind all others.
func (p *textPool) appendText(text []byte) member {
	last := len(p.blocks) - 1
	if last < 0 || cap(p.blocks[last])-len(p.blocks[last]) < len(text)+1 {
		size := minBlock
		if last >= 0 {
			size = min(2*cap(p.blocks[last]), maxBlock)
		}
		p.blocks = append(p.blocks, make([]byte, 0, max(size, len(text)+1)))
		last++
	}
	b := p.blocks[last]
	if len(p.members) > 0 {
		b = append(b, ',')
	}
	from := len(b)
	b = append(b, text...)
	p.size += len(b) - len(p.blocks[last])
	p.blocks[last] = b
	return member{int32(last), int32(from), int32(len(b))}
}

func (p *textPool) growTable() {
	old := p.table
	p.table = make([]slot, 2*len(old))
	mask := len(p.table) - 1
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := int(s.hash) & mask
		for p.table[at].number != 0 { // all members are distinct
			at = (at + 1) & mask
		}
		p.table[at] = s
	}
}

// writeTexts writes the texts, with a comma between them.
func (p *textPool) writeTexts(w io.Writer) error {
	for _, b := range p.blocks {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

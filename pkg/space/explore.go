package space

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// Bounds of what is explored for the expressions of one part of a request; beyond it, what they tell apart is not known.
const (
	mostStates = 6000
	mostSteps  = 400_000
)

// explore walks over all texts at once, the shortest first: over the automata of the expressions, and the tree of the exact texts and prefixes. It
// finds a shortest text of each piece; false if a bound was reached first.
func explore(t *texts) ([]piece, bool) {
	e := explorer{t: t, tree: growTree(t), seen: map[string]bool{}, found: map[place]int{}}
	for _, expr := range t.exprs {
		re, err := syntax.Parse(anchored(expr, t.loose), syntax.Perl)
		if err != nil {
			return nil, false
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			return nil, false
		}
		e.progs = append(e.progs, prog)
	}
	most := mostSteps
	if t.steps != nil {
		most = min(most, *t.steps)
	}
	start := state{last: -1, sets: make([][]uint32, len(e.progs))}
	for i, p := range e.progs {
		start.sets[i] = []uint32{uint32(p.Start)}
	}
	e.push(start)
	steps := 0
	defer func() {
		if t.steps != nil {
			*t.steps -= steps
		}
	}()
	for len(e.queue) > 0 {
		s := e.queue[0]
		e.queue = e.queue[1:]
		e.end(&s)
		for _, r := range e.runes(&s) {
			if steps += 1 + s.size(); steps > most || len(e.seen) > mostStates {
				return e.pieces, false
			}
			e.push(e.step(&s, r))
		}
	}
	t.pieces = e.pieces
	t.sort()
	return t.pieces, true
}

type explorer struct {
	t      *texts
	tree   []knot
	progs  []*syntax.Prog
	queue  []state
	seen   map[string]bool
	found  map[place]int // by place: its piece
	pieces []piece
	odd    []bool // by piece
}

// state is how far a text got. Its text is the shortest that gets there.
type state struct {
	text string
	last rune       // a rune like the last one, for what looks back; -1 at the beginning
	knot int        // in the tree; -1: the text has left it
	stem string     // the longest prefix that it is below, by what is certain so far
	sets [][]uint32 // by expression: where its automaton may be
	odd  bool       // a path that data planes may tidy
}

func (s *state) size() int {
	n := 0
	for _, set := range s.sets {
		n += len(set)
	}
	return n
}

// knot is a text in the tree of those that are named.
type knot struct {
	text string
	next map[rune]int
}

func growTree(t *texts) []knot {
	tree := []knot{{next: map[rune]int{}}}
	for _, of := range []map[string]bool{t.exact, t.stems} {
		for text := range of {
			at := 0
			for i, r := range text {
				next, known := tree[at].next[r]
				if !known {
					next = len(tree)
					tree = append(tree, knot{text[:i] + string(r), map[rune]int{}})
					tree[at].next[r] = next
				}
				at = next
			}
		}
	}
	return tree
}

// push queues a state that is new.
func (e *explorer) push(s state) {
	key := binary.AppendVarint(nil, int64(s.knot))
	key = binary.AppendVarint(key, int64(s.last))
	key = append(append(key, s.stem...), 0)
	if s.odd {
		key = append(key, 1)
	}
	for _, set := range s.sets {
		key = binary.AppendUvarint(key, uint64(len(set)))
		for _, pc := range set {
			key = binary.AppendUvarint(key, uint64(pc))
		}
	}
	if !e.seen[string(key)] {
		e.seen[string(key)] = true
		e.queue = append(e.queue, s)
	}
}

// end notes the piece of a text that ends here.
func (e *explorer) end(s *state) {
	if e.t.of == paths && s.text == "" || e.t.of == trimmed && s.last == ' ' {
		return
	}
	holds := make([]byte, len(e.progs))
	for i, p := range e.progs {
		if _, over := reach(p, s.sets[i], syntax.EmptyOpContext(s.last, -1)); over {
			holds[i] = 1
		}
	}
	at := place{stem: s.stem, holds: string(holds)}
	if s.knot >= 0 {
		switch text := e.tree[s.knot].text; {
		case e.t.exact[text]:
			at.exact, at.stem = true, text
		case e.t.stems[text]:
			at.stem = text
		}
	}
	switch known, found := e.found[at]; {
	case !found:
		e.found[at] = len(e.pieces)
		e.pieces, e.odd = append(e.pieces, piece{at, s.text}), append(e.odd, s.odd)
	case e.odd[known] && !s.odd: // what a data plane does not tidy tells more
		e.pieces[known].text, e.odd[known] = s.text, false
	}
}

// step goes on by one rune.
func (e *explorer) step(s *state, r rune) state {
	out := state{text: s.text + string(r), last: alike(r), knot: -1, stem: s.stem, sets: make([][]uint32, len(e.progs))}
	if s.knot >= 0 {
		if r == '/' && e.t.stems[e.tree[s.knot].text] {
			out.stem = e.tree[s.knot].text
		}
		if next, known := e.tree[s.knot].next[r]; known {
			out.knot = next
		}
	}
	out.odd = s.odd || e.t.of == paths && (r == '%' || r == '\\' || s.last == '/' && (r == '/' || r == '.'))
	context := syntax.EmptyOpContext(s.last, r)
	for i, p := range e.progs {
		insts, _ := reach(p, s.sets[i], context)
		for _, pc := range insts {
			if p.Inst[pc].MatchRune(r) {
				out.sets[i] = append(out.sets[i], p.Inst[pc].Out)
			}
		}
		slices.Sort(out.sets[i])
		out.sets[i] = slices.Compact(out.sets[i])
	}
	return out
}

// alike is a rune that looks the same to what looks back.
func alike(r rune) rune {
	switch {
	case r == '\n', r == ' ', r == '/':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return '.'
}

// reach are the instructions that wait for a rune, from where an automaton may be, and whether it may end, if what looks around sees this.
func reach(p *syntax.Prog, from []uint32, context syntax.EmptyOp) (insts []uint32, over bool) {
	seen := map[uint32]bool{}
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch i := &p.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(i.Out)
			walk(i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			walk(i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^context == 0 {
				walk(i.Out)
			}
		case syntax.InstMatch:
			over = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			insts = append(insts, pc)
		}
	}
	for _, pc := range from {
		walk(pc)
	}
	return insts, over
}

// runes are those with which a text may go on, one of each sort that nothing tells apart here, the plainest first.
func (e *explorer) runes(s *state) []rune {
	if e.t.of == paths && s.text == "" {
		return []rune{'/'}
	}
	cuts := []rune{'/', '/' + 1, ' ', ' ' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for i, p := range e.progs {
		insts, _ := reach(p, s.sets[i], ^syntax.EmptyOp(0))
		for _, pc := range insts {
			cuts = append(cuts, bounds(&p.Inst[pc])...)
		}
	}
	if s.knot >= 0 {
		for r := range e.tree[s.knot].next {
			cuts = append(cuts, r, r+1)
		}
	}
	for _, within := range e.t.of.ranges() {
		cuts = append(cuts, within[0], within[1]+1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []rune
	for i := range len(cuts) - 1 {
		if lo := cuts[i]; e.t.of.has(lo) && !(e.t.of == trimmed && s.text == "" && lo == ' ') {
			out = append(out, lo)
		}
	}
	slices.SortStableFunc(out, func(a, b rune) int { return plain(a) - plain(b) })
	return out
}

func plain(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return 0
	case r >= '0' && r <= '9':
		return 1
	case r < unicode.MaxASCII:
		return 2
	}
	return 3
}

// bounds are where the runes of an instruction begin, and where they have ended.
func bounds(i *syntax.Inst) []rune {
	var out []rune
	if len(i.Rune) == 1 {
		r := i.Rune[0]
		out = append(out, r, r+1)
		if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				out = append(out, f, f+1)
			}
		}
		return out
	}
	for j := 0; j+1 < len(i.Rune); j += 2 {
		out = append(out, i.Rune[j], i.Rune[j+1]+1)
	}
	return out
}

// ranges are the runes that a text may have, from and to.
func (a alphabet) ranges() [][2]rune {
	if a == paths {
		return [][2]rune{{'!', '"'}, {'$', '>'}, {'@', '~'}, {0x80, 0xd7ff}, {0xe000, unicode.MaxRune}}
	}
	return [][2]rune{{' ', '~'}, {0x80, 0xd7ff}, {0xe000, unicode.MaxRune}}
}

func (a alphabet) has(r rune) bool {
	return slices.ContainsFunc(a.ranges(), func(within [2]rune) bool { return within[0] <= r && r <= within[1] })
}

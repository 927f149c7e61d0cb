package space

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// Bounds of what is explored for the expressions of one part of a request; beyond it, what they
// tell apart is not known.
const (
	mostStates = 6000
	mostSteps  = 400_000
)

// exploreTexts walks over all texts at once, the shortest first: over the automata of the
// expressions, and the tree of the exact texts and prefixes. It finds a shortest text of each set;
// false if a bound was reached first.
func exploreTexts(t *textSplitter) ([]textSet, bool) {
	e := explorer{splitter: t, tree: buildTree(t), seen: map[string]bool{}, setIndex: map[textKey]int{}}
	for _, expr := range t.expressions {
		re, err := syntax.Parse(anchorExpression(expr), syntax.Perl)
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
	if t.stepsLeft != nil {
		most = min(most, *t.stepsLeft)
	}
	start := state{lastRune: -1, sets: make([][]uint32, len(e.progs))}
	for i, p := range e.progs {
		start.sets[i] = []uint32{uint32(p.Start)}
	}
	e.queueState(start)
	steps := 0
	defer func() {
		if t.stepsLeft != nil {
			*t.stepsLeft -= steps
		}
	}()
	for len(e.queue) > 0 {
		s := e.queue[0]
		e.queue = e.queue[1:]
		e.noteEnd(&s)
		for _, r := range e.nextRunes(&s) {
			if steps += 1 + s.countInstructions(); steps > most || len(e.seen) > mostStates {
				return e.sets, false
			}
			e.queueState(e.nextState(&s, r))
		}
	}
	t.sets = e.sets
	t.sortSets()
	return t.sets, true
}

type explorer struct {
	splitter  *textSplitter
	tree      []treeNode
	progs     []*syntax.Prog
	queue     []state
	seen      map[string]bool
	setIndex  map[textKey]int // by place: its piece
	sets      []textSet
	irregular []bool // by piece
}

// state is how far a text got. Its text is the shortest that gets there.
type state struct {
	text      string
	lastRune  rune       // a rune like the last one, for what looks back; -1 at the beginning
	node      int        // in the tree; -1: the text has left it
	prefix    string     // the longest prefix that it is below, by what is certain so far
	sets      [][]uint32 // by expression: where its automaton may be
	irregular bool       // a path that data planes may normalize
}

func (s *state) countInstructions() int {
	n := 0
	for _, set := range s.sets {
		n += len(set)
	}
	return n
}

// treeNode is a text in the tree of those that are named.
type treeNode struct {
	text string
	next map[rune]int
}

func buildTree(t *textSplitter) []treeNode {
	tree := []treeNode{{next: map[rune]int{}}}
	for _, of := range []map[string]bool{t.exact, t.prefixes} {
		for text := range of {
			at := 0
			for i, r := range text {
				next, known := tree[at].next[r]
				if !known {
					next = len(tree)
					tree = append(tree, treeNode{text[:i] + string(r), map[rune]int{}})
					tree[at].next[r] = next
				}
				at = next
			}
		}
	}
	return tree
}

// queueState queues a state that is new.
func (e *explorer) queueState(s state) {
	key := binary.AppendVarint(nil, int64(s.node))
	key = binary.AppendVarint(key, int64(s.lastRune))
	key = append(append(key, s.prefix...), 0)
	if s.irregular {
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

// noteEnd notes the set of a text that ends here.
func (e *explorer) noteEnd(s *state) {
	if e.splitter.alphabet == pathAlphabet && s.text == "" || e.splitter.alphabet == headerAlphabet &&
		s.lastRune == ' ' {
		return
	}
	holds := make([]byte, len(e.progs))
	for i, p := range e.progs {
		if _, over := followEmpty(p, s.sets[i], syntax.EmptyOpContext(s.lastRune, -1)); over {
			holds[i] = 1
		}
	}
	at := textKey{prefix: s.prefix, holds: string(holds)}
	if s.node >= 0 {
		switch text := e.tree[s.node].text; {
		case e.splitter.exact[text]:
			at.exact, at.prefix = true, text
		case e.splitter.prefixes[text]:
			at.prefix = text
		}
	}
	switch known, found := e.setIndex[at]; {
	case !found:
		e.setIndex[at] = len(e.sets)
		e.sets, e.irregular = append(e.sets, textSet{at, s.text}), append(e.irregular, s.irregular)
	case e.irregular[known] && !s.irregular: // a path that a data plane leaves as it is says more
		e.sets[known].text, e.irregular[known] = s.text, false
	}
}

// nextState returns the state after one more rune.
func (e *explorer) nextState(s *state, r rune) state {
	out := state{text: s.text + string(r), lastRune: runeClass(r), node: -1, prefix: s.prefix,
		sets: make([][]uint32, len(e.progs))}
	if s.node >= 0 {
		if r == '/' && e.splitter.prefixes[e.tree[s.node].text] {
			out.prefix = e.tree[s.node].text
		}
		if next, known := e.tree[s.node].next[r]; known {
			out.node = next
		}
	}
	out.irregular = s.irregular || e.splitter.alphabet == pathAlphabet && (r == '%' || r == '\\' ||
		s.lastRune == '/' && (r == '/' || r == '.'))
	context := syntax.EmptyOpContext(s.lastRune, r)
	for i, p := range e.progs {
		insts, _ := followEmpty(p, s.sets[i], context)
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

// runeClass returns a rune that looks the same to assertions such as ^ and \b.
func runeClass(r rune) rune {
	switch {
	case r == '\n', r == ' ', r == '/':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return '.'
}

// followEmpty returns the instructions that wait for a rune, from where an automaton may be, and
// whether it may end, in this context of assertions.
func followEmpty(p *syntax.Prog, from []uint32, context syntax.EmptyOp) (insts []uint32, over bool) {
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

// nextRunes returns the runes with which a text may go on, one of each sort that nothing tells
// apart here, the plainest first.
func (e *explorer) nextRunes(s *state) []rune {
	if e.splitter.alphabet == pathAlphabet && s.text == "" {
		return []rune{'/'}
	}
	cuts := []rune{'/', '/' + 1, ' ', ' ' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for i, p := range e.progs {
		insts, _ := followEmpty(p, s.sets[i], ^syntax.EmptyOp(0))
		for _, pc := range insts {
			cuts = append(cuts, runeBounds(&p.Inst[pc])...)
		}
	}
	if s.node >= 0 {
		for r := range e.tree[s.node].next {
			cuts = append(cuts, r, r+1)
		}
	}
	for _, within := range e.splitter.alphabet.runeRanges() {
		cuts = append(cuts, within[0], within[1]+1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []rune
	for i := range len(cuts) - 1 {
		if lo := cuts[i]; e.splitter.alphabet.hasRune(lo) && !(e.splitter.alphabet == headerAlphabet &&
			s.text == "" && lo == ' ') {
			out = append(out, lo)
		}
	}
	slices.SortStableFunc(out, func(a, b rune) int { return rankRune(a) - rankRune(b) })
	return out
}

func rankRune(r rune) int {
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

// runeBounds returns where the runes of an instruction begin, and where they have ended.
func runeBounds(i *syntax.Inst) []rune {
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

// runeRanges returns the runes that a text may have, from and to.
func (a alphabet) runeRanges() [][2]rune {
	if a == pathAlphabet {
		return [][2]rune{{'!', '"'}, {'$', '>'}, {'@', '~'}, {0x80, 0xd7ff}, {0xe000, unicode.MaxRune}}
	}
	return [][2]rune{{' ', '~'}, {0x80, 0xd7ff}, {0xe000, unicode.MaxRune}}
}

func (a alphabet) hasRune(r rune) bool {
	return slices.ContainsFunc(a.runeRanges(), func(within [2]rune) bool { return within[0] <= r && r <= within[1] })
}

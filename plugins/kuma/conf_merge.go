package kuma

import (
	"slices"
	"strings"
	"unicode"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// foldConfs merges confs, weakest first, as JSON merge patches: objects deep, everything else
// replaced by the stronger. Lists whose name starts with append are joined instead, wherever only
// objects lead to them.
func foldConfs(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var m confMerger
	for i := range s.Layers {
		for _, u := range listUnits(s.Layers[i], i) {
			m.addUnit(u)
		}
	}
	return m.Units, m.Effects
}

// listUnits are the units of a layer, with their source.
func listUnits(l merge.Layer, at int) []merge.Unit {
	var out []merge.Unit
	for _, b := range l.Blocks {
		for _, u := range b.Units {
			u.From = []merge.Source{{Layer: at, Block: b.Kind}}
			out = append(out, u)
		}
	}
	return out
}

// confMerger merges confs into an output.
type confMerger struct{ merge.Output }

// addUnit merges one unit of a stronger conf.
func (m *confMerger) addUnit(u merge.Unit) {
	if isJoinedList(u) {
		if i := slices.IndexFunc(m.Units, func(o merge.Unit) bool {
			return o.Path.String() == u.Path.String() &&
				isJoinedList(o)
		}); i >= 0 {
			m.joinLists(i, u)
			return
		}
	}
	if u.Value == nil { // a null is as if it were not there; the object around it is
		m.Note(u, merge.Dropped, merge.NoEffect, nil)
		m.addEnclosingObject(u)
		return
	}
	empty := isEmptyObject(u)
	kept := m.Units[:0:0]
	dropped := false
	for _, o := range m.Units {
		switch {
		case empty && isInObject(o, u.Path): // an object without fields changes nothing in one that is there
			dropped = true
			kept = append(kept, o)
		case isEmptyObject(o) && isAtOrBelow(u.Path, o.Path): // an object that gets its first field
			m.Note(o, merge.Replaced, merge.NoEffect, nil)
		case isAtOrBelow(o.Path, u.Path) || isAtOrBelow(u.Path, o.Path):
			m.Note(o, merge.Replaced, merge.MoreSpecificWins, u.From)
		default:
			kept = append(kept, o)
		}
	}
	m.Units = kept
	if dropped {
		m.Note(u, merge.Dropped, merge.NoEffect, nil)
		return
	}
	m.Note(u, merge.Taken, "", nil)
	m.Units = append(m.Units, u)
}

// addEnclosingObject adds the object that a null stands in, unless there is more of it than that.
func (m *confMerger) addEnclosingObject(null merge.Unit) {
	object := merge.Unit{Path: null.Path[:max(len(null.Path)-1, 0)], Value: map[string]any{}, From: null.From}
	if slices.ContainsFunc(m.Units, func(o merge.Unit) bool { return isInObject(o, object.Path) }) {
		return
	}
	quiet := confMerger{merge.Output{Units: m.Units}}
	quiet.addUnit(object)
	m.Units = quiet.Units
	for _, e := range quiet.Effects {
		if e.Action == merge.Replaced {
			m.Effects = append(m.Effects, e)
		}
	}
}

// joinLists puts the elements of a stronger list behind those that are there.
func (m *confMerger) joinLists(i int, u merge.Unit) {
	have, _ := merge.Unpack(m.Units[i].Value).([]any)
	more, _ := merge.Unpack(u.Value).([]any)
	if len(more) == 0 { // it adds nothing, and resets nothing
		m.Note(u, merge.Dropped, merge.NoEffect, nil)
		return
	}
	if len(have) == 0 { // likewise
		m.Note(m.Units[i], merge.Replaced, merge.NoEffect, nil)
		m.Note(u, merge.Taken, "", nil)
		m.Units[i].From = nil
	} else {
		m.Note(u, merge.Joined, "", m.Units[i].From)
	}
	m.Units[i].Value = slices.Concat(have, more)
	m.Units[i].From = slices.Concat(m.Units[i].From, u.From)
}

// isJoinedList reports whether a unit is a list that is joined: its name is append with an
// upper-case letter behind it.
func isJoinedList(u merge.Unit) bool {
	if len(u.Path) == 0 {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path[len(u.Path)-1].Name, "append")
	_, list := merge.Unpack(u.Value).([]any)
	return ok && list && rest != "" && unicode.IsUpper(rune(rest[0]))
}

// isEmptyObject reports whether a unit is an object without fields.
func isEmptyObject(u merge.Unit) bool {
	object, ok := merge.Unpack(u.Value).(map[string]any)
	return ok && len(object) == 0
}

// isInObject reports whether a unit says that there is an object at a path: it is a field of it, or
// the object itself, without fields.
func isInObject(u merge.Unit, at merge.Path) bool {
	return isAtOrBelow(u.Path, at) && (len(u.Path) > len(at) || isEmptyObject(u))
}

// isAtOrBelow reports whether a path is at or below another one.
func isAtOrBelow(p, above merge.Path) bool {
	return len(p) >= len(above) && slices.Equal(p[:len(above)], above)
}

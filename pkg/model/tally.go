package model

import (
	"strconv"
	"strings"
)

// NamesShown is how many names a Tally keeps.
const NamesShown = 5

// Tally counts things and keeps the names of the first few. The zero value has counted none.
type Tally struct {
	Count int
	Names []string
}

// Add counts a thing.
func (t *Tally) Add(name string) {
	if t.Count++; t.Count <= NamesShown {
		t.Names = append(t.Names, name)
	}
}

// String writes the names, and how many more there are.
func (t *Tally) String() string {
	s := strings.Join(t.Names, ", ")
	if more := t.Count - len(t.Names); more > 0 {
		s += " and " + strconv.Itoa(more) + " more"
	}
	return s
}

package admission

import "regexp"

// Fit is a piece of the schema of the kind's API, about the values at some paths. One of the fields that say what it asks for is set.
type Fit struct {
	At       [][]string // from the object's root; "*" is any key, and any entry of a list
	Type     string     // of JSON
	Fields   []string   // of objects: the API server drops all others
	Required []string   // of objects: fields that must be there
	Values   []string   // of texts: all that there are
	Pattern  *regexp.Regexp
	Refuses  bool // an object that does not fit cannot exist
}

// fitTree is pieces of a schema by their paths, so that an object is walked once for all of them.
type fitTree struct {
	here  []Fit
	below map[string]*fitTree
	any   *fitTree // at every key, and every entry of a list
}

func (t *fitTree) add(path []string, f Fit) {
	for _, key := range path {
		next := t.any
		if key != "*" {
			next = t.below[key]
		}
		if next == nil {
			next = &fitTree{}
			switch {
			case key == "*":
				t.any = next
			case t.below == nil:
				t.below = map[string]*fitTree{key: next}
			default:
				t.below[key] = next
			}
		}
		t = next
	}
	t.here = append(t.here, f)
}

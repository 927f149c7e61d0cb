package admission

import "regexp"

// SchemaRule is a piece of the schema of the kind's API, about the values at some paths. One of the
// fields that say what it asks for is set.
type SchemaRule struct {
	At       [][]string // from the object's root; "*" is any key, and any entry of a list
	Type     string     // of JSON
	Fields   []string   // of objects: the API server drops all others
	Required []string   // of objects: fields that must be there
	Values   []string   // of texts: all that there are
	Pattern  *regexp.Regexp
	Refuses  bool // an object that does not fit cannot exist
}

// schemaTree is pieces of a schema by their paths, so that an object is walked once for all of
// them.
type schemaTree struct {
	rules  []SchemaRule
	byKey  map[string]*schemaTree
	anyKey *schemaTree // at every key, and every entry of a list
}

func (t *schemaTree) addRule(path []string, f SchemaRule) {
	for _, key := range path {
		next := t.anyKey
		if key != "*" {
			next = t.byKey[key]
		}
		if next == nil {
			next = &schemaTree{}
			switch {
			case key == "*":
				t.anyKey = next
			case t.byKey == nil:
				t.byKey = map[string]*schemaTree{key: next}
			default:
				t.byKey[key] = next
			}
		}
		t = next
	}
	t.rules = append(t.rules, f)
}

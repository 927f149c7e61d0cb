package document

// reduceToTarget returns a target, whatever it is, less all that answers do not depend on: it tells
// of itself who it is, its labels, and what its sections are called.
func reduceToTarget(whole *tree) any {
	if whole == nil {
		return nil
	}
	out := selectKeys(whole, "apiVersion", "kind", "metadata")
	sections := &tree{}
	for _, field := range []string{"listeners", "rules", "ports"} {
		list, ok := asList(asMap(whole.valueAt("spec")).valueAt(field))
		if !ok {
			continue
		}
		named := &tree{isList: true}
		for _, s := range list {
			named.entries = append(named.entries, treeEntry{value: selectKeys(asMap(s.value), "name", "port")})
		}
		sections.entries = append(sections.entries, treeEntry{key: field, value: named})
	}
	if len(sections.entries) > 0 {
		out = out.withValue("spec", 0, sections)
	}
	return out
}

// selectKeys returns a map with some of its keys.
func selectKeys(m *tree, keys ...string) *tree {
	out := &tree{}
	for _, key := range keys {
		if e := m.findEntry(key); e != nil {
			out.entries = append(out.entries, *e)
		}
	}
	return out
}

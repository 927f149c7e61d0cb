package descriptor

import (
	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// specReader reads what policies of a kind say, and how they say it.
type specReader struct{ reader }

func (r specReader) fieldReaders() map[string]form.Field {
	s := &r.kind.Spec
	return map[string]form.Field{"content": r.readContent, "rules": r.readRules,
		"strategy": strategyReader(r).readStrategy, "defaults": r.readDefaults, "builtins": r.readBuiltins,
		"facets": r.readFacets, "notEvaluated": r.readUnevaluated, "summaries": r.readSummaries, "counts": r.readCounts,
		"parts":    r.readParts,
		"protects": protectionReader(r).readProtection, "namespacedRefs": r.Texts(&r.kind.NamespacedRefs),
		"normalize": funcObjectField(r.Reader, &s.Normalize, r.funcs.Normalize, "to normalise policies")}
}

func (r specReader) readContent(n *yaml.Node) {
	c := &r.kind.Content
	r.Object(n, map[string]form.Field{"at": r.Path(&c.At), "fields": r.Texts(&c.Fields),
		"condition": r.Text(&c.Condition),
		"unset":     r.Texts(&c.Unset), "claims": r.Flag(&c.KeepsEmpty), "oneSet": r.Flag(&c.OneSet),
		"nulls":   r.readNulls,
		"entries": r.readEntries,
		"reader":  funcObjectField(r.Reader, &c.Reader, r.funcs.Readers, "to read blocks"),
		"zero":    wordField(r.Reader, &c.Zero, []policy.ZeroValues{policy.ZeroSet, policy.ZeroUnset, policy.ZeroTail}),
		"blocks": func(n *yaml.Node) {
			var defaults, overrides []string
			r.Object(n, map[string]form.Field{"defaults": r.Path(&defaults), "overrides": r.Path(&overrides)})
			c.Blocks = map[merge.BlockKind][]string{}
			if defaults != nil {
				c.Blocks[merge.Defaults] = defaults
			}
			if overrides != nil {
				c.Blocks[merge.Overrides] = overrides
			}
		}})
}

// readNulls reads what an explicit null means.
func (r specReader) readNulls(n *yaml.Node) {
	var word string
	r.Word(&word, []string{"value", "strip", "delete"})(n)
	r.kind.Content.StripNulls, r.kind.Content.DeleteNulls = word == "strip", word == "delete"
}

func (r specReader) readDefaults(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var d policy.Default
		r.Object(e, map[string]form.Field{"path": r.Path(&d.Path), "value": func(n *yaml.Node) {
			if err := n.Decode(&d.Value); err != nil {
				r.Fail(n, "this is no value: %v", err)
			}
			d.Value = toBodyTypes(d.Value)
		}})
		if d.Path == nil || d.Value == nil {
			r.Fail(e, "a default needs \"path\" and \"value\"")
			return
		}
		r.kind.Defaults = append(r.kind.Defaults, d)
	})
}

// toBodyTypes returns what the YAML reader made of a value, in the types that objects hold.
func toBodyTypes(v any) any {
	switch t := v.(type) {
	case int:
		return int64(t)
	case []any:
		for i := range t {
			t[i] = toBodyTypes(t[i])
		}
	case map[string]any:
		for key := range t {
			t[key] = toBodyTypes(t[key])
		}
	}
	return v
}

func (r specReader) readBuiltins(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var b policy.Builtin
		r.Object(e, map[string]form.Field{"unit": r.Path(&b.Unit), "from": r.Path(&b.Path), "label": r.Text(&b.Label),
			"at": func(n *yaml.Node) { b.Role = r.readRole(n) },
			"level": wordField(r.Reader, &b.Level, []topology.Role{policy.InlineRule, policy.InlineBackend,
				policy.InlinePort}),
			"func": functionField(r.Reader, &b.Func, r.funcs.Builtins, "to read built-in settings")})
		if b.Role == "" || b.Unit == nil || b.Label == "" || (b.Path == nil) == (b.Func == nil) {
			r.Fail(e, "a built-in setting needs \"at\", \"unit\", \"label\", and \"from\" or \"func\"")
		}
		r.kind.Builtins = append(r.kind.Builtins, b)
	})
}

// readParts reads the sets of settings that a policy of the kind has.
func (r specReader) readParts(n *yaml.Node) {
	r.kind.Parts = nil
	r.List(n, func(e *yaml.Node) {
		var p policy.Part
		r.Object(e, map[string]form.Field{"name": r.Text(&p.Name), "each": r.Path(&p.List), "at": r.Path(&p.At),
			"settings": r.Path(&p.Settings), "unless": r.Path(&p.Unless), "as": r.Text(&p.PrintedName),
			"unlessSetting": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"setting": r.Text(&p.UnlessSetting[0]),
					"is": func(n *yaml.Node) { p.UnlessSetting[1] = n.Value }})
			},
			"normalize": funcObjectField(r.Reader, &p.Normalize, r.funcs.Typed, "to normalize settings")})
		if p.Name == "" || p.List != nil && p.At != nil || p.List == nil && p.At == nil && p.Settings == nil {
			r.Fail(e, "a part needs \"name\", and \"each\", \"at\" or \"settings\"")
		}
		r.kind.Parts = append(r.kind.Parts, p)
	})
}

// readFacets reads the parts of policies that have results of their own.
func (r specReader) readFacets(n *yaml.Node) {
	k := r.kind
	k.Facets = nil
	r.List(n, func(e *yaml.Node) {
		var f policy.Facet
		r.Object(e, map[string]form.Field{"only": func(n *yaml.Node) { f.Settings = r.readShape(n) },
			"when": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"field": r.Path(&f.Field), "is": r.Texts(&f.Values)})
				if f.Field == nil || f.Values == nil {
					r.Fail(n, "a condition needs \"field\" and \"is\"")
				}
			},
			"nowhere": r.Flag(&f.Nowhere),
			"for":     func(n *yaml.Node) { f.Facts = (&foldReader{reader: r.reader}).planFacts(n) }})
		if f.Settings == nil || (f.Facts == nil) != f.Nowhere {
			r.Fail(e, "a facet needs \"only\", and \"for\" or \"nowhere\"")
		}
		k.Facets = append(k.Facets, f)
		k.AskedFacts = addAskedFacts(k.AskedFacts, f.Facts)
	})
}

func (r specReader) readUnevaluated(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var u policy.UnevaluatedField
		r.Object(e, map[string]form.Field{"path": r.Path(&u.Path), "message": r.Text(&u.Message)})
		if u.Path == nil || u.Message == "" {
			r.Fail(e, "an entry of notEvaluated needs \"path\" and \"message\"")
		}
		r.kind.Unevaluated = append(r.kind.Unevaluated, u)
	})
}

// readCounts reads who shares the counters of limits.
func (r specReader) readCounts(n *yaml.Node) {
	r.kind.Counts = nil
	r.List(n, func(e *yaml.Node) {
		var c policy.Counting
		r.Object(e, map[string]form.Field{"at": r.Path(&c.At), "text": r.Text(&c.Text)})
		if c.At == nil || c.Text == "" {
			r.Fail(e, "what is counted needs \"at\" and \"text\"")
			return
		}
		r.kind.Counts = append(r.kind.Counts, c)
	})
}

// readSummaries reads how tables say values in a few words.
func (r specReader) readSummaries(n *yaml.Node) {
	r.kind.Summaries = nil
	r.List(n, func(e *yaml.Node) {
		var field []string
		var text string
		hasText := false
		r.Object(e, map[string]form.Field{"field": r.Path(&field), "text": func(n *yaml.Node) {
			hasText = true
			r.Text(&text)(n)
		}})
		s, ok := policy.NewSummary(field, text)
		if field == nil || !hasText || !ok {
			r.Fail(e, "a summary needs \"field\", and \"text\" in which {FIELD} stands for a value")
			return
		}
		r.kind.Summaries = append(r.kind.Summaries, s)
	})
}

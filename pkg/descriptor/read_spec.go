package descriptor

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// specReader reads what policies of a kind say, and how they say it.
type specReader struct{ reader }

func (r specReader) fields() map[string]form.Field {
	s := &r.kind.Spec
	return map[string]form.Field{"content": r.content, "rules": r.rules, "strategy": strategyReader(r).read, "defaults": r.defaults, "builtins": r.builtins,
		"facets": r.facets, "notEvaluated": r.notEvaluated, "summaries": r.summaries, "parts": r.parts, "protects": protectionReader(r).read,
		"normalize": named(r.Reader, &s.Normalize, r.funcs.Normalize, "to normalise policies")}
}

func (r specReader) content(n *yaml.Node) {
	c := &r.kind.Content
	r.Object(n, map[string]form.Field{"at": r.Path(&c.At), "fields": r.Texts(&c.Fields), "condition": r.Text(&c.Condition),
		"unset": r.Texts(&c.Unset), "claims": r.Flag(&c.Claims), "oneSet": r.Flag(&c.OneSet), "nulls": r.nulls,
		"entries": r.entries,
		"reader":  named(r.Reader, &c.Reader, r.funcs.Readers, "to read blocks"),
		"zero":    word(r.Reader, &c.Zero, []policy.ZeroValues{policy.ZeroSet, policy.ZeroUnset, policy.ZeroTail}),
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

// nulls reads what an explicit null means.
func (r specReader) nulls(n *yaml.Node) {
	var word string
	r.Word(&word, []string{"value", "strip", "delete"})(n)
	r.kind.Content.StripNulls, r.kind.Content.DeleteNulls = word == "strip", word == "delete"
}

func (r specReader) defaults(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var d policy.Default
		r.Object(e, map[string]form.Field{"path": r.Path(&d.Path), "value": func(n *yaml.Node) {
			if err := n.Decode(&d.Value); err != nil {
				r.Fail(n, "this is no value: %v", err)
			}
			d.Value = plain(d.Value)
		}})
		if d.Path == nil || d.Value == nil {
			r.Fail(e, "a default needs \"path\" and \"value\"")
			return
		}
		r.kind.Defaults = append(r.kind.Defaults, d)
	})
}

// plain is what the YAML reader made of a value, in the types that objects hold.
func plain(v any) any {
	switch t := v.(type) {
	case int:
		return int64(t)
	case []any:
		for i := range t {
			t[i] = plain(t[i])
		}
	case map[string]any:
		for key := range t {
			t[key] = plain(t[key])
		}
	}
	return v
}

func (r specReader) builtins(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var b policy.Builtin
		r.Object(e, map[string]form.Field{"unit": r.Path(&b.Unit), "from": r.Path(&b.From), "label": r.Text(&b.Label),
			"at":    func(n *yaml.Node) { b.At = r.role(n) },
			"level": word(r.Reader, &b.Level, []topology.Role{policy.InlineRule, policy.InlineBackend, policy.InlinePort}),
			"func":  function(r.Reader, &b.Func, r.funcs.Builtins, "to read built-in settings")})
		if b.At == "" || b.Unit == nil || b.Label == "" || (b.From == nil) == (b.Func == nil) {
			r.Fail(e, "a built-in setting needs \"at\", \"unit\", \"label\", and \"from\" or \"func\"")
		}
		r.kind.Builtins = append(r.kind.Builtins, b)
	})
}

// parts reads the sets of settings that a policy of the kind has.
func (r specReader) parts(n *yaml.Node) {
	r.kind.Parts = nil
	r.List(n, func(e *yaml.Node) {
		var p policy.Part
		r.Object(e, map[string]form.Field{"name": r.Text(&p.Name), "each": r.Path(&p.Each), "at": r.Path(&p.At), "settings": r.Path(&p.Settings), "unless": r.Path(&p.Unless), "as": r.Text(&p.As),
			"unlessSetting": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"setting": r.Text(&p.Not[0]), "is": func(n *yaml.Node) { p.Not[1] = n.Value }})
			},
			"normalize": named(r.Reader, &p.Normalize, r.funcs.Typed, "to normalize settings")})
		if p.Name == "" || p.Each != nil && p.At != nil || p.Each == nil && p.At == nil && p.Settings == nil {
			r.Fail(e, "a part needs \"name\", and \"each\", \"at\" or \"settings\"")
		}
		r.kind.Parts = append(r.kind.Parts, p)
	})
}

// facets reads the parts of policies that have results of their own.
func (r specReader) facets(n *yaml.Node) {
	k := r.kind
	k.Facets = nil
	r.List(n, func(e *yaml.Node) {
		var f policy.Facet
		r.Object(e, map[string]form.Field{"only": func(n *yaml.Node) { f.Only = r.shape(n) },
			"when": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"field": r.Path(&f.Field), "is": r.Texts(&f.Is)})
				if f.Field == nil || f.Is == nil {
					r.Fail(n, "a condition needs \"field\" and \"is\"")
				}
			},
			"nowhere": r.Flag(&f.Nowhere),
			"for":     func(n *yaml.Node) { f.For = (&foldReader{reader: r.reader}).planFacts(n) }})
		if f.Only == nil || (f.For == nil) != f.Nowhere {
			r.Fail(e, "a facet needs \"only\", and \"for\" or \"nowhere\"")
		}
		k.Facets = append(k.Facets, f)
		k.Asked = asked(k.Asked, f.For)
	})
}

func (r specReader) notEvaluated(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var u policy.Unjudged
		r.Object(e, map[string]form.Field{"path": r.Path(&u.Path), "message": r.Text(&u.Message)})
		if u.Path == nil || u.Message == "" {
			r.Fail(e, "an entry of notEvaluated needs \"path\" and \"message\"")
		}
		r.kind.Unjudged = append(r.kind.Unjudged, u)
	})
}

// summaries reads how tables say values in a few words.
func (r specReader) summaries(n *yaml.Node) {
	r.kind.Summaries = nil
	r.List(n, func(e *yaml.Node) {
		var field []string
		var text string
		r.Object(e, map[string]form.Field{"field": r.Path(&field), "text": r.Text(&text)})
		s, ok := policy.NewSummary(field, text)
		if field == nil || text == "" || !ok {
			r.Fail(e, "a summary needs \"field\", and \"text\" in which {FIELD} stands for a value")
			return
		}
		r.kind.Summaries = append(r.kind.Summaries, s)
	})
}

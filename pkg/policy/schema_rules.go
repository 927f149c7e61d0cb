package policy

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"go.yaml.in/yaml/v3"
)

// EntriesShape cuts at the keys of map fields; other fields are whole.
func EntriesShape() merge.Shape {
	return merge.Shape{{Path: merge.Path{{Form: merge.Any}, {Form: merge.Any}}}}
}

func (r *kindReader) rules(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		r.kind.Rules, r.kind.Cutting = r.shape(n), ""
		return
	}
	var word string
	r.word(&word, []string{"whole", "fields", "entries", "leaves"})(n)
	r.kind.Cutting = word
	switch word {
	case "whole":
		r.kind.Rules = merge.Shape{{}}
	case "fields":
		r.kind.Rules = merge.Shape{{Path: merge.Path{{Form: merge.Any}}}}
	case "entries":
		r.kind.Rules = EntriesShape()
	case "leaves":
		r.kind.Rules = merge.LeafShape()
	}
}

// shape reads a list of patterns.
func (r *kindReader) shape(n *yaml.Node) merge.Shape {
	var out merge.Shape
	r.list(n, func(e *yaml.Node) {
		p := merge.Pattern{As: merge.Entry}
		var order, list string
		if e.Kind == yaml.ScalarNode {
			p.Path = r.pattern(e)
		} else {
			r.object(e, map[string]field{"path": func(n *yaml.Node) { p.Path = r.pattern(n) }, "keys": r.texts(&p.Keys), "choice": r.text(&p.Choice), "filler": r.flag(&p.Filler),
				"order": r.word(&order, []string{"lower", "patch"}), "list": r.word(&list, []string{"replace", "append", "numbers"}), "combine": r.combine(&p)})
			p.Append, p.Numbers = list == "append", list == "numbers"
			if order == "patch" {
				p.Order = merge.PatchOrder
			}
			if p.Order == merge.PatchOrder && p.Keys == nil {
				r.fail(e, "only a keyed list has an order: \"keys\" is missing")
			}
		}
		if len(p.Path) > 1 && p.Path[0].Form == merge.Deep && !p.Append && p.Combine == nil {
			r.fail(e, "a pattern that begins with ** says how lists are joined or units are combined")
		}
		out = append(out, p)
	})
	return out
}

// combine reads the function that makes one of two units.
func (r *kindReader) combine(p *merge.Pattern) field {
	return func(n *yaml.Node) {
		var name string
		r.object(n, map[string]field{"func": r.text(&name)})
		if make, ok := r.funcs.Combine[name]; ok {
			p.Combine = make(r.kind.settings)
		} else {
			r.fail(n, "there is no function %q to combine settings", name)
		}
	}
}

// pattern reads a dotted path with * for any key, NAME* for keys that go on with a capital letter and, first or last, ** for any depth.
func (r *kindReader) pattern(n *yaml.Node) merge.Path {
	var s string
	r.text(&s)(n)
	var out merge.Path
	segments := strings.Split(s, ".")
	for i, name := range segments {
		seg := merge.Segment{Name: name}
		switch {
		case name == "*":
			seg = merge.Segment{Form: merge.Any}
		case name == "**" && (i == len(segments)-1 || i == 0):
			seg = merge.Segment{Form: merge.Deep}
		case len(name) > 1 && strings.Index(name, "*") == len(name)-1:
			seg = merge.Segment{Name: name[:len(name)-1], Form: merge.Prefix}
		case name == "" || strings.Contains(name, "*"):
			r.fail(n, "%q is no segment of a pattern", name)
		}
		out = append(out, seg)
	}
	return out
}

func (r *kindReader) strategy(n *yaml.Node) {
	rule := &r.kind.Strategy
	if n.Kind == yaml.ScalarNode {
		*rule = StrategyRule{Default: r.choice(n)}
		return
	}
	*rule = StrategyRule{Values: rule.Values, Read: rule.Read}
	r.object(n, map[string]field{
		"read": func(n *yaml.Node) {
			rule.Read = nil
			r.list(n, func(e *yaml.Node) { rule.Read = append(rule.Read, r.place(e)) })
		},
		"default": func(n *yaml.Node) { rule.Default = r.choice(n) },
		"func":    nil,
		"values":  func(n *yaml.Node) { rule.Values = r.choices(n) },
	})
}

// choices reads the strategies that texts stand for.
func (r *kindReader) choices(n *yaml.Node) map[string]Choice {
	out := map[string]Choice{}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "an object is expected here")
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, twice := out[n.Content[i].Value]; twice {
			r.fail(n.Content[i], "value %q is written twice", n.Content[i].Value)
		}
		out[n.Content[i].Value] = r.choice(n.Content[i+1])
	}
	return out
}

func (r *kindReader) choice(n *yaml.Node) Choice {
	var s string
	r.text(&s)(n)
	c, err := parseChoice(s)
	switch {
	case err != nil:
		r.fail(n, "%s", err)
	case c.Strategy.Wins == merge.Both:
		r.fail(n, "%q is not supported yet", s)
	}
	return c
}

func (r *kindReader) place(n *yaml.Node) Place {
	var s string
	r.text(&s)(n)
	root, rest, _ := strings.Cut(s, ".")
	switch {
	case rest == "":
		r.fail(n, "%q is no place of a strategy (block.FIELD, spec.FIELD)", s)
	case root == "block" || root == "spec":
		return Place{Block: root == "block", Path: strings.Split(rest, ".")}
	case slices.Contains([]string{"lower", "annotation", "setting"}, root):
		r.fail(n, "a strategy read at %q is not supported yet", root)
	default:
		r.fail(n, "%q is no place of a strategy (block.FIELD, spec.FIELD)", s)
	}
	return Place{Path: []string{s}}
}

package descriptor

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// entriesShape cuts at the keys of map fields; other fields are whole.
func entriesShape() merge.Shape {
	return merge.Shape{{Path: merge.Path{{Form: merge.Any}, {Form: merge.Any}}}}
}

// readRules reads where settings are cut.
func (r specReader) readRules(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		r.kind.Rules, r.kind.RuleWord = r.readShape(n), ""
		return
	}
	var word string
	r.Word(&word, []string{"whole", "fields", "entries", "leaves"})(n)
	r.kind.RuleWord = word
	switch word {
	case "whole":
		r.kind.Rules = merge.Shape{{}}
	case "fields":
		r.kind.Rules = merge.Shape{{Path: merge.Path{{Form: merge.Any}}}}
	case "entries":
		r.kind.Rules = entriesShape()
	case "leaves":
		r.kind.Rules = merge.LeafShape()
	}
}

// readShape reads a list of patterns.
func (r reader) readShape(n *yaml.Node) merge.Shape {
	var out merge.Shape
	r.List(n, func(e *yaml.Node) {
		p := merge.Pattern{As: merge.Entry}
		var order, list string
		if e.Kind == yaml.ScalarNode {
			p.Path = r.readPattern(e)
		} else {
			r.Object(e, map[string]form.Field{"path": func(n *yaml.Node) { p.Path = r.readPattern(n) },
				"keys": r.Texts(&p.Keys), "choice": r.Text(&p.Choice), "filler": r.Flag(&p.Filler),
				"order": r.Word(&order, []string{"lower", "patch", "keys"}), "list": r.Word(&list,
					[]string{"replace", "append", "numbers"}), "union": r.unionField(&p)})
			p.Append, p.Numbers = list == "append", list == "numbers"
			p.Order = map[string]merge.ListOrder{"patch": merge.PatchOrder, "keys": merge.KeyOrder}[order]
			if p.Order != merge.LowerOrder && p.Keys == nil {
				r.Fail(e, "only a keyed list has an order: \"keys\" is missing")
			}
		}
		if len(p.Path) > 1 && p.Path[0].Form == merge.Deep && !p.Append && p.Combine == nil {
			r.Fail(e, "a pattern that begins with ** says how lists are joined or units are combined")
		}
		out = append(out, p)
	})
	return out
}

// unionField reads whether values hold beside each other.
func (r reader) unionField(p *merge.Pattern) form.Field {
	return func(n *yaml.Node) {
		var yes bool
		if r.Flag(&yes)(n); yes {
			p.Combine = merge.UniteValues
		}
	}
}

// readPattern reads a dotted path with * for any key, NAME* for keys that go on with a capital
// letter and, first or last, ** for any depth.
func (r reader) readPattern(n *yaml.Node) merge.Path {
	var s string
	r.Text(&s)(n)
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
			r.Fail(n, "%q is no segment of a pattern", name)
		}
		out = append(out, seg)
	}
	return out
}

package descriptor

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// protectionReader reads which settings of a kind keep requests out, or bound them.
type protectionReader struct{ reader }

// readProtection reads a map from property to gates, or a list of settings of which nothing more is
// known than that they keep requests out.
func (r protectionReader) readProtection(n *yaml.Node) {
	r.kind.Protects = gate.Protection{}
	if n.Kind == yaml.SequenceNode {
		r.readUndescribed(n)
		return
	}
	fields := map[string]form.Field{"levels": func(n *yaml.Node) {
		var word string
		r.Word(&word, []string{"all", "nearest"})(n)
		r.kind.Protects.Nearest = word == "nearest"
	}, "missing": func(n *yaml.Node) {
		var word string
		r.Word(&word, []string{"fails", "passes"})(n)
		r.kind.Protects.MissingPasses = word == "passes"
	}, "inError": r.numberField(&r.kind.Protects.InError), "everywhere": r.remoteNameField(&r.kind.Protects.Everywhere,
		r.funcs.Gates, "to make gates")}
	for _, p := range gate.Properties() {
		fields[string(p)] = func(n *yaml.Node) {
			r.List(n, func(e *yaml.Node) { r.readRule(e, p) })
		}
	}
	// gates that answer, and establish no property
	fields["none"] = func(n *yaml.Node) { r.List(n, func(e *yaml.Node) { r.readRule(e, "") }) }
	r.Object(n, fields)
}

// readUndescribed reads settings that authenticate, authorize or deny, in a way that nobody
// described: "*" is every one, "!" before a setting says that there is no gate where it is set.
func (r protectionReader) readUndescribed(n *yaml.Node) {
	var unless []gate.Weakness
	var paths [][]string
	r.List(n, func(e *yaml.Node) {
		var path string
		r.Text(&path)(e)
		switch rest, not := strings.CutPrefix(path, "!"); {
		case not:
			unless = append(unless, gate.Weakness{Value: gate.Value{Path: strings.Split(rest, ".")},
				Code: gate.Disabled})
		case path == "*":
			paths = append(paths, nil)
		default:
			paths = append(paths, strings.Split(path, "."))
		}
	})
	for _, p := range []gate.Property{gate.Authentication, gate.Authorization} {
		for _, at := range paths {
			r.kind.Protects.Rules = append(r.kind.Protects.Rules, gate.Rule{Property: p, At: at, Unless: unless,
				Always: gate.NotRead})
		}
	}
}

func (r protectionReader) readRule(n *yaml.Node, p gate.Property) {
	g := gate.Rule{Property: p}
	fields := map[string]form.Field{"at": r.Path(&g.At), "method": func(n *yaml.Node) { r.readMethod(n, &g) },
		"any": r.Text(&g.Any),
		"onlyIf": func(n *yaml.Node) {
			r.eachPath(n, func(path []string, value *yaml.Node) {
				g.OnlyIf = append(g.OnlyIf, gate.Value{Path: path, Text: value.Value})
			})
		},
		"unless":   func(n *yaml.Node) { g.Unless = append(g.Unless, r.readWeaknesses(n, gate.Fails)...) },
		"depends":  func(n *yaml.Node) { g.Unless = append(g.Unless, r.readWeaknesses(n, gate.Depends)...) },
		"always":   func(n *yaml.Node) { g.Always = r.readCode(n, "") },
		"implicit": func(n *yaml.Node) { g.Implicit = r.readCode(n, "") },
		"constant": r.Word(&g.Constant, gate.Constants()), "answers": r.statusesField(&g.Answers),
		"missing": r.statusesField(&g.Missing),
		"reads":   r.Texts(&g.Reads), "order": r.numberField(&g.Order), "func": r.remoteNameField(&g.Func,
			r.funcs.Gates,
			"to complete gates"),
		"counter": func(n *yaml.Node) {
			g.Counter = &gate.Counter{}
			r.Object(n, map[string]form.Field{"limit": r.Text(&g.Counter.Limit), "per": r.Text(&g.Counter.Per),
				"key": r.Text(&g.Counter.Key),
				"scope": r.Word(&g.Counter.Scope, []string{"rule", "route", "host", "listener", "gateway",
					"backend", "policy"}),
				"replicas": r.Word(&g.Counter.Replicas, []string{"all", "each"})})
		},
	}
	r.Object(n, fields)
	r.kind.Protects.Rules = append(r.kind.Protects.Rules, g)
}

// readMethod reads how a request is authenticated: a word, or by the field that is set.
func (r protectionReader) readMethod(n *yaml.Node, g *gate.Rule) {
	if n.Kind != yaml.MappingNode {
		r.Word(&g.Method, gate.Methods())(n)
		return
	}
	g.Methods = map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var word string
		r.Word(&word, gate.Methods())(n.Content[i+1])
		g.Methods[n.Content[i].Value] = word
	}
}

// eachPath reads a map from paths.
func (r protectionReader) eachPath(n *yaml.Node, see func(path []string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "a map from settings is expected here")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		see(strings.Split(n.Content[i].Value, "."), n.Content[i+1])
	}
}

// readWeaknesses reads {path: CODE} and {path: {value: CODE}}.
func (r protectionReader) readWeaknesses(n *yaml.Node, of gate.Verdict) []gate.Weakness {
	var out []gate.Weakness
	r.eachPath(n, func(path []string, value *yaml.Node) {
		if value.Kind == yaml.ScalarNode {
			out = append(out, gate.Weakness{Value: gate.Value{Path: path}, Code: r.readCode(value, of)})
			return
		}
		if value.Kind != yaml.MappingNode {
			r.Fail(value, "a code, or a map from values to codes, is expected here")
			return
		}
		for i := 0; i+1 < len(value.Content); i += 2 {
			out = append(out, gate.Weakness{Value: gate.Value{Path: path, Text: value.Content[i].Value},
				Code: r.readCode(value.Content[i+1], of)})
		}
	})
	return out
}

// readCode reads a reason that goes with a verdict; "": any but that it holds.
func (r protectionReader) readCode(n *yaml.Node, of gate.Verdict) gate.Code {
	c := gate.Code(n.Value)
	if v := c.VerdictOf(); v == "" || v == gate.Holds || of != "" && v != of {
		r.Fail(n, "%q is not a reason that a gate has here", n.Value)
	}
	return c
}

// statusesField reads what gates answer: numbers, {at: PATH, default: NUMBER}, or "*".
func (r protectionReader) statusesField(into *[]gate.Status) form.Field {
	return func(n *yaml.Node) {
		*into = []gate.Status{}
		r.List(n, func(e *yaml.Node) {
			var s gate.Status
			switch {
			case e.Kind == yaml.MappingNode:
				r.Object(e, map[string]form.Field{"at": r.Path(&s.At), "default": r.numberField(&s.Number)})
			case e.Value == "*":
				s.Any = true
			default:
				r.numberField(&s.Number)(e)
			}
			*into = append(*into, s)
		})
	}
}

func (r protectionReader) numberField(into *int) form.Field {
	return func(n *yaml.Node) {
		i, err := strconv.Atoi(n.Value)
		if err != nil || i < 0 {
			r.Fail(n, "a number is expected here")
		}
		*into = i
	}
}

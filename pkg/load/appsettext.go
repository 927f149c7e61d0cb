package load

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	syntax "text/template/parse"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// writer fills values into the texts of an ApplicationSet: {{name}}, or Go templates.
type writer struct {
	goes    bool // Go templates
	missing string
	filled  *int // how many values were gone through
}

func newWriter(l *lead, filled *int) writer {
	w := writer{missing: "missingkey=default", filled: filled}
	w.goes, _ = model.Get(l.value, "spec", "goTemplate").(bool)
	for _, v := range l.list("spec", "goTemplateOptions") {
		if v == "missingkey=error" {
			w.missing = "missingkey=error"
		}
	}
	return w
}

// put gives a value its name.
func (w writer) put(set values, v any, at ...string) {
	if !w.goes {
		if m, ok := v.(map[string]any); ok {
			for key, inner := range m {
				w.put(set, inner, append(at[:len(at):len(at)], key)...)
			}
			return
		}
		set[strings.Join(at, ".")] = fmt.Sprint(v)
		return
	}
	m := map[string]any(set)
	for _, key := range at[:len(at)-1] {
		inner, ok := m[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			m[key] = inner
		}
		m = inner
	}
	m[at[len(at)-1]] = v
}

// path is what is said of a path: that of a folder, which ends in a slash, or of a file.
func (w writer) path(prefix, at string) values {
	dir, file := path.Split(at)
	dir = strings.TrimSuffix(dir, "/")
	segments := strings.Split(dir, "/")
	set := values{}
	under := func(name ...string) []string {
		if prefix != "" {
			name = append([]string{prefix}, name...)
		}
		return name
	}
	if w.goes {
		list := make([]any, len(segments))
		for i, s := range segments {
			list[i] = s
		}
		w.put(set, dir, under("path", "path")...)
		w.put(set, list, under("path", "segments")...)
	} else {
		w.put(set, dir, under("path")...)
		for i, s := range segments {
			w.put(set, s, under("path["+strconv.Itoa(i)+"]")...)
		}
	}
	w.put(set, path.Base(dir), under("path", "basename")...)
	w.put(set, normalized(path.Base(dir)), under("path", "basenameNormalized")...)
	if file != "" {
		w.put(set, file, under("path", "filename")...)
		w.put(set, normalized(file), under("path", "filenameNormalized")...)
	}
	return set
}

var (
	noName = regexp.MustCompile("[^-a-z0-9.]")
	tag    = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
)

// normalized is a text as a name in DNS.
func normalized(text string) string {
	text = noName.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 253)], "-.")
}

// takes is an error if so many more values are too many.
func (w writer) takes(n int) error {
	if *w.filled += n; *w.filled > maxFilled {
		return errFilled
	}
	return nil
}

// tree is a value with all texts in it filled in.
func (w writer) tree(v any, set values) (any, error) {
	if err := w.takes(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return w.text(v, set)
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			filled, err := w.tree(inner, set)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // so that of several mistakes the same one is told
			filled, err := w.tree(v[key], set)
			if err != nil {
				return nil, err
			}
			out[key] = filled
		}
		return out, nil
	}
	return v, nil
}

func (w writer) text(text string, set values) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if !w.goes {
		return tag.ReplaceAllStringFunc(text, func(tag string) string {
			if v, known := set[strings.TrimSpace(tag[2:len(tag)-2])]; known {
				return fmt.Sprint(v)
			}
			return tag
		}), nil
	}
	t, err := template.New("").Funcs(templateFunctions).Option(w.missing).Parse(text)
	if err == nil {
		err = bounded(t.Tree.Root)
	}
	out := &capped{left: maxValue}
	if err == nil {
		err = t.Execute(out, map[string]any(set))
	}
	if err != nil {
		return "", fmt.Errorf("its template %s is not filled in: %s", short(text), strings.TrimPrefix(firstLine(err.Error()), "template: "))
	}
	return out.String(), nil
}

func short(text string) string {
	const most = 60
	if r := []rune(firstLine(text)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return firstLine(text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// templateFunctions are those of templates beside the language's own, which Argo CD takes from Sprig or adds.
var templateFunctions = template.FuncMap{
	"normalize":  normalized,
	"lower":      strings.ToLower,
	"upper":      strings.ToUpper,
	"trim":       strings.TrimSpace,
	"trimPrefix": func(cut, text string) string { return strings.TrimPrefix(text, cut) },
	"trimSuffix": func(cut, text string) string { return strings.TrimSuffix(text, cut) },
	"replace": func(old, by, text string) (string, error) {
		if old == "" || len(text)+strings.Count(text, old)*len(by) > maxValue {
			return "", errors.New("it would be too long")
		}
		return strings.ReplaceAll(text, old, by), nil
	},
	"base":      path.Base,
	"dir":       path.Dir,
	"ext":       path.Ext,
	"contains":  func(part, text string) bool { return strings.Contains(text, part) },
	"hasPrefix": func(start, text string) bool { return strings.HasPrefix(text, start) },
	"hasSuffix": func(end, text string) bool { return strings.HasSuffix(text, end) },
	"regexReplaceAll": func(pattern, text, by string) (string, error) {
		re, err := regexp.Compile(pattern)
		if err != nil || (len(text)+1)*(len(by)*(len(text)+1)+1) > maxReplaced {
			return "", errors.New("it cannot be replaced")
		}
		return re.ReplaceAllString(text, by), nil
	},
	"splitList": func(at, text string) []string { return strings.Split(text, at) },
	"default": func(other any, given ...any) any {
		if len(given) == 0 || given[0] == nil || reflect.ValueOf(given[0]).IsZero() {
			return other
		}
		return given[0]
	},
}

// bounded refuses templates that may take long or write much: loops, templates that call each other, and functions that format.
func bounded(n syntax.Node) error {
	allowed := map[string]bool{"index": true, "eq": true, "ne": true, "and": true, "or": true, "not": true, "len": true, "lt": true, "le": true, "gt": true, "ge": true, "slice": true}
	var all []syntax.Node
	switch n := n.(type) {
	case nil:
	case *syntax.ListNode:
		if n != nil {
			all = n.Nodes
		}
	case *syntax.ActionNode:
		all = []syntax.Node{n.Pipe}
	case *syntax.PipeNode:
		for _, c := range n.Cmds {
			all = append(all, c.Args...)
		}
	case *syntax.IfNode:
		all = []syntax.Node{n.Pipe, n.List}
		if n.ElseList != nil {
			all = append(all, n.ElseList)
		}
	case *syntax.ChainNode:
		all = []syntax.Node{n.Node}
	case *syntax.IdentifierNode:
		if _, ours := templateFunctions[n.Ident]; !ours && !allowed[n.Ident] {
			return errors.New("it calls " + n.Ident)
		}
	case *syntax.TextNode, *syntax.FieldNode, *syntax.StringNode, *syntax.NumberNode, *syntax.BoolNode, *syntax.DotNode, *syntax.NilNode, *syntax.VariableNode, *syntax.CommentNode:
	default:
		return fmt.Errorf("it has %s", n)
	}
	for _, inner := range all {
		if err := bounded(inner); err != nil {
			return err
		}
	}
	return nil
}

package gitops

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

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// templateFiller fills values into the texts of an ApplicationSet: {{name}}, or Go templates.
type templateFiller struct {
	goTemplate bool // Go templates
	missingKey string
	valuesUsed *int // how many values were gone through
}

func newTemplateFiller(l *gitopsSource, filled *int) templateFiller {
	w := templateFiller{missingKey: "missingkey=default", valuesUsed: filled}
	w.goTemplate, _ = model.Get(l.value, "spec", "goTemplate").(bool)
	for _, v := range l.listAt("spec", "goTemplateOptions") {
		if v == "missingkey=error" {
			w.missingKey = "missingkey=error"
		}
	}
	return w
}

// setValue gives a value its name.
func (w templateFiller) setValue(set templateValues, v any, at ...string) {
	if !w.goTemplate {
		if m, ok := v.(map[string]any); ok {
			for key, inner := range m {
				w.setValue(set, inner, append(at[:len(at):len(at)], key)...)
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

// pathValues returns what is said of a path: that of a folder, which ends in a slash, or of a file.
func (w templateFiller) pathValues(prefix, at string) templateValues {
	dir, file := path.Split(at)
	dir = strings.TrimSuffix(dir, "/")
	segments := strings.Split(dir, "/")
	set := templateValues{}
	under := func(name ...string) []string {
		if prefix != "" {
			name = append([]string{prefix}, name...)
		}
		return name
	}
	if w.goTemplate {
		list := make([]any, len(segments))
		for i, s := range segments {
			list[i] = s
		}
		w.setValue(set, dir, under("path", "path")...)
		w.setValue(set, list, under("path", "segments")...)
	} else {
		w.setValue(set, dir, under("path")...)
		for i, s := range segments {
			w.setValue(set, s, under("path["+strconv.Itoa(i)+"]")...)
		}
	}
	w.setValue(set, path.Base(dir), under("path", "basename")...)
	w.setValue(set, normalizeName(path.Base(dir)), under("path", "basenameNormalized")...)
	if file != "" {
		w.setValue(set, file, under("path", "filename")...)
		w.setValue(set, normalizeName(file), under("path", "filenameNormalized")...)
	}
	return set
}

var (
	notInName   = regexp.MustCompile("[^-a-z0-9.]")
	placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
)

// normalizeName returns a text as a name in DNS.
func normalizeName(text string) string {
	text = notInName.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 253)], "-.")
}

// countValues returns an error if so many more values are too many.
func (w templateFiller) countValues(n int) error {
	if *w.valuesUsed += n; *w.valuesUsed > maxTemplateValues {
		return errTooManyValues
	}
	return nil
}

// fillTree returns a value with all texts in it filled in.
func (w templateFiller) fillTree(v any, set templateValues) (any, error) {
	if err := w.countValues(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return w.fillText(v, set)
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			filled, err := w.fillTree(inner, set)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // so that the same one of several mistakes is always reported
			filled, err := w.fillTree(v[key], set)
			if err != nil {
				return nil, err
			}
			out[key] = filled
		}
		return out, nil
	}
	return v, nil
}

func (w templateFiller) fillText(text string, set templateValues) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if !w.goTemplate {
		return placeholder.ReplaceAllStringFunc(text, func(tag string) string {
			if v, known := set[strings.TrimSpace(tag[2:len(tag)-2])]; known {
				return fmt.Sprint(v)
			}
			return tag
		}), nil
	}
	t, err := template.New("").Funcs(templateFunctions).Option(w.missingKey).Parse(text)
	if err == nil {
		err = checkTemplate(t.Tree.Root)
	}
	out := document.NewBoundedBuffer(maxVariableBytes)
	if err == nil {
		err = t.Execute(out, map[string]any(set))
	}
	if err != nil {
		return "", fmt.Errorf("its template %s is not filled in: %s", shortenText(text),
			strings.TrimPrefix(firstLine(err.Error()), "template: "))
	}
	return out.String(), nil
}

func shortenText(text string) string {
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

// templateFunctions are those of templates beside the language's own, which Argo CD takes from
// Sprig or adds.
var templateFunctions = template.FuncMap{
	"normalize":  normalizeName,
	"lower":      strings.ToLower,
	"upper":      strings.ToUpper,
	"trim":       strings.TrimSpace,
	"trimPrefix": func(cut, text string) string { return strings.TrimPrefix(text, cut) },
	"trimSuffix": func(cut, text string) string { return strings.TrimSuffix(text, cut) },
	"replace": func(old, by, text string) (string, error) {
		if old == "" || len(text)+strings.Count(text, old)*len(by) > maxVariableBytes {
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
		if err != nil || (len(text)+1)*(len(by)*(len(text)+1)+1) > maxReplacedBytes {
			return "", errors.New("it cannot be replaced")
		}
		return re.ReplaceAllString(text, by), nil
	},
	"hasKey": func(m map[string]any, key string) bool {
		_, there := m[key]
		return there
	},
	"get": func(m map[string]any, key string) any {
		if v, there := m[key]; there {
			return v
		}
		return ""
	},
	"omit": func(m map[string]any, keys ...string) map[string]any {
		out := maps.Clone(m)
		for _, key := range keys {
			delete(out, key)
		}
		return out
	},
	"dict":   func() map[string]any { return map[string]any{} },
	"dig":    digValue,
	"quote":  func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
	"squote": func(v any) string { return "'" + fmt.Sprint(v) + "'" },
	"toYaml": func(v any) (string, error) { return encodeYAML(v) },
	"indent": indentText,
	"nindent": func(n int, text string) (string, error) {
		text, err := indentText(n, text)
		return "\n" + text, err
	},
	"splitList": func(at, text string) []string { return strings.Split(text, at) },
	"default": func(other any, given ...any) any {
		if len(given) == 0 || given[0] == nil || reflect.ValueOf(given[0]).IsZero() {
			return other
		}
		return given[0]
	},
}

// digValue returns the value at a path of keys in a map, which comes last, or else the value before
// it.
func digValue(at ...any) (any, error) {
	if len(at) < 3 {
		return nil, errors.New("dig takes keys, a value and a map")
	}
	other, v := at[len(at)-2], at[len(at)-1]
	for _, key := range at[:len(at)-2] {
		m, isMap := v.(map[string]any)
		if set, isSet := v.(templateValues); isSet {
			m, isMap = set, true
		}
		inner, there := m[fmt.Sprint(key)]
		if !isMap || !there {
			return other, nil
		}
		v = inner
	}
	return v, nil
}

func encodeYAML(v any) (string, error) {
	text, err := yaml.Marshal(v)
	return strings.TrimSuffix(string(text), "\n"), err
}

// indentText puts n spaces in front of each line.
func indentText(n int, text string) (string, error) {
	if n < 0 || n*(strings.Count(text, "\n")+1)+len(text) > maxVariableBytes {
		return "", errors.New("it would be too long")
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
}

// checkTemplate refuses templates that may take long or write much: loops that write nothing,
// templates that call each other, and functions that format.
func checkTemplate(n syntax.Node) error {
	allowed := map[string]bool{"index": true, "eq": true, "ne": true, "and": true, "or": true, "not": true,
		"len": true, "lt": true, "le": true, "gt": true, "ge": true, "slice": true}
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
		all = listBranches(n.BranchNode)
	case *syntax.RangeNode:
		if !writesText(n.List) { // what each round writes counts
			return fmt.Errorf("it has %s", n)
		}
		all = listBranches(n.BranchNode)
	case *syntax.WithNode:
		all = listBranches(n.BranchNode)
	case *syntax.ChainNode:
		all = []syntax.Node{n.Node}
	case *syntax.IdentifierNode:
		if _, ours := templateFunctions[n.Ident]; !ours && !allowed[n.Ident] {
			return errors.New("it calls " + n.Ident)
		}
	case *syntax.TextNode, *syntax.FieldNode, *syntax.StringNode, *syntax.NumberNode, *syntax.BoolNode,
		*syntax.DotNode, *syntax.NilNode, *syntax.VariableNode, *syntax.CommentNode:
	default:
		return fmt.Errorf("it has %s", n)
	}
	for _, inner := range all {
		if err := checkTemplate(inner); err != nil {
			return err
		}
	}
	return nil
}

// writesText reports whether a list writes something each time.
func writesText(n *syntax.ListNode) bool {
	return slices.ContainsFunc(n.Nodes, func(inner syntax.Node) bool {
		text, isText := inner.(*syntax.TextNode)
		return isText && len(text.Text) > 0
	})
}

// listBranches lists what a branch of a template holds.
func listBranches(n syntax.BranchNode) []syntax.Node {
	all := []syntax.Node{n.Pipe, n.List}
	if n.ElseList != nil {
		all = append(all, n.ElseList)
	}
	return all
}

package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

// Advice says what to do about a policy that the kind's API refuses, or drops a field of; "" if there is nothing to say.
type Advice func(o *model.Object) string

// Fit is a piece of the schema of the kind's API, about the values at some paths. One of the fields that say what it asks for is set.
type Fit struct {
	At       [][]string // from the object's root; "*" is any key, and any entry of a list
	Type     string     // of JSON
	Fields   []string   // of objects: the API server drops all others
	Required []string   // of objects: fields that must be there
	Values   []string   // of texts: all that there are
	Pattern  *regexp.Regexp
	Refuses  bool // a policy that does not fit cannot exist and takes no part
}

// admission reads the validation that is repeated here: rules, and pieces of the schema.
func (r *kindReader) admission(n *yaml.Node) {
	r.kind.Admission, r.kind.Fits, r.kind.fits = nil, nil, fitTree{}
	r.list(n, func(e *yaml.Node) {
		var a Admission
		var f Fit
		var at []string
		var pattern string
		effect := "refuse"
		r.object(e, map[string]field{"rule": r.text(&a.Rule), "message": r.text(&a.Message), "effect": r.word(&effect, []string{"refuse", "warn"}),
			"at": r.texts(&at), "type": r.word(&f.Type, []string{"object", "array", "string", "boolean", "integer", "number"}), "fields": r.texts(&f.Fields), "required": r.texts(&f.Required),
			"values": r.texts(&f.Values), "pattern": r.text(&pattern)})
		for _, path := range at {
			f.At = append(f.At, strings.Split(path, "."))
		}
		a.Refuses, f.Refuses = effect == "refuse", effect == "refuse"
		if pattern != "" {
			var err error
			if f.Pattern, err = regexp.Compile(pattern); err != nil {
				r.fail(e, "the pattern %q is no regular expression", pattern)
			}
		}
		asks := 0
		for _, set := range []bool{f.Type != "", f.Fields != nil, f.Required != nil, f.Values != nil, f.Pattern != nil} {
			if set {
				asks++
			}
		}
		rule, fit := a.Rule != "" || a.Message != "", f.At != nil || asks > 0
		switch {
		case rule && !fit && a.Rule != "" && a.Message != "":
			r.kind.Admission = append(r.kind.Admission, a)
		case fit && !rule && f.At != nil && asks == 1:
			r.kind.Fits = append(r.kind.Fits, f)
			for _, path := range f.At {
				r.kind.fits.add(path, f)
			}
		default:
			r.fail(e, "a validation needs \"rule\" and \"message\", or \"at\" with one of \"type\", \"fields\", \"required\", \"values\" and \"pattern\"")
		}
	})
}

// nulls reads what an explicit null means.
func (r *kindReader) nulls(n *yaml.Node) {
	var word string
	r.word(&word, []string{"value", "strip", "delete"})(n)
	r.kind.Content.StripNulls, r.kind.Content.DeleteNulls = word == "strip", word == "delete"
}

// validate repeats the API's validation. It is the last step: what is validated has no nulls.
func (d *decoder) validate() {
	if len(d.kind.Admission)+len(d.kind.Fits) == 0 || d.conditions.Redacted {
		return
	}
	body := d.body
	if !d.kind.Content.StripNulls { // else they are gone
		body = stripped(body)
	}
	var few [8]string
	d.fitAll(&d.kind.fits, few[:0], body)
	d.admit(body)
	d.advise()
}

// advise adds what the vendor has to say to what the API refuses or drops.
func (d *decoder) advise() {
	if d.kind.Advice == nil {
		return
	}
	for i := range d.policy.Problems {
		if p := &d.policy.Problems[i]; p.Code == d.kind.refusal() || p.Code == model.RefusedByOperator || p.Code == model.PrunedByOperator {
			p.Hint = d.kind.Advice(d.policy.Object)
		}
	}
}

// fit judges the value at one path. It reports whether the value has the right type.
func (d *decoder) fit(f Fit, at []string, v model.Body) bool {
	switch {
	case f.Fields != nil:
		d.drops(f, at, v)
	case f.Required != nil && v.IsObject():
		for _, key := range f.Required {
			if v.Field(key).IsNull() {
				d.misfit(f, at, "%s.%s: Required value", pathText(at), key)
			}
		}
	case f.Values != nil && v.IsText() && !slices.Contains(f.Values, v.Text()):
		d.misfit(f, at, "%s: Unsupported value: %q: supported values: \"%s\"", pathText(at), v.Text(), strings.Join(f.Values, `", "`))
	case f.Pattern != nil && v.IsText() && !f.Pattern.MatchString(v.Text()):
		d.misfit(f, at, "%s: Invalid value: %q: %s in body should match '%s'", pathText(at), v.Text(), pathText(at), f.Pattern)
	case f.Type != "":
		if is := typeOf(v); is != f.Type && (f.Type != "number" || is != "integer") {
			path := pathText(at)
			d.misfit(f, at, "%s: Invalid value: %q: %s in body must be of type %s: %q", path, is, path, f.Type, is)
			return false
		}
	}
	return true
}

// misfit reports what the API server says of a value that it does not take.
func (d *decoder) misfit(f Fit, at []string, format string, args ...any) {
	d.problem(model.RefusedByOperator, at, "the API server refuses it: "+format, args...)
	d.policy.Refused = d.policy.Refused || f.Refuses && !d.kind.Tolerant
}

// drops reports the fields of an object that the API does not have.
func (d *decoder) drops(f Fit, at []string, v model.Body) {
	for key := range v.Fields {
		if slices.Contains(f.Fields, key) {
			continue
		}
		path := pathText(at)
		if !d.strange[path+"."+key] {
			d.problem(model.PrunedByOperator, append(slices.Clone(at), key), "the API server drops %s.%s, which it does not know", path, key)
		}
	}
}

// pathText is a path as the API server writes it: entries of lists in brackets.
func pathText(at []string) string { return strings.ReplaceAll(strings.Join(at, "."), ".[", "[") }

// unknown reports a field that nothing reads, unless the validation says that it is dropped.
func (d *decoder) unknown(at []string, key, of string) {
	path := strings.Join(at, ".")
	dropped := slices.ContainsFunc(d.kind.Fits, func(f Fit) bool {
		return f.Fields != nil && slices.ContainsFunc(f.At, func(p []string) bool { return slices.Equal(p, at) })
	})
	if dropped && !d.kind.Tolerant {
		return
	}
	if d.strange == nil {
		d.strange = map[string]bool{}
	}
	d.strange[path+"."+key] = true
	d.problem(model.UnknownBlockField, append(slices.Clone(at), key), "%s.%s is no field of %s: kept out of the rules", path, key, of)
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

// fitAll judges v, which stands at a path, and what is in it.
func (d *decoder) fitAll(t *fitTree, at []string, v model.Body) {
	for _, f := range t.here {
		if !d.fit(f, at, v) {
			return // what is in a value of another type is not what the schema speaks of
		}
	}
	if t.any == nil && t.below == nil {
		return
	}
	for key, inner := range v.Fields {
		if next := t.below[key]; next != nil {
			d.fitAll(next, append(at, key), inner)
		}
		if t.any != nil {
			d.fitAll(t.any, append(at, key), inner)
		}
	}
	if t.any == nil {
		return
	}
	for i, inner := range v.Items {
		d.fitAll(t.any, append(at, fmt.Sprintf("[%d]", i)), inner)
	}
}

// typeOf is the JSON type of a value.
func typeOf(b model.Body) string {
	switch {
	case b.IsObject():
		return "object"
	case b.IsList():
		return "array"
	}
	switch b.Value().(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	}
	return "null"
}

// stripped is v without the nulls that are fields of objects: the API server takes them out before it validates. What has none is not
// copied.
func stripped(v model.Body) model.Body {
	if !hasNull(v) {
		return v
	}
	return model.Pack(withoutNulls(v.Value()), nil)
}

func withoutNulls(v any) any {
	switch t := v.(type) {
	case map[string]any:
		maps.DeleteFunc(t, func(_ string, below any) bool { return below == nil })
		for key := range t {
			t[key] = withoutNulls(t[key])
		}
	case []any:
		for i := range t {
			t[i] = withoutNulls(t[i])
		}
	}
	return v
}

// hasNull reports whether an object within v has a field that is null.
func hasNull(v model.Body) bool {
	for _, below := range v.Fields {
		if below.IsNull() || hasNull(below) {
			return true
		}
	}
	for _, entry := range v.Items {
		if hasNull(entry) {
			return true
		}
	}
	return false
}

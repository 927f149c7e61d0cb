package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// The ways in which two versions of a schema read one object differently.
const (
	schemaRefused = "Refused" // the second refuses what the first takes
	schemaTaken   = "Taken"   // the second takes what the first refuses
	schemaValue   = "Value"   // the second drops a field, or has another default
)

// SchemaChange is an object, or a field of one, that the API server keeps otherwise with the second
// versions of the vendors' schemas.
type SchemaChange struct {
	Ref     model.Ref    `json:"ref"`               // the object
	Origin  model.Origin `json:"origin"`            // its document
	Change  string       `json:"change"`            // Refused, Taken, Value
	Path    string       `json:"path,omitempty"`    // of the field: dotted, from the object's root
	Before  any          `json:"before"`            // its value; null where it has none
	After   any          `json:"after"`             // null where it has none
	Reasons []string     `json:"reasons,omitempty"` // why the object is refused, in the words of the API server
}

// compareSchemas lists what becomes of the objects of one input by two versions of schemas.
func compareSchemas(before, after *model.Snapshot) []SchemaChange {
	out := []SchemaChange{}
	for _, o := range before.Objects {
		other := after.Get(o.Ref)
		switch {
		case after.IsRefused(o.Ref):
			out = append(out, SchemaChange{Ref: o.Ref, Origin: o.Origin, Change: schemaRefused,
				Reasons: refusalReasons(after, o.Ref)})
		case other != nil && (o.Written != nil || other.Written != nil):
			out = appendValueChanges(out, o, o.Body.Get("spec"), other.Body.Get("spec"), "spec")
		}
	}
	for _, o := range after.Objects {
		if before.IsRefused(o.Ref) {
			out = append(out, SchemaChange{Ref: o.Ref, Origin: o.Origin, Change: schemaTaken,
				Reasons: refusalReasons(before, o.Ref)})
		}
	}
	slices.SortStableFunc(out, func(a, b SchemaChange) int {
		return cmp.Or(cmp.Compare(schemaChangeRank(a.Change), schemaChangeRank(b.Change)), a.Ref.Compare(b.Ref),
			cmp.Compare(a.Path, b.Path))
	})
	return out
}

func schemaChangeRank(change string) int {
	return slices.Index([]string{schemaRefused, schemaValue, schemaTaken}, change)
}

// refusalReasons lists what the API server says against an object.
func refusalReasons(in *model.Snapshot, ref model.Ref) []string {
	var out []string
	for _, p := range in.Problems {
		if p.Ref != nil && *p.Ref == ref && (p.Code == model.SchemaViolation || p.Code == model.UnknownField ||
			p.Code == model.InvalidObject && p.Severity == model.Error) {
			out = append(out, p.Message)
		}
	}
	return out
}

// appendValueChanges adds the fields that two readings of an object have different values for.
func appendValueChanges(out []SchemaChange, o *model.Object, before, after any, path string) []SchemaChange {
	a, isObject := before.(map[string]any)
	b, both := after.(map[string]any)
	if isObject && both {
		keys := map[string]bool{}
		for key := range a {
			keys[key] = true
		}
		for key := range b {
			keys[key] = true
		}
		for key := range keys {
			out = appendValueChanges(out, o, a[key], b[key], path+"."+key)
		}
		return out
	}
	c, isList := before.([]any)
	d, both := after.([]any)
	if isList && both && len(c) == len(d) {
		for i := range c {
			out = appendValueChanges(out, o, c[i], d[i], path+"["+strconv.Itoa(i)+"]")
		}
		return out
	}
	if reflect.DeepEqual(before, after) {
		return out
	}
	return append(out, SchemaChange{Ref: o.Ref, Origin: o.Origin, Change: schemaValue, Path: path, Before: before,
		After: after})
}

// schemaBlock lists what the second versions of schemas read otherwise.
func (d *EffectivePolicyDiff) schemaBlock(o view.TableOptions) view.Block {
	b := view.Block{Columns: []view.Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: view.ShortCount},
		{Name: "OBJECT", Rank: 6, MinWidth: 14}, {Name: "CHANGE", MinWidth: 7}, {Name: "FIELD OR REASON", Rank: 5,
			MinWidth: 18}, {Name: "BEFORE", Rank: 3, MinWidth: 10}, {Name: "AFTER", Rank: 4, MinWidth: 10}}}
	for i := range d.Schemas {
		c := &d.Schemas[i]
		field, before, after := c.Path, "", ""
		if c.Change == schemaValue {
			before, after = valueOrNone(c.Before, o), valueOrNone(c.After, o)
		} else {
			field = strings.Join(c.Reasons, "; ")
		}
		tone := view.Plain
		if c.Change == schemaRefused {
			tone = view.Bad
		}
		row := []view.Cell{}
		for _, text := range []string{c.Ref.Namespace, strings.ToLower(c.Ref.Kind) + "/" + c.Ref.Name, c.Change, field,
			before, after} {
			row = append(row, view.Cell{Text: view.OrDash(text), Tone: tone})
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

func valueOrNone(v any, o view.TableOptions) string {
	if v == nil {
		return "none"
	}
	return view.ValueText(v, 40)
}

// schemaSentence counts what the second versions of schemas read otherwise.
func (d *EffectivePolicyDiff) schemaSentence() []string {
	if d.Schemas == nil {
		return nil
	}
	refused, objects := 0, map[model.Ref]bool{}
	for i := range d.Schemas {
		if d.Schemas[i].Change == schemaRefused {
			refused++
		} else {
			objects[d.Schemas[i].Ref] = true
		}
	}
	if len(d.Schemas) == 0 {
		return []string{"Both versions take every object as it is."}
	}
	return []string{fmt.Sprintf("The second version refuses %s and reads %s differently.", objectsOrNothing(refused),
		objectsOrNothing(len(objects)))}
}

func objectsOrNothing(n int) string {
	if n == 0 {
		return "nothing"
	}
	return view.FormatCount(n, "object")
}

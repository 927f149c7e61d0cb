package render

import (
	"bufio"
	"iter"
	"reflect"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// findItemsField is the field of an answer that is the list of its items, and -1 for an answer that
// has none. Only the type matters.
func findItemsField(v any) int {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return -1
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("json") == "items" && f.Type.Kind() == reflect.Slice {
			return i
		}
	}
	return -1
}

// iterateItems yields the items by reference: they are large.
func iterateItems(items reflect.Value) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range items.Len() {
			if !yield(items.Index(i).Addr().Interface()) {
				return
			}
		}
	}
}

// itemsOf returns the items of an answer, and the answer that has what is beside them.
func itemsOf(v any) (rest any, items iter.Seq[any], ok bool) {
	if s, ok := v.(*view.EffectivePolicyStream); ok {
		return s.Head, s.EachItem, true
	}
	field := findItemsField(v)
	if field < 0 {
		return nil, nil, false
	}
	return v, iterateItems(reflect.Indirect(reflect.ValueOf(v)).Field(field)), true
}

// splitItems separates the items of an answer for writers that do not want them in memory twice:
// head is the answer with an empty list.
func splitItems(v any) (head any, items iter.Seq[any], ok bool) {
	rest, items, ok := itemsOf(v)
	if !ok || rest != v {
		return rest, items, ok
	}
	whole := reflect.Indirect(reflect.ValueOf(v))
	copied := reflect.New(whole.Type())
	copied.Elem().Set(whole)
	list := copied.Elem().Field(findItemsField(v))
	list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	return copied.Interface(), items, true
}

// writeNDJSON writes an answer as lines of JSON: first all of it but its items, then a line for each of these. Every line says of which answer
// about which cluster it is.
func writeNDJSON(w *bufio.Writer, v any, of Stamp) error {
	head := newJSONItems("", true)
	head.lead = of.jsonMembers()
	first, items, listed := itemsOf(v)
	if !listed {
		return head.writeLine(w, v)
	}
	head.skip = []string{`"items"`}
	if err := head.writeLine(w, first); err != nil {
		return err
	}
	lead := of.itemMembers(v)
	return eachItemText(items, func() *jsonItems {
		item := newJSONItems("", true)
		item.lead = lead
		return item
	}, func(text []byte) {
		_, _ = w.Write(text)
		_ = w.WriteByte('\n')
	})
}

package render

import (
	"bufio"
	"iter"
	"reflect"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
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

// splitItems separates the items of an answer for writers that do not want them in memory twice:
// head is the answer with an empty list.
func splitItems(v any) (head any, items iter.Seq[any], ok bool) {
	if s, ok := v.(*effective.PolicyStream); ok {
		return s.Head, s.EachItem, true
	}
	field := findItemsField(v)
	if field < 0 {
		return nil, nil, false
	}
	whole := reflect.Indirect(reflect.ValueOf(v))
	copied := reflect.New(whole.Type())
	copied.Elem().Set(whole)
	list := copied.Elem().Field(field)
	list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	return copied.Interface(), iterateItems(whole.Field(field)), true
}

// writeNDJSON writes an answer as lines of JSON: first all of it but its items, then a line for
// each of these. Every line says of which answer about which cluster it is.
func writeNDJSON(w *bufio.Writer, v any, of Stamp) error {
	line := newPlainJSONText()
	line.lead = of.jsonMembers()
	first, items, listed := splitItems(v)
	if listed {
		line.skip = []string{`"items"`}
	} else {
		first = v
	}
	text, err := line.encode(first)
	if err != nil {
		return err
	}
	_, _ = w.Write(text)
	if !listed {
		return nil
	}
	line.lead, line.skip = of.itemMembers(v), nil
	for item := range items {
		if text, err = line.encode(item); err != nil {
			return err
		}
		_, _ = w.Write(text)
	}
	return nil
}

package render

import (
	"iter"
	"runtime"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// How many items are laid out at a time, and from how many on it is worth to do so side by side.
const (
	laidOutAtATime = 256
	worthSplitting = 64
)

// itemTexts lays out items in portions, part by part: one jsonItems for each processor.
type itemTexts struct {
	parts []itemPart
}

// itemPart are the items of a portion that follow each other.
type itemPart struct {
	items *jsonItems
	err   error
}

// eachItemText hands out the text of each item, in order. A text is valid until the next one.
func eachItemText(items iter.Seq[any], newItems func() *jsonItems, see func([]byte)) error {
	t := &itemTexts{parts: []itemPart{{items: newItems()}}}
	portion := make([]any, 0, worthSplitting)
	for v := range items {
		if portion = append(portion, v); len(portion) < laidOutAtATime {
			continue
		}
		for len(t.parts) < runtime.GOMAXPROCS(0) {
			t.parts = append(t.parts, itemPart{items: newItems()})
		}
		if err := t.layOutPortion(portion, see); err != nil {
			return err
		}
		clear(portion)
		portion = portion[:0]
	}
	return t.layOutPortion(portion, see)
}

// layOutPortion lays out a portion.
func (t *itemTexts) layOutPortion(portion []any, see func([]byte)) error {
	parts := t.parts
	if len(portion) < worthSplitting {
		parts = parts[:1]
	}
	model.Parallel(len(parts), 1, func(i int) {
		parts[i].layOutItems(portion[len(portion)*i/len(parts) : len(portion)*(i+1)/len(parts)])
	})
	for i := range parts {
		if parts[i].err != nil {
			return parts[i].err
		}
		for text := range parts[i].items.eachText {
			see(text)
		}
	}
	return nil
}

func (p *itemPart) layOutItems(items []any) {
	p.items.clearItems()
	p.err = nil
	for _, v := range items {
		if p.err = p.items.addItem(v); p.err != nil {
			return
		}
	}
}

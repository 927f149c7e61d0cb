package load

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameGenerated gives the objects whose names the API server makes names to show them by: what
// generateName says and a star, which no name in a cluster has, and a number from the second on, in
// the order of their places. Until then they are called as generateName says.
func nameGenerated(outcomes []document.Result, all []*model.Object) {
	var generated []*model.Object
	for _, out := range outcomes {
		generated = append(generated, out.Generated...)
	}
	if len(generated) == 0 {
		return
	}
	slices.SortStableFunc(generated, func(a, b *model.Object) int {
		return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
	})
	texts := collectTextsWithStar(all)
	var last model.Ref
	number, name := 0, ""
	for _, o := range generated {
		if number++; o.Ref != last {
			last, number, name = o.Ref, 1, findUnusedName(o.Ref.Name, texts)
		}
		if o.Ref.Name = name; number > 1 {
			o.Ref.Name += strconv.Itoa(number)
		}
	}
}

// findUnusedName returns a text with stars behind it that stands in none of texts: nothing can
// refer to it.
func findUnusedName(text string, texts map[string]bool) string {
	for {
		text += "*"
		used := false
		for other := range texts {
			used = used || strings.Contains(other, text)
		}
		if !used {
			return text
		}
	}
}

// collectTextsWithStar returns the names of objects, and the texts in them, that have a star.
func collectTextsWithStar(objects []*model.Object) map[string]bool {
	found := map[string]bool{}
	see := func(text string) {
		if strings.Contains(text, "*") {
			found[text] = true
		}
	}
	var walk func(v model.Body)
	walk = func(v model.Body) {
		see(v.Text())
		for key, inner := range v.Fields {
			see(key)
			walk(inner)
		}
		for _, inner := range v.Items {
			walk(inner)
		}
	}
	for _, o := range objects {
		see(o.Ref.Name)
		walk(o.Body)
	}
	return found
}

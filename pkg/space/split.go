package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// splitPaths splits the requests to a host by path.
func (w *walker) splitPaths(d draft) {
	k, asked := partKey{of: request.AspectPath}, w.scope.pathTests()
	apart := slices.Concat(asked, testsOfPaths(w.scope.ExtraPaths), d.extraTests(k, w.scope.ExtraTests))
	t := w.newSplitter(pathAlphabet, append(testsOfPart(d.competitors, k), apart...))
	if !t.splitTexts() {
		why := "the regular expressions on paths tell apart more than can be followed"
		d = d.withoutExpressions(k, why)
		if t = w.newSplitter(pathAlphabet, append(testsOfPart(d.competitors, k), apart...)); !t.splitTexts() {
			w.emitUnknown(d, why)
			return
		}
	}
	by := indexByPath(d.competitors)
	for _, p := range t.sets {
		if len(asked) > 0 &&
			!slices.ContainsFunc(asked, func(test request.Test) bool { return t.isTestMet(&test, &p) }) {
			continue
		}
		one := d
		one.competitors, one.classesLeft = by.findCompetitors(t, p.text, d.competitors), new(int)
		one.competitors = slices.DeleteFunc(one.competitors,
			func(r competitor) bool { return !p.canBeginWith(r.pathStart) })
		*one.classesLeft = mostClasses
		if w.splitRest(one.withPart(part{partKey: k, splitter: t, set: p})); w.done {
			return
		}
	}
}

// newSplitter returns a splitter of the values of a part that follows expressions as far as the
// walk still may.
func (w *walker) newSplitter(of alphabet, tests []request.Test) *textSplitter {
	t := newTextSplitter(of, tests)
	if w.scope.Steps > 0 {
		t.stepsLeft = &w.stepsLeft
	}
	return t
}

// pathIndex finds the rivals that may hold for a path, by their places.
type pathIndex struct {
	always        []int
	exact, prefix map[string][]int
}

func indexByPath(rivals []competitor) pathIndex {
	out := pathIndex{exact: map[string][]int{}, prefix: map[string][]int{}}
	for i, r := range rivals {
		switch {
		case len(r.tests) == 0 || r.tests[0].Aspect != request.AspectPath || r.tests[0].Form == request.Expression:
			out.always = append(out.always, i)
		case r.tests[0].Form == request.Exact:
			out.exact[r.tests[0].Value] = append(out.exact[r.tests[0].Value], i)
		default:
			out.prefix[r.tests[0].Value] = append(out.prefix[r.tests[0].Value], i)
		}
	}
	return out
}

func (x pathIndex) findCompetitors(t *textSplitter, path string, rivals []competitor) []competitor {
	found := append(slices.Clone(x.always), x.exact[path]...)
	t.eachPrefix(path, func(stem string) { found = append(found, x.prefix[stem]...) })
	slices.Sort(found)
	out := make([]competitor, len(found))
	for i, at := range found {
		out[i] = rivals[at]
	}
	return out
}

// withoutExpressions returns a draft in which expressions ask nothing of a part: whether they hold
// is open.
func (d draft) withoutExpressions(k partKey, why string) draft {
	d.competitors = slices.Clone(d.competitors)
	for i := range d.competitors {
		r := &d.competitors[i]
		at := slices.IndexFunc(r.tests, func(t request.Test) bool {
			return partKeyOf(&t) == k &&
				t.Form == request.Expression
		})
		if at < 0 {
			continue
		}
		if k.of == request.AspectPath {
			r.pathStart = literalPrefix(r.tests[at].Value)
		}
		r.tests, r.uncertain, r.doubt = slices.Delete(slices.Clone(r.tests), at, at+1), true, why
	}
	return d
}

// splitCalls splits gRPC requests to a host: by what is asked about, then as all others.
func (w *walker) splitCalls(d draft) {
	asked, known := w.scope.callTests()
	byPath := func(t request.Test) bool {
		return t.Aspect != request.AspectService && t.Aspect != request.AspectCall && t.Aspect != request.AspectHeader
	}
	switch {
	case slices.ContainsFunc(d.competitors, func(r competitor) bool { return slices.ContainsFunc(r.tests, byPath) }):
		w.emitUnknown(d, "listeners with HTTPRoutes and such with GRPCRoutes share the gRPC requests")
	case !known:
		w.emitUnknown(d, "gRPC requests are not held against path patterns with a * in the middle")
	case len(w.scope.Paths) == 0 || asked == nil && slices.Contains(w.scope.Paths, "/**"):
		w.splitRest(w.fillCall(d))
	default:
		for _, tests := range asked {
			one := d
			for _, test := range tests {
				k := partKeyOf(&test)
				t := newTextSplitter(valueAlphabet, append(testsOfPart(one.competitors, k), test))
				one = one.withPart(part{partKey: k, splitter: t, set: textSet{t.keyOf(test.Value), test.Value}})
			}
			if w.splitRest(w.fillCall(one)); w.done {
				return
			}
		}
	}
}

// fillCall sets a service and a method in a gRPC request where no rule asks for one.
func (w *walker) fillCall(d draft) draft {
	for _, k := range []partKey{{of: request.AspectService}, {of: request.AspectCall}} {
		if slices.ContainsFunc(d.class.parts, func(p part) bool { return p.partKey == k }) ||
			len(testsOfPart(d.competitors, k)) > 0 {
			continue
		}
		d = d.withPart(part{partKey: k, splitter: newTextSplitter(valueAlphabet, nil), set: textSet{text: "x"},
			matchesAll: true})
	}
	return d
}

// splitRest splits what is left by the parts that the best competitors test.
func (w *walker) splitRest(d draft) {
	if !w.competition.MayDiffer(d.class.Entry) { // else the order is not known, and all may win
		d.competitors = filterCompetitors(d.competitors)
	}
	at := slices.IndexFunc(d.competitors, func(r competitor) bool { return len(r.tests) > 0 })
	next, more := d.nextExtraPart(w.scope.ExtraTests)
	switch {
	case at < 0 && !w.hasOpenMethods(&d) && !more:
		w.emitClass(d)
		return
	case at < 0 && more && *d.classesLeft > 0:
		w.splitByPart(d, next)
		return
	case at < 0 && !more:
		w.splitByPart(d, partKey{of: request.AspectMethod})
		return
	case *d.classesLeft <= 0:
		w.emitUnknown(d, "the matches on headers and query parameters tell apart more than can be followed")
		return
	}
	w.splitByPart(d, partKeyOf(&d.competitors[at].tests[0]))
}

// hasOpenMethods reports whether methods have to be told apart because only some are asked about.
func (w *walker) hasOpenMethods(d *draft) bool {
	return len(w.scope.Methods) > 0 && d.class.protocol == request.HTTP &&
		!slices.ContainsFunc(d.class.parts, func(p part) bool { return p.of == request.AspectMethod })
}

// splitByPart splits a draft by one part.
func (w *walker) splitByPart(d draft, k partKey) {
	tests := append(testsOfPart(d.competitors, k), d.extraTests(k, w.scope.ExtraTests)...)
	of := valueAlphabet
	switch k.of {
	case request.AspectHeader:
		of = headerAlphabet
	case request.AspectMethod:
		for _, m := range w.scope.Methods {
			tests = append(tests, request.Test{Aspect: k.of, Value: m})
		}
	}
	t := w.newSplitter(of, tests)
	if !t.splitTexts() {
		w.splitRest(d.withoutExpressions(k, "the regular expressions on "+
			aspectNames[k.of]+" "+k.name+" tell apart more than can be followed"))
		return
	}
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		if w.splitRest(d.withPart(part{partKey: k, splitter: t, absent: true})); w.done {
			return
		}
	}
	for _, p := range t.sets {
		if k.of == request.AspectMethod {
			if !w.scope.isMethodAsked(&p) {
				continue
			}
			p = chooseMethod(t, p)
		}
		if w.splitRest(d.withPart(part{partKey: k, splitter: t, set: p})); w.done {
			return
		}
	}
}

// chooseMethod lets a real method stand for the methods that nobody names.
func chooseMethod(t *textSplitter, p textSet) textSet {
	if p.exact {
		return p
	}
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "X"} {
		if !t.exact[m] {
			p.text = m
			break
		}
	}
	return p
}

// filterCompetitors returns the competitors that may still win: none that comes after one that is
// certain to hold.
func filterCompetitors(rivals []competitor) []competitor {
	for i := range rivals {
		if len(rivals[i].tests) > 0 || rivals[i].uncertain || rivals[i].ExpressionUnknown {
			continue
		}
		n := i + 1
		for n < len(rivals) && rivals[i].Compare(rivals[n].Competitor) == 0 {
			n++
		}
		return rivals[:n]
	}
	return rivals
}

// emitUnknown hands on a class that is not told apart further.
func (w *walker) emitUnknown(d draft, why string) {
	d.class.Unknown = why
	w.emitClass(d)
}

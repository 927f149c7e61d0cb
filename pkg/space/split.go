package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// paths splits the requests to a host by path.
func (w *walker) paths(d draft) {
	k, asked := key{of: request.AspectPath}, w.scope.pathTests()
	apart := slices.Concat(asked, pathTests(w.scope.ApartPaths), d.apartTests(k, w.scope.Apart))
	t := w.texts(paths, append(testsOf(d.rivals, k), apart...))
	if !t.split() {
		why := "the regular expressions on paths tell apart more than can be followed"
		d = d.without(k, w.m.Unanchored(), why)
		if t = w.texts(paths, append(testsOf(d.rivals, k), apart...)); !t.split() {
			w.unknown(d, why)
			return
		}
	}
	by := byPath(d.rivals)
	for _, p := range t.pieces {
		if len(asked) > 0 && !slices.ContainsFunc(asked, func(test request.Test) bool { return t.holds(&test, &p) }) {
			continue
		}
		one := d
		one.rivals, one.left = by.at(t, p.text, d.rivals), new(int)
		one.rivals = slices.DeleteFunc(one.rivals, func(r rival) bool { return !p.mayBegin(r.lead) })
		*one.left = mostLeaves
		if w.rest(one.with(part{key: k, texts: t, piece: p})); w.done {
			return
		}
	}
}

// texts are those of a part, followed as far as the walk still may.
func (w *walker) texts(of alphabet, tests []request.Test) *texts {
	t := newTexts(of, tests, w.m.Unanchored())
	if w.scope.Steps > 0 {
		t.steps = &w.left
	}
	return t
}

// pathIndex finds the rivals that may hold for a path, by their places.
type pathIndex struct {
	always        []int
	exact, prefix map[string][]int
}

func byPath(rivals []rival) pathIndex {
	out := pathIndex{exact: map[string][]int{}, prefix: map[string][]int{}}
	for i, r := range rivals {
		switch {
		case len(r.tests) == 0 || r.tests[0].Of != request.AspectPath || r.tests[0].Form == request.Expression:
			out.always = append(out.always, i)
		case r.tests[0].Form == request.Exact:
			out.exact[r.tests[0].Value] = append(out.exact[r.tests[0].Value], i)
		default:
			out.prefix[r.tests[0].Value] = append(out.prefix[r.tests[0].Value], i)
		}
	}
	return out
}

func (x pathIndex) at(t *texts, path string, rivals []rival) []rival {
	found := append(slices.Clone(x.always), x.exact[path]...)
	t.above(path, func(stem string) { found = append(found, x.prefix[stem]...) })
	slices.Sort(found)
	out := make([]rival, len(found))
	for i, at := range found {
		out[i] = rivals[at]
	}
	return out
}

// without is a draft in which nothing is asked of a part by expressions: whether they hold is open.
func (d draft) without(k key, loose bool, why string) draft {
	d.rivals = slices.Clone(d.rivals)
	for i := range d.rivals {
		r := &d.rivals[i]
		at := slices.IndexFunc(r.tests, func(t request.Test) bool { return keyOf(&t) == k && t.Form == request.Expression })
		if at < 0 {
			continue
		}
		if k.of == request.AspectPath && !loose {
			r.lead = lead(r.tests[at].Value)
		}
		r.tests, r.open, r.doubt = slices.Delete(slices.Clone(r.tests), at, at+1), true, why
	}
	return d
}

// calls splits gRPC requests to a host: by what is asked about, then as all others.
func (w *walker) calls(d draft) {
	asked, known := w.scope.callTests()
	byPath := func(t request.Test) bool {
		return t.Of != request.AspectService && t.Of != request.AspectCall && t.Of != request.AspectHeader
	}
	switch {
	case slices.ContainsFunc(d.rivals, func(r rival) bool { return slices.ContainsFunc(r.tests, byPath) }):
		w.unknown(d, "listeners with HTTPRoutes and such with GRPCRoutes share the gRPC requests")
	case !known:
		w.unknown(d, "gRPC requests are not held against path patterns with a * in the middle")
	case len(w.scope.Paths) == 0 || asked == nil && slices.Contains(w.scope.Paths, "/**"):
		w.rest(w.named(d))
	default:
		for _, tests := range asked {
			one := d
			for _, test := range tests {
				k := keyOf(&test)
				t := newTexts(values, append(testsOf(one.rivals, k), test), w.m.Unanchored())
				one = one.with(part{key: k, texts: t, piece: piece{t.at(test.Value), test.Value}})
			}
			if w.rest(w.named(one)); w.done {
				return
			}
		}
	}
}

// named gives a gRPC request a service and a method where no rule asks for one.
func (w *walker) named(d draft) draft {
	for _, k := range []key{{of: request.AspectService}, {of: request.AspectCall}} {
		if slices.ContainsFunc(d.class.parts, func(p part) bool { return p.key == k }) || len(testsOf(d.rivals, k)) > 0 {
			continue
		}
		d = d.with(part{key: k, texts: newTexts(values, nil, false), piece: piece{text: "x"}, whole: true})
	}
	return d
}

// rest splits what is left by the parts that the best rivals look at.
func (w *walker) rest(d draft) {
	d.rivals = competing(d.rivals)
	at := slices.IndexFunc(d.rivals, func(r rival) bool { return len(r.tests) > 0 })
	next, more := d.nextApart(w.scope.Apart)
	switch {
	case at < 0 && !w.methods(&d) && !more:
		w.emit(d)
		return
	case at < 0 && more && *d.left > 0:
		w.by(d, next)
		return
	case at < 0 && !more:
		w.by(d, key{of: request.AspectMethod})
		return
	case *d.left <= 0:
		w.unknown(d, "the matches on headers and query parameters tell apart more than can be followed")
		return
	}
	w.by(d, keyOf(&d.rivals[at].tests[0]))
}

// methods reports whether methods have to be told apart because only some are asked about.
func (w *walker) methods(d *draft) bool {
	return len(w.scope.Methods) > 0 && d.class.protocol == request.HTTP &&
		!slices.ContainsFunc(d.class.parts, func(p part) bool { return p.of == request.AspectMethod })
}

// by splits a draft by one part.
func (w *walker) by(d draft, k key) {
	tests := append(testsOf(d.rivals, k), d.apartTests(k, w.scope.Apart)...)
	of := values
	switch k.of {
	case request.AspectHeader:
		of = trimmed
	case request.AspectMethod:
		for _, m := range w.scope.Methods {
			tests = append(tests, request.Test{Of: k.of, Value: m})
		}
	}
	t := w.texts(of, tests)
	if !t.split() {
		w.rest(d.without(k, w.m.Unanchored(), "the regular expressions on "+aspects[k.of]+" "+k.name+" tell apart more than can be followed"))
		return
	}
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		if w.rest(d.with(part{key: k, texts: t, absent: true})); w.done {
			return
		}
	}
	for _, p := range t.pieces {
		if k.of == request.AspectMethod {
			if !w.scope.takesMethod(&p) {
				continue
			}
			p = anotherMethod(t, p)
		}
		if w.rest(d.with(part{key: k, texts: t, piece: p})); w.done {
			return
		}
	}
}

// anotherMethod stands for methods that nobody names by one that there is.
func anotherMethod(t *texts, p piece) piece {
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

// competing are the rivals that may still win: none that comes after one that is certain to hold.
func competing(rivals []rival) []rival {
	for i := range rivals {
		if len(rivals[i].tests) > 0 || rivals[i].open || rivals[i].Vague {
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

// unknown hands on what is not told apart.
func (w *walker) unknown(d draft, why string) {
	d.class.Unknown = why
	w.emit(d)
}

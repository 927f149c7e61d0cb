package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// EachTestResult calls see with one request for each way in which requests may pass some tests and
// fail the others, each like a given one but for what is tested. It is false if there are more than
// can be followed; then it calls see for none.
func EachTestResult(tests []request.Test, like request.Request, see func(request.Request)) bool {
	var keys []partKey
	by := map[partKey][]request.Test{}
	for i := range tests {
		k := partKeyOf(&tests[i])
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], tests[i])
	}
	all, n := make([][]part, len(keys)), 1
	for i, k := range keys {
		all[i] = splitPart(k, by[k])
		if n *= len(all[i]); n == 0 || n > mostClasses {
			return false
		}
	}
	var choose func(i int, r request.Request)
	choose = func(i int, r request.Request) {
		if i == len(all) {
			see(r)
			return
		}
		for j := range all[i] {
			one := r
			one.Headers, one.Query = slices.Clone(r.Headers), slices.Clone(r.Query)
			all[i][j].applyTo(&one)
			choose(i+1, one)
		}
	}
	choose(0, like)
	return true
}

// splitPart returns the sets of texts of one part of requests that tests tell apart; none if there
// are too many.
func splitPart(k partKey, tests []request.Test) []part {
	of := valueAlphabet
	switch k.of {
	case request.AspectPath:
		of = pathAlphabet
	case request.AspectHeader:
		of = headerAlphabet
	}
	t := newTextSplitter(of, tests)
	if !t.splitTexts() {
		return nil
	}
	var out []part
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		out = append(out, part{partKey: k, splitter: t, absent: true})
	}
	for _, p := range t.sets {
		if k.of == request.AspectMethod {
			p = chooseMethod(t, p)
		}
		out = append(out, part{partKey: k, splitter: t, set: p})
	}
	return out
}

package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Told calls see with one request for each way in which requests may pass some tests and fail the
// others, each like a given one but for what is tested. It is false if there are more than can be
// followed; then nothing was seen.
func Told(tests []request.Test, like request.Request, see func(request.Request)) bool {
	var keys []key
	by := map[key][]request.Test{}
	for i := range tests {
		k := keyOf(&tests[i])
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], tests[i])
	}
	all, n := make([][]part, len(keys)), 1
	for i, k := range keys {
		all[i] = partsOf(k, by[k])
		if n *= len(all[i]); n == 0 || n > mostLeaves {
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
			all[i][j].put(&one)
			choose(i+1, one)
		}
	}
	choose(0, like)
	return true
}

// partsOf are the pieces of one part of requests that tests tell apart; none if there are too many.
func partsOf(k key, tests []request.Test) []part {
	of := values
	switch k.of {
	case request.AspectPath:
		of = paths
	case request.AspectHeader:
		of = trimmed
	}
	t := newTexts(of, tests, false)
	if !t.split() {
		return nil
	}
	var out []part
	if k.of == request.AspectHeader || k.of == request.AspectQuery {
		out = append(out, part{key: k, texts: t, absent: true})
	}
	for _, p := range t.pieces {
		if k.of == request.AspectMethod {
			p = anotherMethod(t, p)
		}
		out = append(out, part{key: k, texts: t, piece: p})
	}
	return out
}

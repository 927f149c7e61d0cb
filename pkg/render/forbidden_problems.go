package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// mergeForbidden makes one problem of all lists that are forbidden in one place: each of them is a
// problem for programs, and a line too many for people.
func mergeForbidden(problems []model.Problem) []model.Problem {
	var out []model.Problem
	at := map[string]int{} // by what is alike
	lists := map[int][]string{}
	for _, p := range problems {
		list, where, found := parseForbidden(p)
		if !found {
			out = append(out, p)
			continue
		}
		i, known := at[where]
		if !known {
			i = len(out)
			at[where] = i
			out = append(out, p)
		}
		lists[i] = append(lists[i], list)
	}
	for i, names := range lists {
		if len(names) == 1 {
			continue
		}
		_, where, _ := parseForbidden(out[i])
		out[i].Ref = nil
		out[i].Message = fmt.Sprintf("cannot list %d kinds%s: %s", len(names), where,
			strings.Join(slices.Compact(names), ", "))
		where, _, _ = strings.Cut(where, " (forbidden)")
		out[i].Hint = fmt.Sprintf("ask for: list on these kinds%s (docs/rbac.yaml)", where)
	}
	return out
}

// parseForbidden returns what a Forbidden problem says cannot be listed, and the rest of its
// message: where, and that it is forbidden.
func parseForbidden(p model.Problem) (list, where string, ok bool) {
	rest, ok := strings.CutPrefix(p.Message, "cannot list ")
	if !ok || p.Code != model.Forbidden {
		return "", "", false
	}
	list, where, _ = strings.Cut(rest, " ")
	return list, " " + where, true
}

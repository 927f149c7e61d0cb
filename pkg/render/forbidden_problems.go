package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Forbidden is what the input tells of the objects that are forbidden, so that they fit into a
// line.
type Forbidden struct {
	// Named returns the forbidden objects of a namespace that what was read names, and whether
	// nothing was read there.
	Named func(namespace string) (objects []string, nothingRead bool)
	Hint  string // what to do about them
}

// maxForbiddenNames is how many kinds, and how many objects of a namespace, are named; of more their
// number is told.
const maxForbiddenNames = 3

// summarizeForbidden makes one problem of all lists that are forbidden: each of them is a problem
// for programs, and a line too many for people.
func summarizeForbidden(problems []model.Problem, o Forbidden) []model.Problem {
	var out []model.Problem
	at := -1
	var places []forbiddenPlace
	for _, p := range problems {
		list, _, found := parseForbidden(p)
		if !found {
			out = append(out, p)
			continue
		}
		if at < 0 {
			at = len(out)
			out = append(out, model.Problem{Severity: p.Severity, Code: model.Forbidden, Hint: o.Hint})
		}
		i := slices.IndexFunc(places, func(f forbiddenPlace) bool { return f.isPlaceOf(p) })
		if i < 0 {
			i = len(places)
			places = append(places, forbiddenPlace{namespace: p.Ref.Namespace,
				others: strings.Contains(p.Message, allNamespaces)})
		}
		name, _, _ := strings.Cut(list, ".")
		places[i].kinds = append(places[i].kinds, name)
	}
	if at < 0 {
		return problems
	}
	if first := slices.IndexFunc(problems, isForbiddenList); o.Hint == "" && len(out) == len(problems) {
		out[at].Hint = problems[first].Hint // of the only one
	}
	var whole, parts, beside []string
	for _, f := range places {
		switch text, isWhole := f.describePlace(o); {
		case isWhole:
			whole = append(whole, text)
		case f.namespace != "":
			parts = append(parts, text)
		default:
			beside = append(beside, text)
		}
	}
	out[at].Message = "you cannot read " + joinParts(slices.Concat(whole, parts, beside))
	return out
}

// allNamespaces tells a list of all namespaces, some of which can be read.
const allNamespaces = " in all namespaces"

// forbiddenPlace is a namespace, or "" for the whole cluster, with the kinds that cannot be listed
// there.
type forbiddenPlace struct {
	namespace string
	others    bool // all namespaces but those that were read
	kinds     []string
}

func (f *forbiddenPlace) isPlaceOf(p model.Problem) bool {
	return f.namespace == p.Ref.Namespace && f.others == strings.Contains(p.Message, allNamespaces)
}

// describePlace says what cannot be read, and whether that is a namespace as a whole.
func (f *forbiddenPlace) describePlace(o Forbidden) (text string, whole bool) {
	slices.Sort(f.kinds)
	f.kinds = slices.Compact(f.kinds)
	text = view.FormatCount(len(f.kinds), "kind")
	if len(f.kinds) <= maxForbiddenNames {
		text = view.JoinWithAnd(f.kinds)
	}
	switch {
	case f.others:
		return text + " in other namespaces", false
	case f.namespace == "" && len(f.kinds) > maxForbiddenNames:
		return fmt.Sprintf("%d cluster-scoped kinds", len(f.kinds)), false
	case f.namespace == "":
		return text, false
	}
	var objects []string
	if o.Named != nil {
		objects, whole = o.Named(f.namespace)
	}
	whole = whole && len(f.kinds) > maxForbiddenNames
	if whole {
		text = "namespace " + f.namespace
	} else {
		text += " in namespace " + f.namespace
	}
	if n := len(objects); n > maxForbiddenNames {
		objects = append(objects[:maxForbiddenNames:maxForbiddenNames], fmt.Sprintf("%d more", n-maxForbiddenNames))
	}
	switch {
	case len(objects) > 0 && whole:
		text += " (" + view.JoinWithAnd(objects) + " and the policies there)"
	case len(objects) > 0:
		text += " (" + view.JoinWithAnd(objects) + ")"
	}
	return text, whole
}

// joinParts joins parts of a sentence, which may have an "and" themselves.
func joinParts(parts []string) string {
	last := len(parts) - 1
	if last > 0 {
		parts[last] = "and " + parts[last]
	}
	return strings.Join(parts, ", ")
}

// mergeForbidden makes one problem of all lists that are forbidden in one place, with all their
// names.
func mergeForbidden(problems []model.Problem) []model.Problem {
	var out []model.Problem
	at := map[string]int{} // by what is alike
	lists := map[int][]string{}
	for _, p := range problems {
		list, where, found := parseForbidden(p)
		if !found || p.Code != model.Forbidden {
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
		_, how, _ := strings.Cut(out[i].Hint, " (")
		out[i].Ref = nil
		out[i].Message = fmt.Sprintf("cannot list %d kinds%s: %s", len(names), where,
			strings.Join(slices.Compact(names), ", "))
		where, _, _ = strings.Cut(where, " (forbidden)")
		if out[i].Hint = "ask for: list on these kinds" + where; how != "" {
			out[i].Hint += " (" + how
		}
	}
	return out
}

// isForbiddenList reports whether a problem is that of a list that is forbidden.
func isForbiddenList(p model.Problem) bool {
	_, _, found := parseForbidden(p)
	return found
}

// parseForbidden returns what a problem says cannot be listed, and the rest of its message: where,
// and that it is forbidden.
func parseForbidden(p model.Problem) (list, where string, ok bool) {
	rest, ok := strings.CutPrefix(p.Message, "cannot list ")
	if !ok || !p.IsForbiddenList() {
		return "", "", false
	}
	list, where, _ = strings.Cut(rest, " ")
	return list, " " + where, true
}

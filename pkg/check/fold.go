package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// cause is what findings may have in common.
type cause struct {
	missing   *model.Ref // what is named and is not there
	rule      string     // the route rule that the message begins with
	ofSeveral string     // what the message says of several rules
}

// listing is a message about several places, of which some are named.
type listing struct {
	what   string // the message without their names and their number
	before string // the message up to the names
	names  []string
	after  string
}

// maxNamed is how many places a message names.
const maxNamed = 3

// FoldCauses makes one finding of those with one cause: an object that is not there and that many
// name, or one place in a file that is read into many namespaces. The findings that do not count
// are folded apart from those that do.
func (r *Report) FoldCauses() {
	r.Items, r.Suppressed = foldCauses(r.Items), foldCauses(r.Suppressed)
	r.countItems()
}

// foldCauses returns the findings in their order, with one for each cause.
func foldCauses(all []Finding) []Finding {
	all = foldBy(all, (*Finding).missingCause, joinReferrers)
	return sortFindings(foldBy(all, (*Finding).placeCause, joinNamespaces))
}

// causeKey is equal for findings with one cause.
type causeKey struct {
	severity                model.Severity
	id, message, hint       string
	missing                 model.Ref
	kind                    model.GroupKind
	file, name, suppression string
	line                    int
}

// newCauseKey returns the part of the key that every sort of cause needs.
func (f *Finding) newCauseKey(message, hint string) causeKey {
	key := causeKey{severity: f.Severity, id: f.ID, message: message, hint: hint}
	if f.Suppressed != nil {
		key.suppression = f.Suppressed.Text()
	}
	return key
}

// foldBy joins the findings of each cause. Those without a cause stay as they are.
func foldBy(all []Finding, findCause func(*Finding) (causeKey, bool), join func([]Finding) Finding) []Finding {
	var groups [][]Finding
	groupOf := map[causeKey]int{}
	for _, f := range all {
		key, ok := findCause(&f)
		at, known := groupOf[key]
		if !ok || !known {
			at = len(groups)
			groups = append(groups, nil)
		}
		if ok {
			groupOf[key] = at
		}
		groups[at] = append(groups[at], f)
	}
	out := make([]Finding, 0, len(groups))
	for _, same := range groups {
		if len(same) == 1 {
			out = append(out, same[0])
		} else {
			out = append(out, join(same))
		}
	}
	return out
}

// missingCause returns the key of a finding about an object that is not there, or of what several
// rules share; false: it is neither.
func (f *Finding) missingCause() (causeKey, bool) {
	switch {
	case f.Ref == nil:
		return causeKey{}, false
	case f.cause.ofSeveral != "":
		return f.newCauseKey(f.cause.ofSeveral, f.Hint), true
	case f.cause.missing != nil:
		key := f.newCauseKey(strings.ReplaceAll(f.Message, f.Ref.String(), ""), f.Hint)
		key.missing = *f.cause.missing
		return key, true
	}
	return causeKey{}, false
}

// placeCause returns the key of a finding about an object of which other namespaces may have a copy
// from the same place in a file; false: it is not about one.
func (f *Finding) placeCause() (causeKey, bool) {
	if f.Ref == nil || f.Ref.Namespace == "" || f.Origin == nil || f.Origin.Cluster != "" || f.Origin.Line == 0 {
		return causeKey{}, false
	}
	key := f.newCauseKey(withoutNamespace(f.Message, f.Ref.Namespace), withoutNamespace(f.Hint, f.Ref.Namespace))
	key.kind, key.name = f.Ref.GroupKind(), f.Ref.Name+" "+f.Ref.Section
	key.file, key.line = f.Origin.File, f.Origin.Line
	return key, true
}

// joinReferrers makes one finding of all that name what is not there.
func joinReferrers(same []Finding) Finding {
	out := same[0]
	out.Objects = listPlaces(same)
	if len(out.Objects) == 1 {
		out.Objects = nil
		return out
	}
	if out.cause.ofSeveral != "" {
		out.listing = listing{out.cause.ofSeveral, fmt.Sprintf("%d rules %s: ", len(out.Objects), out.cause.ofSeveral),
			namePlaces(out.Objects), ""}
	} else {
		out.listing = listing{out.Message, fmt.Sprintf("%s (%d objects: ", out.Message, len(out.Objects)),
			namePlaces(out.Objects), ")"}
	}
	out.Message = out.listing.formatText(maxNamed)
	return out
}

// joinNamespaces makes one finding of the copies in several namespaces.
func joinNamespaces(same []Finding) Finding {
	out := same[0]
	var namespaces []string
	for _, f := range same {
		namespaces = append(namespaces, f.Ref.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if len(namespaces) == 1 { // findings that nothing tells apart
		return out
	}
	out.Objects = listPlaces(same)
	out.Hint = withoutNamespace(out.Hint, out.Ref.Namespace)
	out.listing = listing{withoutNamespace(out.StableMessage(), out.Ref.Namespace), fmt.Sprintf("%s, in %d namespaces (",
		withoutNamespace(out.Message, out.Ref.Namespace), len(namespaces)), namespaces, ")"}
	out.Message = out.listing.formatText(maxNamed)
	return out
}

// listPlaces returns what a finding is about.
func (f *Finding) listPlaces() []Place {
	if f.Objects != nil {
		return f.Objects
	}
	ref := *f.Ref
	if f.cause.rule != "" {
		ref = ref.WithSection(f.cause.rule)
	}
	return []Place{{&ref, f.Origin}}
}

// listPlaces returns what findings are about, each once.
func listPlaces(same []Finding) []Place {
	var out []Place
	for _, f := range same {
		out = append(out, f.listPlaces()...)
	}
	slices.SortStableFunc(out, comparePlaces)
	return slices.CompactFunc(out, func(a, b Place) bool { return *a.Ref == *b.Ref })
}

// comparePlaces orders places by object, then by where they are.
func comparePlaces(a, b Place) int {
	return cmp.Or(model.ComparePointers(a.Ref, b.Ref, model.Ref.Compare),
		model.ComparePointers(a.Origin, b.Origin, model.Origin.Compare))
}

// namePlaces names objects and rules.
func namePlaces(places []Place) []string {
	out := make([]string, len(places))
	for i, p := range places {
		out[i] = p.Ref.String()
	}
	return out
}

// StableMessage is what a finding says without how many objects it is about, and which.
func (f *Finding) StableMessage() string { return cmp.Or(f.listing.what, f.Message) }

// formatText returns the message with at most so many names; 0: all.
func (l listing) formatText(most int) string {
	names := l.names
	if most > 0 && len(names) > most+1 { // "and 1 more" takes no less room than its name
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
	}
	return l.before + strings.Join(names, ", ") + l.after
}

// withoutNamespace is a text without the namespace: of references such as kind/NAMESPACE/name, and
// behind "in namespace".
func withoutNamespace(text, namespace string) string {
	text = strings.ReplaceAll(text, inNamespace+namespace+" ", " ")
	if rest, found := strings.CutSuffix(text, inNamespace+namespace); found {
		text = rest
	}
	for _, end := range []string{",", ":", ";", ")"} {
		text = strings.ReplaceAll(text, inNamespace+namespace+end, end)
	}
	parts := strings.Split(text, "/"+namespace+"/")
	for i := range parts[:len(parts)-1] {
		if !endsInWord(parts[i]) { // the path of a file or of a request
			parts[i] += "/" + namespace
		}
	}
	return strings.Join(parts, "/")
}

const inNamespace = " in namespace "

// endsInWord reports whether a kind may end here.
func endsInWord(s string) bool {
	return s != "" && (s[len(s)-1] >= 'a' && s[len(s)-1] <= 'z' || s[len(s)-1] >= '0' && s[len(s)-1] <= '9')
}

package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// mostNames is how many names a cell lists before it counts the rest.
const mostNames = 4

// SectionNoun is what a section of an object of that kind is called; a plural with other words than
// an "s" follows a "|".
func SectionNoun(kind string) string {
	switch {
	case strings.HasSuffix(kind, "Route"):
		return "rule"
	case kind == "Gateway", strings.HasSuffix(kind, "ListenerSet"):
		return "listener"
	case kind == "Service":
		return "port"
	}
	return "section"
}

// CompareTargets orders targets for reading: by namespace, kind and name, then sections as people
// count them.
func CompareTargets(a, b model.Ref) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Name, b.Name), CompareSections(a.Section, b.Section))
}

// CompareSections puts rule-2 before rule-10.
func CompareSections(a, b string) int {
	if a == b {
		return 0
	}
	stemA, a1 := splitNumber(a)
	stemB, b1 := splitNumber(b)
	return cmp.Or(cmp.Compare(stemA, stemB), cmp.Compare(a1, b1), cmp.Compare(a, b))
}

// splitNumber splits the number off a name such as rule-12; -1 where there is none.
func splitNumber(s string) (stem string, n int) {
	stem = strings.TrimRight(s, "0123456789")
	n, err := strconv.Atoi(s[len(stem):])
	if err != nil {
		return s, -1
	}
	return stem, n
}

// SectionList is the label of several sections that share a line: runs of numbers are joined
// (rule-1…rule-9) and, unless whole is asked for, the rest is counted once there are too many to
// read.
func SectionList(sections []string, o TableOptions) string {
	if len(sections) > 1 && slices.Contains(sections, "") { // the object itself
		sections = append([]string{"whole"}, slices.DeleteFunc(slices.Clone(sections),
			func(s string) bool { return s == "" })...)
	}
	parts := sectionRuns(sections)
	if len(parts) <= mostNames || o.Wide {
		return strings.Join(parts, ", ")
	}
	return strings.Join(parts[:mostNames-1], ", ") + " and " + strconv.Itoa(len(parts)-mostNames+1) + " more"
}

// AddSections writes sections behind the name of their object: "shop/cart/checkout", or "shop/cart
// (checkout, refund)" for several.
func AddSections(object string, sections []string, o TableOptions) string {
	list := SectionList(sections, o)
	switch {
	case list == "":
		return object
	case len(sections) == 1:
		return object + "/" + list
	}
	return object + " (" + list + ")"
}

// sectionRuns joins three and more consecutive numbers of the same stem.
func sectionRuns(sections []string) []string {
	var out []string
	for i := 0; i < len(sections); {
		end := i + 1
		for end < len(sections) && isNextSection(sections[end-1], sections[end]) {
			end++
		}
		if end-i > 2 {
			out = append(out, sections[i]+"…"+sections[end-1])
		} else {
			out = append(out, sections[i:end]...)
		}
		i = end
	}
	return out
}

func isNextSection(a, b string) bool {
	stemA, m := splitNumber(a)
	stemB, n := splitNumber(b)
	return stemA == stemB && m >= 0 && n == m+1
}

// KindNames tells how kinds are written: the kind alone, with its group where two groups of the
// answer have a kind of that name.
type KindNames map[string]bool

// Add notes that a kind (Kind.group) occurs in the answer.
func (k KindNames) Add(kind string) { k[kind] = true }

// ShortName returns the kind without its group where that is unambiguous.
func (k KindNames) ShortName(kind string) string {
	short, _, _ := strings.Cut(kind, ".")
	for other := range k {
		if s, _, _ := strings.Cut(other, "."); s == short && other != kind {
			return kind
		}
	}
	return short
}

// FullSectionNoun returns the noun for a section where the kind of the object is not said beside
// it.
func FullSectionNoun(kind string) string {
	if noun := SectionNoun(kind); noun == "rule" {
		return "route rule"
	} else if noun != "section" {
		return noun
	}
	return kind + " section"
}

// ObjectNoun returns what people call an object of a kind.
func ObjectNoun(kind string) string {
	switch {
	case strings.HasSuffix(kind, "Route"):
		return "route"
	case kind == "Gateway", kind == "Service":
		return strings.ToLower(kind)
	}
	return kind
}

// CompareBools orders false before true.
func CompareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// FormatTargetGroup says the cells NAMESPACE, ROUTE, RULE and VIA in a line:
// "httproute/bakery/baker/rule-1, rule-2 via infra/external (http, https)". The last ones may be
// missing.
func FormatTargetGroup(cells []string) string {
	namespace, object, section, via := cells[0], cells[1], "-", "-"
	if len(cells) > 2 {
		section = OrDash(cells[2])
	}
	if len(cells) > 3 {
		via = OrDash(cells[3])
	}
	text := object
	kind, name, named := strings.Cut(object, "/")
	if named && namespace != "-" {
		text = kind + "/" + namespace + "/" + name
	}
	switch {
	case section == "-":
	case named:
		text += "/" + section
	default: // "4 rules" of "3 routes"
		text = section + " of " + text
	}
	if !named && namespace != "-" {
		text += " in " + namespace
	}
	if via != "-" {
		text += " via " + via
	}
	return text
}

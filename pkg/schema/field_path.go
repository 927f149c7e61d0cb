package schema

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// splitFieldPath splits a path as the API server writes it (spec.rules[0].name, spec.labels[a.b])
// into steps into a body, as far as the body has it. Keys with dots in them are written as they
// are, so that the body has to tell where one ends: the longest that fits counts.
func splitFieldPath(b model.Body, path string) []string {
	var steps []string
	for path != "" {
		step, rest := cutStep(b, strings.TrimLeft(path, "."))
		if step == "" {
			break
		}
		steps, path = append(steps, step), rest
		b = b.At(step)
	}
	return steps
}

func cutStep(b model.Body, path string) (step, rest string) {
	if b.IsList() {
		number, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(number); err != nil || i < 0 || i >= b.Len() {
			return "", ""
		}
		return number, rest
	}
	for end := len(path); end > 0; end-- { // the body finds a key faster than it lists all
		plain := end == len(path) || path[end] == '.' || path[end] == '['
		if plain && b.Has(path[:end]) {
			return path[:end], path[end:]
		}
		if path[0] == '[' && path[end-1] == ']' && end > 2 && b.Has(path[1:end-1]) {
			return path[1 : end-1], path[end:]
		}
	}
	return "", ""
}

// suggestField proposes what the author of an unknown field may have meant: a field of a near name
// at the same place, else one of the same or a near name a level up or down, else the nearest places
// at which the schema has a field of that name.
func (v *version) suggestField(steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	if v.goType != nil {
		return suggestBuiltInField(v.goType, steps)
	}
	name := steps[len(steps)-1]
	parent, known := v.placeOf(steps[:len(steps)-1])
	ofMetadata := len(steps) == 2 && steps[0] == "metadata"
	if !known && !ofMetadata {
		return ""
	}
	var siblings, places []string
	adjacent := map[string]string{} // from the name to the place
	least := math.MaxInt
	eachField(v.structural, nil, func(place []string) {
		last := len(place) - 1
		far := distance(parent, place[:last])
		switch {
		case far == 0:
			siblings = append(siblings, place[last])
		case far == 1 && len(place[last]) < len(name)+3: // the name is not only how it begins
			at, before := strings.Join(place, "."), adjacent[place[last]]
			if before == "" || at < before {
				adjacent[place[last]] = at
			}
		}
		// aside, what has the name is another thing
		upOrDown := far == max(len(parent), last)-min(len(parent), last)
		if place[last] != name || far > least || far > 2 && !upOrDown {
			return
		}
		if far < least {
			places, least = nil, far
		}
		places = append(places, strings.Join(place, "."))
	})
	if ofMetadata {
		siblings = metadataFields
	}
	if near := form.Nearest(name, siblings); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	near := form.Nearest(name, slices.Sorted(maps.Keys(adjacent)))
	switch slices.Sort(places); {
	case least > 1 && len(near) > 0:
		return "did you mean " + adjacent[near[0]] + "?"
	case len(places) == 1, len(places) == 2:
		return "its place is " + strings.Join(places, " or ")
	}
	if part := kindred(name, siblings); part != "" {
		return "did you mean " + part + "?"
	}
	return ""
}

// metadataFields are the fields of an object's metadata that authors write: schemas do not list
// them.
var metadataFields = []string{"annotations", "finalizers", "generateName", "labels", "name", "namespace",
	"ownerReferences"}

// placeOf is where in the schema a value of an object is, as [spec rules[] filters[]]. One that the
// schema does not have is not known.
func (v *version) placeOf(steps []string) (place []string, known bool) {
	at := v.structural
	for _, step := range steps {
		switch property, ok := at.Properties[step]; {
		case ok:
			at, place = &property, append(place, step)
		case at.Items != nil:
			at, place = at.Items, ofEntries(place, "[]")
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			at, place = at.AdditionalProperties.Structural, ofEntries(place, ".*")
		default:
			return append(place, step), false
		}
	}
	return place, true
}

// eachField visits the places of all fields of a schema, in no order, but those within the metadata
// and the status. A place is not for keeping.
func eachField(s *schema.Structural, at []string, visit func(place []string)) {
	if s == nil {
		return
	}
	for key, property := range s.Properties {
		place := append(at, key)
		visit(place)
		if len(at) > 0 || key != "metadata" && key != "status" {
			eachField(&property, place, visit)
		}
	}
	if s.Items != nil {
		eachField(s.Items, ofEntries(at, "[]"), visit)
	}
	if s.AdditionalProperties != nil {
		eachField(s.AdditionalProperties.Structural, ofEntries(at, ".*"), visit)
	}
}

// ofEntries is the place of the entries of a list or a map.
func ofEntries(place []string, entries string) []string {
	if len(place) == 0 {
		return []string{entries}
	}
	out := slices.Clone(place)
	out[len(out)-1] += entries
	return out
}

// distance is how many levels one goes up and down from one place to another.
func distance(from, to []string) int {
	same := 0
	for same < min(len(from), len(to)) && from[same] == to[same] {
		same++
	}
	return len(from) + len(to) - 2*same
}

// kindred returns the only name that another is a part of, or that is a part of it, or "".
func kindred(name string, known []string) string {
	found := ""
	for _, k := range known {
		short, long := strings.ToLower(name), strings.ToLower(k)
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) < 4 || !strings.Contains(long, short) {
			continue
		}
		if found != "" {
			return ""
		}
		found = k
	}
	return found
}

// suggestValue proposes the value that the author of one that is not supported may have meant, or
// returns "".
func suggestValue(e *apifield.Error) string {
	value, isText := e.BadValue.(string)
	if e.Type != apifield.ErrorTypeNotSupported || !isText {
		return ""
	}
	var known []string
	for rest := e.Detail; ; {
		_, after, found := strings.Cut(rest, "\"")
		text, next, closed := strings.Cut(after, "\"")
		if !found || !closed {
			break
		}
		known, rest = append(known, text), next
	}
	if near := form.Nearest(value, known); len(near) > 0 {
		return near[0]
	}
	return kindred(value, known)
}

package schema

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
// at the same place, else one of the same or a near name a level up or down, else the places close
// by at which the schema has a field of that name.
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
	all := v.listFields()
	siblings := all.below[strings.Join(parent, ".")]
	if ofMetadata {
		siblings = metadataFields
	}
	if near := form.Nearest(name, siblings); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	near := all.nearPlace(name, parent)
	switch places, far := all.findPlaces(name, parent); {
	case near != "" && far != 1:
		return "did you mean " + near + "?"
	case len(places) == 1, len(places) == 2:
		return "its place is " + strings.Join(places, " or ")
	}
	if part := findKindred(name, siblings); part != "" {
		return "did you mean " + part + "?"
	}
	return ""
}

// fields is where the schema of a version has which fields.
type fields struct {
	below    map[string][]string   // from a place to the names of the fields there, sorted
	twoBelow map[string][][]string // from a place to the fields of what is there
	named    map[string][][]string // from a name to the places of the fields that have it
}

// listFields lists the fields of the version, once: there may be many that are unknown.
func (v *version) listFields() *fields {
	v.findFields.Do(func() {
		v.fields = &fields{map[string][]string{}, map[string][][]string{}, map[string][][]string{}}
		eachField(v.structural, nil, func(place []string) {
			last := len(place) - 1
			if last == 0 && (place[0] == "apiVersion" || place[0] == "kind") {
				return
			}
			parent := strings.Join(place[:last], ".")
			v.fields.below[parent] = append(v.fields.below[parent], place[last])
			v.fields.named[place[last]] = append(v.fields.named[place[last]], place)
			if last > 0 {
				above := strings.Join(place[:last-1], ".")
				v.fields.twoBelow[above] = append(v.fields.twoBelow[above], place)
			}
		})
		for _, names := range v.fields.below {
			slices.Sort(names)
		}
	})
	return v.fields
}

// nearPlace returns the place of the field of the nearest name a level above or below a place, or
// "". What a name is only the beginning of is not near enough there, and what holds the place is
// not it.
func (f *fields) nearPlace(name string, parent []string) string {
	adjacent := map[string]string{} // from the name to the place
	add := func(place string, last string) {
		if before, more := adjacent[last]; len(last) < len(name)+3 && (!more || place < before) {
			adjacent[last] = place
		}
	}
	for _, place := range f.twoBelow[strings.Join(parent, ".")] {
		add(strings.Join(place, "."), place[len(place)-1])
	}
	if len(parent) > 0 {
		above := parent[:len(parent)-1]
		for _, last := range f.below[strings.Join(above, ".")] {
			if place := append(slices.Clone(above), last); !isHolder(place, parent) {
				add(strings.Join(place, "."), last)
			}
		}
	}
	if near := form.Nearest(name, slices.Sorted(maps.Keys(adjacent))); len(near) > 0 {
		return adjacent[near[0]]
	}
	return ""
}

// findPlaces returns the places of the fields of a name that are nearest to a place, and how far
// they are. Further away, and aside, what has the name is another thing.
func (f *fields) findPlaces(name string, parent []string) (places []string, least int) {
	least = math.MaxInt
	for _, place := range f.named[name] {
		last := len(place) - 1
		far := countLevels(parent, place[:last])
		aside := far > max(len(parent), last)-min(len(parent), last)
		if far > least || far > 3 || far > 2 && aside || isHolder(place, parent) {
			continue
		}
		if far < least {
			places, least = nil, far
		}
		places = append(places, strings.Join(place, "."))
	}
	slices.Sort(places)
	return places, least
}

// isHolder reports whether what is at a place is, or has as its entries, what is at the other.
func isHolder(place, other []string) bool {
	return len(place) == len(other) && strings.TrimRight(other[len(other)-1], "[].*") == place[len(place)-1] &&
		slices.Equal(place[:len(place)-1], other[:len(other)-1])
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
// and the status.
func eachField(s *schema.Structural, at []string, visit func(place []string)) {
	if s == nil {
		return
	}
	for key, property := range s.Properties {
		place := append(slices.Clone(at), key)
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

// countLevels returns how many levels one goes up and down from one place to another.
func countLevels(from, to []string) int {
	same := 0
	for same < min(len(from), len(to)) && from[same] == to[same] {
		same++
	}
	return len(from) + len(to) - 2*same
}

// findKindred returns the only name that has the words of another in it, or whose words the other
// has, or "": headerName of name, and cookie of cookieConfig.
func findKindred(name string, known []string) string {
	found := ""
	for _, k := range known {
		if !hasWords(name, k) && !hasWords(k, name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = k
	}
	return found
}

// hasWords reports whether a name in camel case has the words of another, longer than three
// letters.
func hasWords(name, part string) bool {
	long, short := strings.ToLower(name), strings.ToLower(part)
	at := strings.Index(long, short)
	if at < 0 || len(short) < 4 || len(long) != len(name) || len(short) != len(part) {
		return false
	}
	begins := func(i int) bool { return i == 0 || i == len(name) || unicode.IsUpper(rune(name[i])) }
	return begins(at) && begins(at+len(part))
}

// suggestValue proposes the value that the author of one that is not supported may have meant, or
// returns "".
func suggestValue(e *apifield.Error) string {
	value, isText := e.BadValue.(string)
	if e.Type != apifield.ErrorTypeNotSupported || !isText || len(e.Detail) > maxMessage {
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
	return findKindred(value, known)
}

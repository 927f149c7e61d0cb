package descriptor

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RequestNormalization is what the data plane of a vendor makes of requests before it looks for a
// rule.
type RequestNormalization struct {
	Vendor      string
	Source      string            // where that stands
	Controllers []string          // the controllers whose Gateways are the vendor's
	Aspects     map[string]string // by aspect of requestWords: what is made of it; not known where it is left out
	Changes     []RequestChange   // in order, later ones win
}

// RequestChange changes what is made of requests by the value of a setting of the vendor, of a
// function, or of a policy in force at the listener.
type RequestChange struct {
	Setting string          // the vendor's, by its full name
	Func    string          // a vendor function that gives a word
	Kind    model.GroupKind // of the policy
	Field   string          // of the policy's settings, as a dotted path
	Values  map[string]map[string]string
}

// requestWords are the aspects and what may be made of each.
var requestWords = map[string][]string{
	"dots":           {"resolve", "keep"},
	"slashes":        {"merge", "mergeFirst", "keep"},
	"backslashes":    {"slash", "keep"},
	"decode":         {"all", "unreserved", "none"},
	"escapedSlashes": {"decode", "redirect", "reject", "keep"},
	"hostDot":        {"drop", "keep"},
}

// RequestNormalizations returns what is known of the data planes, by vendor.
func (c *Catalog) RequestNormalizations() []RequestNormalization {
	out := slices.Clone(c.requests)
	for i := range out {
		if name := c.chosenSettings.Text(out[i].Vendor + "." + controllerSetting); name != "" {
			out[i].Controllers = []string{name}
		}
	}
	return out
}

// readRequests reads the field requests of a Vendor.
func (r *vendorReader) readRequests(n *yaml.Node) {
	out := &RequestNormalization{Aspects: map[string]string{}}
	fields := r.aspectFields(out.Aspects)
	fields["source"] = r.Text(&out.Source)
	fields["changes"] = func(n *yaml.Node) {
		r.List(n, func(e *yaml.Node) {
			c := RequestChange{Values: map[string]map[string]string{}}
			var kind string
			r.Object(e, map[string]form.Field{"setting": r.Text(&c.Setting), "policy": r.Text(&kind),
				"field": r.Text(&c.Field),
				"func":  r.Text(&c.Func), "values": func(n *yaml.Node) { r.readChangeValues(n, c.Values) }})
			c.Kind = model.ParseGroupKind(kind)
			given := 0
			for _, is := range []bool{c.Setting != "", c.Func != "", c.Kind.Kind != "" && c.Field != ""} {
				if is {
					given++
				}
			}
			if given != 1 || len(c.Values) == 0 {
				r.Fail(e, "a change needs \"values\", and \"setting\", or \"func\", or \"policy\" and \"field\"")
			}
			out.Changes = append(out.Changes, c)
		})
	}
	r.Object(n, fields)
	if out.Source == "" {
		r.Fail(n, "field \"source\" is missing: where it stands what the data plane does")
	}
	r.requests = out
}

// aspectFields returns the readers of the fields that say what is made of a request.
func (r *vendorReader) aspectFields(into map[string]string) map[string]form.Field {
	out := map[string]form.Field{}
	for _, name := range slices.Sorted(maps.Keys(requestWords)) {
		out[name] = func(n *yaml.Node) {
			var word string
			r.Word(&word, requestWords[name])(n)
			into[name] = word
		}
	}
	return out
}

func (r *vendorReader) readChangeValues(n *yaml.Node, into map[string]map[string]string) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "an object of values is expected here")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		how := map[string]string{}
		r.Object(n.Content[i+1], r.aspectFields(how))
		into[n.Content[i].Value] = how
	}
}

// setVendor fills in the vendor's name, also in the names of settings.
func (q *RequestNormalization) setVendor(vendor string) {
	q.Vendor = vendor
	for i := range q.Changes {
		if q.Changes[i].Setting != "" {
			q.Changes[i].Setting = vendor + "." + q.Changes[i].Setting
		}
	}
}

package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Stamp says what an answer is about: lines of NDJSON carry it, and the answers of several
// clusters.
type Stamp struct {
	Cluster string    // "" where it is not known, or not one
	ReadAt  time.Time // when the cluster was read; zero: not known
}

// envelopeView is a view that has an envelope, as every answer has.
type envelopeView interface{ Opening() *view.Envelope }

// jsonMembers returns the stamp as members of an object.
func (s Stamp) jsonMembers() []jsonMember {
	var out []jsonMember
	if s.Cluster != "" {
		out = append(out, jsonMember{`"cluster"`, quoteJSON(s.Cluster)})
	}
	if !s.ReadAt.IsZero() {
		out = append(out, jsonMember{`"readAt"`, quoteJSON(s.ReadAt.UTC().Format(time.RFC3339))})
	}
	return out
}

// itemMembers returns the members that a line of NDJSON has beside those of its item, so that it
// can be read without the lines around it.
func (s Stamp) itemMembers(v any) []jsonMember {
	o, ok := v.(envelopeView)
	if !ok {
		return s.jsonMembers()
	}
	e := o.Opening()
	complete := "false"
	if e.Complete {
		complete = "true"
	}
	out := append([]jsonMember{{`"apiVersion"`, quoteJSON(e.APIVersion)}, {`"answer"`, quoteJSON(e.Kind)}},
		s.jsonMembers()...)
	return append(out, jsonMember{`"complete"`, complete})
}

// quoteJSON is a text as JSON.
func quoteJSON(s string) string {
	text, err := newPlainJSONText().encode(s)
	if err != nil { // a string is always valid JSON
		return `""`
	}
	return string(bytes.TrimSuffix(text, []byte("\n")))
}

// yamlLines returns the stamp as the first lines of a YAML document.
func (s Stamp) yamlLines() ([]byte, error) {
	fields := []byte{'{'}
	for i, m := range s.jsonMembers() {
		if i > 0 {
			fields = append(fields, ',')
		}
		fields = append(append(append(fields, m.name...), ':'), m.value...)
	}
	if len(fields) == 1 {
		return nil, nil
	}
	return appendYAML(nil, json.RawMessage(append(fields, '}')))
}

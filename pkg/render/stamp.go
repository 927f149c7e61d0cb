package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Stamp says what an answer is about: lines of NDJSON carry it, and the answers of several clusters.
type Stamp struct {
	Cluster string    // "" where it is not known, or not one
	ReadAt  time.Time // when the cluster was read; zero: not known
}

// opened is what every answer begins with.
type opened interface{ Opening() *view.Envelope }

// members are the stamp as members of an object.
func (s Stamp) members() []jsonMember {
	var out []jsonMember
	if s.Cluster != "" {
		out = append(out, jsonMember{`"cluster"`, quoted(s.Cluster)})
	}
	if !s.ReadAt.IsZero() {
		out = append(out, jsonMember{`"readAt"`, quoted(s.ReadAt.UTC().Format(time.RFC3339))})
	}
	return out
}

// ofItem are the members that a line of NDJSON has beside those of its item, so that it can be read without the lines around it.
func (s Stamp) ofItem(v any) []jsonMember {
	o, ok := v.(opened)
	if !ok {
		return s.members()
	}
	e := o.Opening()
	complete := "false"
	if e.Complete {
		complete = "true"
	}
	out := append([]jsonMember{{`"apiVersion"`, quoted(e.APIVersion)}, {`"answer"`, quoted(e.Kind)}}, s.members()...)
	return append(out, jsonMember{`"complete"`, complete})
}

// quoted is a text as JSON.
func quoted(s string) string {
	text, err := newPlainJSONText().of(s)
	if err != nil { // a string can be written
		return `""`
	}
	return string(bytes.TrimSuffix(text, []byte("\n")))
}

// lines are the stamp as the first lines of a YAML document.
func (s Stamp) lines() ([]byte, error) {
	fields := []byte{'{'}
	for i, m := range s.members() {
		if i > 0 {
			fields = append(fields, ',')
		}
		fields = append(append(append(fields, m.name...), ':'), m.value...)
	}
	if len(fields) == 1 {
		return nil, nil
	}
	return yamlText(nil, json.RawMessage(append(fields, '}')))
}

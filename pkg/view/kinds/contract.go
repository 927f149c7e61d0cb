package kinds

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// KindInfo describes one policy kind as it is understood in this run.
type KindInfo struct {
	Kind       string   `json:"kind"`              // Kind.group
	Plural     string   `json:"plural"`            // in lower case
	ShortNames []string `json:"shortNames"`        // that kubectl takes for it
	Vendor     string   `json:"vendor"`            // "generic" where no descriptor is known
	Class      string   `json:"class"`             // Inherited, Direct
	Targets    []string `json:"targets"`           // the kinds that its policies may target
	Strategies []string `json:"strategies"`        // that its policies can name
	Effective  []string `json:"effective"`         // roles at which it has results
	Rules      string   `json:"rules"`             // what one rule is
	Objects    int      `json:"objects"`           // policies of the kind in the input
	From       string   `json:"from"`              // built in, a file, a CRD label, the shape of an object
	Schema     string   `json:"schema,omitempty"`  // the definition by which its objects are read, and where it is from
	Reading    string   `json:"reading,omitempty"` // of a generic kind: how its policies are read
	// of a generic kind: what of the reading may be wrong, and fields that are not understood
	Guesses []string `json:"guesses,omitempty"`
}

// KindList answers `kinds`.
type KindList struct {
	view.Envelope
	Items []KindInfo `json:"items"` // every kind that is known
}

// FilterNames are the kinds, as kubectl names resources (plural.group).
func (l *KindList) FilterNames() []string {
	out := make([]string, len(l.Items))
	for i := range l.Items {
		kind := model.ParseGroupKind(l.Items[i].Kind)
		if kind.Kind = l.Items[i].Plural; kind.Kind == "" {
			kind.Kind = strings.ToLower(model.ParseGroupKind(l.Items[i].Kind).Kind)
		}
		out[i] = kind.String()
	}
	return out
}

package prove

import "github.com/dopolicy/kubectl-dopolicy/pkg/protect"

// Undecided is something that could not be decided.
type Undecided struct {
	Why     string `json:"why"`     // what is not known
	Classes int    `json:"classes"` // of requests for which it matters; of rules, how many
	Example string `json:"example"` // one of the requests, or of the rules
	// of a comparison with the proxy of Ingresses: to which hosts the requests are
	Hosts []string `json:"hosts,omitempty"`

	Because []protect.Reason `json:"because,omitempty"` // of properties of requests: the reasons with their codes
}

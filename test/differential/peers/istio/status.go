package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/kube/krt"
)

// condition is what the control plane writes about an AuthorizationPolicy with references.
type condition struct {
	Status  bool   `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// statuses are the conditions by policy. The control plane keeps what it would write among the collections that it shows for debugging, and
// makes a condition of it when it writes.
func statuses() (map[string]condition, error) {
	text, err := json.Marshal(krt.GlobalDebugHandler)
	if err != nil {
		return nil, fmt.Errorf("reading the collections: %w", err)
	}
	var collections []struct {
		Name  string
		State struct{ Outputs map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &collections); err != nil {
		return nil, fmt.Errorf("reading the collections: %w", err)
	}
	out := map[string]condition{}
	for _, c := range collections {
		if !strings.HasSuffix(c.Name, "WaypointPolicyStatuses") {
			continue
		}
		for name, text := range c.State.Outputs {
			var s struct{ Conditions []model.PolicyBindingStatus }
			if err := json.Unmarshal(text, &s); err != nil {
				return nil, fmt.Errorf("reading the status of %s: %w", name, err)
			}
			c := model.WaypointPolicyStatus{Conditions: s.Conditions}.GetConditions(nil)[model.WaypointAccepted]
			out[name] = condition{c.Status, c.Reason, c.Message}
		}
	}
	return out, nil
}

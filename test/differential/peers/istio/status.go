package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/kube/krt"
)

// statuses notes the condition of every AuthorizationPolicy with references. The control plane keeps what it would write among the collections
// that it shows for debugging, and makes a condition of it when it writes.
func statuses(out facts) error {
	text, err := json.Marshal(krt.GlobalDebugHandler)
	if err != nil {
		return fmt.Errorf("reading the collections: %w", err)
	}
	var collections []struct {
		Name  string
		State struct{ Outputs map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &collections); err != nil {
		return fmt.Errorf("reading the collections: %w", err)
	}
	for _, c := range collections {
		if !strings.HasSuffix(c.Name, "WaypointPolicyStatuses") {
			continue
		}
		for name, text := range c.State.Outputs {
			var s struct{ Conditions []model.PolicyBindingStatus }
			if err := json.Unmarshal(text, &s); err != nil {
				return fmt.Errorf("reading the status of %s: %w", name, err)
			}
			condition := model.WaypointPolicyStatus{Conditions: s.Conditions}.GetConditions(nil)[model.WaypointAccepted]
			out.note("status AuthorizationPolicy "+name, map[string]any{"status": condition.Status, "reason": condition.Reason, "message": condition.Message})
		}
	}
	return nil
}

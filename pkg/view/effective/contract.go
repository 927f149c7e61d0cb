package effective

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// EffectivePolicyList answers `effective`.
type EffectivePolicyList struct {
	view.Envelope
	// what the rules of routes say themselves, where they say anything
	Routes []RouteSettings `json:"routes,omitempty"`
	// what published reports say, where not all policies may be read: by target
	Reported []ReportedPolicy       `json:"reported,omitempty"`
	Items    []view.EffectivePolicy `json:"items"` // by target, then by policy kind

	// Protection is what places that are no route rules are protected by, by target.
	Protection []PlaceProtection `json:"protection,omitempty"`

	rulesWithoutPolicy []model.Ref            // route rules that were asked for and have no item
	pathsWithoutPolicy []string               // paths to route rules on which no policy is in force, the end of a sentence each
	unattachedReasons  []string               // why a route that was asked for gets no traffic, a sentence each
	gateways           []model.Ref            // that were asked about as objects of a namespace, not for what comes through them
	ingresses          []view.EffectivePolicy // what is in force on the paths of Ingresses
	unlistedLosses     int                    // settings that lost on targets without an item
}

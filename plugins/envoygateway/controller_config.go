package envoygateway

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// patchSwitch is the field of the controller's configuration that turns EnvoyPatchPolicies on.
const patchSwitch = "enableEnvoyPatchPolicy"

// configCarriers are the kinds that the controller's configuration may stand in.
var configCarriers = []model.GroupKind{
	{Kind: "ConfigMap"},
	{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"},
	{Group: "argoproj.io", Kind: "Application"},
	{Group: "argoproj.io", Kind: "ApplicationSet"},
	{Group: "helm.cattle.io", Kind: "HelmChart"},
}

// patchState is whether EnvoyPatchPolicies are on.
type patchState int

const (
	patchesOff patchState = iota
	patchesOn
	patchesUnknown // what is not rendered may turn them on
)

// choosePatchPolicies decides whether EnvoyPatchPolicies are turned on: by the configuration of the
// controller, if the input has it. Without it they are off, unless what is not rendered may be the
// controller: then what they do is not known.
func choosePatchPolicies(gk model.GroupKind, in *model.Snapshot) (string, []model.Problem) {
	if gk.Kind != "EnvoyPatchPolicy" || len(in.OfKind(gk)) == 0 {
		return "false", nil
	}
	if findPatchState(in) == patchesOff {
		return "false", nil
	}
	return "true", nil
}

// readPatchState returns what the user's setting says, else the configuration of the controller.
func readPatchState(r *resolve.Resolution) patchState {
	switch r.Settings.Text("envoygateway.enableEnvoyPatchPolicy") {
	case "true":
		return patchesOn
	case "false":
		return patchesOff
	}
	return findPatchState(r.Snapshot)
}

// findPatchState returns what the configuration of the controller says, as far as the input has it.
func findPatchState(in *model.Snapshot) patchState {
	found := false
	for _, gk := range configCarriers {
		for _, o := range in.OfKind(gk) {
			switch is, there := readPatchSwitch(o.Body.Value()); {
			case is:
				return patchesOn
			case there:
				found = true
			}
		}
	}
	if !found && in.FindOmission(model.GroupKind{Group: policyGroup, Kind: "EnvoyGateway"}, "") != nil {
		return patchesUnknown
	}
	return patchesOff
}

// readPatchSwitch returns the value of the switch in a configuration, which may be YAML in a text.
func readPatchSwitch(v any) (on, there bool) {
	switch v := v.(type) {
	case map[string]any:
		if value, has := v[patchSwitch]; has {
			return value == true, true
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if on, there = readPatchSwitch(v[key]); there {
				return on, true
			}
		}
	case []any:
		for _, inner := range v {
			if on, there = readPatchSwitch(inner); there {
				return on, true
			}
		}
	case string:
		for line := range strings.Lines(v) {
			if after, found := strings.CutPrefix(strings.TrimSpace(line), patchSwitch+":"); found {
				return strings.HasPrefix(strings.TrimSpace(after), "true"), true
			}
		}
	}
	return false, false
}

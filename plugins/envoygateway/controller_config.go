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

// choosePatchPolicies decides whether EnvoyPatchPolicies are turned on: by the configuration of the
// controller, if the input has it. Without it they are off, unless what is not rendered may be the
// controller: then what they do is not known.
func choosePatchPolicies(gk model.GroupKind, in *model.Snapshot) (string, []model.Problem) {
	if gk.Kind != "EnvoyPatchPolicy" || len(in.OfKind(gk)) == 0 {
		return "false", nil
	}
	if on, _ := findPatchSwitch(in); on {
		return "true", nil
	}
	return "false", nil
}

// readPatchSetting reports whether EnvoyPatchPolicies are on, and whether that is known.
func readPatchSetting(r *resolve.Resolution) (on, known bool) {
	switch value := r.Settings.Text("envoygateway.enableEnvoyPatchPolicy"); value {
	case "true", "false":
		return value == "true", true
	}
	return findPatchSwitch(r.Snapshot)
}

// findPatchSwitch reports whether EnvoyPatchPolicies are on or may be, and whether that is known.
func findPatchSwitch(in *model.Snapshot) (on, known bool) {
	found := false
	for _, gk := range configCarriers {
		for _, o := range in.OfKind(gk) {
			switch is, there := readPatchSwitch(o.Body.Value()); {
			case is:
				return true, true
			case there:
				found = true
			}
		}
	}
	unrendered := in.FindOmission(model.GroupKind{Group: policyGroup, Kind: "EnvoyGateway"}, "") != nil
	return unrendered && !found, !unrendered || found
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

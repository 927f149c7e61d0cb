package envoygateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// checkLuaDisabled finds fault with every policy that has Lua, where the controller does not run
// it.
func checkLuaDisabled(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	if p.Object.Body.At("spec", "lua").Len() == 0 {
		return "", nil
	}
	return "Lua: Skipping Lua EnvoyExtensionPolicy as feature is disabled in the Envoy Gateway configuration", nil
}

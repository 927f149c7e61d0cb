package linkerd

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

func refusals(_ *model.Snapshot) []model.Problem { return nil }

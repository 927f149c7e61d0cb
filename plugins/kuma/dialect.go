package kuma

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// findDialect is the dialect in use, and with auto the object that decided for 2.14 and what of it.
func findDialect(in *model.Snapshot, s model.Settings) (dialect string, by *model.Object, mark string) {
	if chosen := s.Text("kuma.dialect"); chosen != "auto" {
		return chosen, nil, ""
	}
	for _, o := range in.Objects {
		if o.Ref.Group != group {
			continue
		}
		if mark := findOldFeature(o); mark != "" {
			return "2.14", o, mark
		}
	}
	return "3.0", nil, ""
}

// withDialect is the settings with the dialect that is in use.
func withDialect(in *model.Snapshot, s model.Settings) model.Settings {
	dialect, _, _ := findDialect(in, s)
	return s.With("kuma.dialect", dialect)
}

// isDialect214 reports whether settings that have a dialect are for that of 2.14.
func isDialect214(s model.Settings) bool { return s.Text("kuma.dialect") == "2.14" }

// findOldFeature is what an object has that only 2.14 has, "" if there is nothing.
func findOldFeature(o *model.Object) string {
	switch {
	case o.Ref.Kind == "MeshGateway":
		return "the kind MeshGateway"
	case o.Ref.Kind == "Mesh" && o.Body.At("spec", "meshServices").IsObject():
		return "spec.meshServices"
	case o.Ref.Kind == "Mesh" && settingsOf(o).Text("mtls", "enabledBackend") != "":
		return "mtls.enabledBackend"
	case !isPolicy(o):
		return ""
	case o.Body.At("spec", "from").Len() > 0:
		return "spec.from"
	}
	for _, field := range []string{"name", "tags", "proxyTypes"} {
		if !o.Body.At("spec", "targetRef", field).IsNull() {
			return "spec.targetRef." + field
		}
		for i, item := range o.Body.At("spec", "to").Items {
			if !item.Field("targetRef").Field(field).IsNull() {
				return fmt.Sprintf("spec.to[%d].targetRef.%s", i, field)
			}
		}
	}
	return ""
}

// dialectProblems tells which dialect is used, where the input decided, and what does not belong to
// the chosen one.
func dialectProblems(in *model.Snapshot, s model.Settings) []model.Problem {
	dialect, by, mark := findDialect(in, s)
	if by != nil {
		return []model.Problem{model.Problem{Severity: model.Info, Code: model.ProfileChosen,
			Message: fmt.Sprintf("Kuma's objects are read in the dialect of 2.14, because of %s",
				mark), Hint: "--vendor-setting kuma.dialect=3.0 reads them otherwise"}.At(by)}
	}
	if dialect != "3.0" {
		return nil
	}
	var out []model.Problem
	for _, o := range in.Objects {
		if o.Ref.Group != group {
			continue
		}
		mark := findOldFeature(o)
		p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: mark + " is of 2.14 and unknown to the dialect 3.0, which was chosen",
			Hint:    "--vendor-setting kuma.dialect=2.14"}
		switch {
		case mark == "":
			continue
		case mark == "spec.from" && o.Ref.GroupKind() == permissionKind: // what else it lacks, admission says
			continue
		case mark == "spec.from", o.Ref.Kind == "Mesh":
			p.Code, p.Message = model.PrunedByOperator, mark+" is of 2.14: 3.0 drops it, and it has no effect"
		}
		out = append(out, p.At(o))
	}
	return out
}

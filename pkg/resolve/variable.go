package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// scanVariables finds the variables, such as ${APP}, that stand where names, namespaces and
// hostnames should.
func (d *Decoding) scanVariables() *variableScan {
	s := &variableScan{uses: map[string]*variableUse{}}
	known := gatewayapi.Kinds()
	for _, k := range d.kinds {
		known = append(known, k.GroupKind)
	}
	for _, gk := range d.in.Kinds() {
		if !slices.Contains(known, gk) { // nothing depends on it
			continue
		}
		for _, o := range d.in.OfKind(gk) {
			s.scanObject(o)
		}
	}
	for _, policies := range d.policies {
		for _, p := range policies {
			for _, t := range p.Refs {
				s.scanTexts(p.Object, t.Ref.Group, t.Ref.Kind, t.Ref.Name, t.Ref.Namespace, t.Ref.Section)
			}
		}
	}
	return s
}

// reportVariables reports variables, each once. What a name that has one leads to is not missing;
// nobody knows what it is.
func (r *Resolution) reportVariables(s *variableScan) {
	if len(s.uses) == 0 {
		return
	}
	r.Problems = slices.DeleteFunc(r.Problems, IsAboutVariable)
	for _, name := range s.order {
		r.Problems = append(r.Problems, s.uses[name].newProblem(name))
	}
}

// IsAboutVariable reports whether a problem is that something with a variable for a name is not
// there, or does not fit.
func IsAboutVariable(p model.Problem) bool {
	if p.MissingRef != nil {
		return p.MissingRef.HasVariable() || model.HasVariable(p.MissingRef.Section)
	}
	if p.Code == model.NotReached {
		return model.HasVariable(p.Message) // which hostname fits is not known
	}
	return p.Code == model.NotEvaluated && p.Ref != nil && p.Ref.HasVariable()
}

// variableUse is where a variable stands.
type variableUse struct {
	times int
	first *model.Object
}

// variableScan finds variables.
type variableScan struct {
	uses  map[string]*variableUse
	order []string // in which they were found
}

// scanObject looks at an object on which traffic or policies depend.
func (s *variableScan) scanObject(o *model.Object) {
	gk := o.Ref.GroupKind()
	s.scanTexts(o, o.Ref.Name, o.Ref.Namespace)
	spec := o.Body.Field("spec")
	switch {
	case slices.Contains(gatewayapi.RouteKinds(), gk):
		for _, h := range spec.Field("hostnames").Items {
			s.scanTexts(o, h.Text())
		}
		s.scanReferences(o, spec.Field("parentRefs"))
		for _, rule := range spec.Field("rules").Items {
			s.scanReferences(o, rule.Field("backendRefs"))
		}
	case gk.Group != "" && spec.Has("listeners"):
		s.scanTexts(o, spec.Text("gatewayClassName"))
		for _, l := range spec.Field("listeners").Items {
			s.scanTexts(o, l.Text("name"), l.Text("hostname"))
		}
	}
}

// scanReferences looks at a list of references.
func (s *variableScan) scanReferences(o *model.Object, list model.Body) {
	for _, ref := range list.Items {
		for key, v := range ref.Fields {
			switch key {
			case "name", "namespace", "sectionName":
				s.scanTexts(o, v.Text())
			}
		}
	}
}

// scanTexts looks at texts of an object.
func (s *variableScan) scanTexts(o *model.Object, texts ...string) {
	for _, text := range texts {
		for rest := text; ; {
			name, after, found := model.CutVariable(rest)
			if !found {
				break
			}
			s.addUse(name, o)
			rest = after
		}
	}
}

func (s *variableScan) addUse(name string, o *model.Object) {
	use := s.uses[name]
	if use == nil {
		use = &variableUse{first: o}
		s.uses[name] = use
		s.order = append(s.order, name)
	}
	use.times++
}

// newProblem reports a variable once.
func (u *variableUse) newProblem(name string) model.Problem {
	where := "a name, namespace or hostname"
	if u.times > 1 {
		where = fmt.Sprintf("%d names, namespaces or hostnames", u.times)
	}
	if name == model.EncryptedVariable {
		return model.Problem{Severity: model.Error, Code: model.UnrenderedVariable,
			Message: fmt.Sprintf("a value that SOPS has encrypted stands in %s: what belongs together is not known",
				where),
			Hint: "decrypt the manifests first (sops decrypt FILE), and read the result",
		}.At(u.first)
	}
	hint := "render the manifests first, for example with flux build, kustomize build or envsubst, and read the result"
	if inner, isNamed := strings.CutPrefix(name, "${"); isNamed {
		hint = "give it a value with --substitute " + strings.TrimSuffix(inner, "}") + "=VALUE, or " + hint
	}
	return model.Problem{Severity: model.Error, Code: model.UnrenderedVariable, Hint: hint,
		Message: fmt.Sprintf("%s is an unrendered variable in %s: what belongs together is not known", name, where),
	}.At(u.first)
}

package manifest

import "github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"

// readSelector reads matchLabels and matchExpressions. A part of the wrong type makes f bad.
func (f *Fields) readSelector() selector.Selector {
	s := selector.Selector{Present: true}
	labels := f.ReadObject("matchLabels")
	for key := range labels.Body.Fields {
		s.Requirements = append(s.Requirements, selector.Requirement{Key: key, Operator: "In",
			Values: []string{labels.ReadText(key)}})
	}
	f.Bad = f.Bad || labels.Bad
	for i, v := range f.ReadList("matchExpressions").Items {
		e := f.Reader.ReadEntry(v, f.At.AtField("matchExpressions").AtEntry(i))
		s.Requirements = append(s.Requirements, e.readRequirement())
		f.Bad = f.Bad || e.Bad
	}
	return s
}

func (f *Fields) readRequirement() selector.Requirement {
	r := selector.Requirement{Key: f.ReadText("key"), Operator: f.ReadText("operator")}
	for _, v := range f.ReadList("values").Items {
		value := v.Text()
		if !v.IsText() {
			f.Reader.ReportWrongType(v, "a text", f.At.AtField("values"))
			f.Bad = true
		}
		r.Values = append(r.Values, value)
	}
	switch r.Operator {
	case "In", "NotIn", "Exists", "DoesNotExist":
	default:
		if !f.Bad {
			f.Reader.ReportInvalid(f.At, f.At.String()+" has the operator "+r.Operator+
				", which does not exist; nothing is selected")
		}
	}
	return r
}

// ReadAdmission reads a field namespaces with the value that an absent from has (gatewayapi G5,
// G14); otherwise says what any other value comes to. None can be written only where it is the
// default.
func (f *Fields) ReadAdmission(absent, otherwise string) selector.Admission {
	a := selector.Admission{From: f.ReadTextOr("from", absent)}
	switch {
	case f.Bad, a.From == "All", a.From == "Same", a.From == absent:
	case a.From != "Selector":
		at, values := f.At.AtField("from"), "All, Same and Selector"
		if absent == "None" {
			values = "All, Same, Selector and None"
		}
		f.Reader.ReportInvalid(at, at.String()+" is "+a.From+", which is none of "+values+"; "+otherwise)
	case f.HasField("selector"): // an absent selector selects nothing, as everywhere in Kubernetes
		selector := f.ReadObject("selector")
		a.Selector = selector.readSelector()
		f.Bad = f.Bad || selector.Bad
	}
	return a
}

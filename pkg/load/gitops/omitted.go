package gitops

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// omission is why sources were not rendered.
type omission struct {
	kind, why, hint string
	sources         []deployer
	origin          model.Origin
	informative     bool                           // the answer stands
	inPart          bool                           // they were rendered, but not wholly
	isWhole         bool                           // no object is left out
	isRefused       bool                           // the tool that deploys it refuses it
	kindsOf         map[deployer][]model.GroupKind // of what is left out, where it is known
}

// deployer is something that has objects deployed: a source, a kustomization or a chart.
type deployer interface {
	fmt.Stringer
	// targetNamespace is where the objects go; "" where that is not known
	targetNamespace() string
}

// partOf is a kustomization that is built without a part.
type partOf struct{ name, namespace string }

func (p partOf) String() string          { return p.name }
func (p partOf) targetNamespace() string { return p.namespace }

// explainOmission says of the sources what was not done, behind their names.
func (o *omission) explainOmission() string {
	if o.inPart {
		return "is rendered in part: " + o.why
	}
	return "is not rendered: " + o.why
}

// omissions are what was left out of a reading.
type omissions struct {
	omitted []*omission
	remarks []model.Problem // about what was followed
}

// addOmitted notes that a source was not rendered.
func (r *omissions) addOmitted(l *gitopsSource, why, hint string) {
	r.addOmission(omission{kind: l.kind, why: why, hint: hint, origin: l.origin}, l)
}

// addPartlyOmitted notes that a source was not rendered wholly.
func (r *omissions) addPartlyOmitted(l *gitopsSource, why, hint string) {
	r.addOmission(omission{kind: l.kind, why: why, hint: hint, origin: l.origin, inPart: true}, l)
}

// addPartlyKnown notes that of what a source makes every object is read, but not all that is in it.
func (r *omissions) addPartlyKnown(l *gitopsSource, why, hint string) {
	r.addOmission(omission{kind: l.kind, why: why, hint: hint, origin: l.origin, inPart: true, isWhole: true}, l)
}

// addOmission notes that something is left out, which makes objects of the given kinds; none: of
// any.
func (r *omissions) addOmission(o omission, which deployer, kinds ...model.GroupKind) {
	i := slices.IndexFunc(r.omitted, func(other *omission) bool {
		return other.kind == o.kind && other.why == o.why && other.inPart == o.inPart
	})
	if i < 0 {
		i = len(r.omitted)
		r.omitted = append(r.omitted, &o)
		o.kindsOf = map[deployer][]model.GroupKind{}
	}
	all := r.omitted[i]
	if before, known := all.kindsOf[which]; known && len(kinds) > 0 {
		all.kindsOf[which] = append(before, kinds...)
	} else if !slices.Contains(all.sources, which) && len(kinds) > 0 {
		all.kindsOf[which] = kinds
	} else {
		delete(all.kindsOf, which)
	}
	if !slices.Contains(all.sources, which) {
		all.sources = append(all.sources, which)
	}
}

// What is said of kustomizations that nothing deploys and that another program makes.
const (
	templateNotRendered = "a template is not rendered, which makes the kustomization or what it names"
	templateHint        = "read what the program makes that renders it"
)

const lostObjectHint = "quote what a variable stands in, or give it a value: --substitute NAME=VALUE"

// addMissingParts tells what a build went without.
// What something outside of a kustomization adds to it stands in the source.
// An object that cannot be read is a mistake where all values are known.
func (r *omissions) addMissingParts(lacks []kustomize.MissingPart, by *gitopsSource, isKnown bool) {
	for _, l := range lacks {
		if l.Origin.File == "" && by != nil {
			l.Origin = by.origin
		}
		// what a source deploys is refused in the cluster too
		if l.IsTemplate && by == nil {
			l.Why, l.Hint, l.IsRefused = templateNotRendered, templateHint, false
		}
		if l.IsObject && by != nil {
			r.addOmission(omission{kind: by.kind, why: l.Why, hint: lostObjectHint, origin: l.Origin, inPart: true,
				isRefused: isKnown}, by)
			continue
		}
		r.addOmission(omission{kind: "kustomization", why: l.Why, hint: l.Hint, origin: l.Origin,
			inPart: !l.IsNotBuilt, isWhole: l.ChangesOnly, isRefused: l.IsRefused,
			// what is left out is told for itself
			informative: l.ChangesOnly && !l.IsRefused},
			partOf{l.Kustomization.String(), l.Namespace}, l.Kinds...)
	}
}

// toProblem returns one problem for all that were not rendered for one reason.
func (o *omission) toProblem() model.Problem {
	var names []string
	for _, w := range o.sources {
		name := w.String()
		if at := strings.IndexAny(name, " /"); at > 0 { // the kind is said before
			name = name[at+1:]
		}
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	not := "not rendered"
	if o.inPart {
		not = "rendered in part"
	}
	message := fmt.Sprintf("%s %s", o.sources[0], o.explainOmission())
	if n := len(names); n > 1 {
		message = fmt.Sprintf("%d %ss are %s: %s (%s)", n, path.Base(o.kind), not, o.why, shortenNames(names))
	}
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: message, Hint: o.hint}
	switch {
	case o.informative:
		p.Severity = model.Info
	case o.isRefused:
		p.Severity = model.Error
	}
	if o.origin.File != "" {
		p.Origin = &o.origin
	}
	return p
}

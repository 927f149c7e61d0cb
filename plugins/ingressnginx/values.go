package ingressnginx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// valueState is what there is of an annotation.
type valueState int

const (
	absent  valueState = iota
	blank              // it is there, and its value is no value of its type
	invalid            // its value may not be written
	present
)

// annotationReader reads the annotations of one Ingress as the controller does, and notes what is wrong with
// them.
type annotationReader struct {
	ingress   *model.Object
	control   *controller
	dropped   string   // why the controller ignores the Ingress; "": it does not
	denied    string   // why its locations answer 503; "": they do not
	unknown   string   // why it is not known what its locations do
	notes     []string // what is not in the input
	openedBy  string   // the annotation whose value takes external authentication away
	valuesBad []string // annotations whose values do not count
}

// fullName is the name of an annotation with its prefix.
func (v *annotationReader) fullName(name string) string { return v.control.prefix + "/" + name }

// formatName is how sentences formatName an annotation of the Ingress.
func (v *annotationReader) formatName(annotation string) string {
	return annotation + " of Ingress " + v.ingress.Ref.FullName()
}

// findValue returns the value of an annotation, or of its alias, and its name.
func (v *annotationReader) findValue(name string) (value, by string, state valueState) {
	by = name
	value, there := v.ingress.Annotations[v.fullName(name)]
	rule, _ := findAnnotationRule(name)
	if value == "" && rule.alias != "" {
		if other := v.ingress.Annotations[v.fullName(rule.alias)]; other != "" {
			value, by, there = other, rule.alias, true
		}
	}
	switch {
	case !there:
		return "", by, absent
	case value != "" && v.control.validates && rule.valid != nil && !rule.valid(value):
		v.valuesBad = append(v.valuesBad, by)
		return "", by, invalid
	}
	return value, by, present
}

// readText reads an annotation of which any readText is a value but a blank one.
func (v *annotationReader) readText(name string) (string, valueState) {
	value, _, state := v.findValue(name)
	if state != present {
		return "", state
	}
	lines := strings.Split(value, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if value = strings.Join(lines, "\n"); value == "" {
		return "", blank
	}
	return value, present
}

// readBoolean reads an annotation that is true or false.
func (v *annotationReader) readBoolean(name string) (bool, valueState) {
	value, _, state := v.findValue(name)
	if state != present {
		return false, state
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, blank
	}
	return b, present
}

// booleanOr is boolean, or a default.
func (v *annotationReader) booleanOr(name string, otherwise bool) bool {
	if b, state := v.readBoolean(name); state == present {
		return b
	}
	return otherwise
}

// readInteger reads an annotation that is a number.
func (v *annotationReader) readInteger(name string) (int, valueState) {
	value, _, state := v.findValue(name)
	if state != present {
		return 0, state
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, blank
	}
	return n, present
}

// integerOr is integer, or a default.
func (v *annotationReader) integerOr(name string, otherwise int) int {
	if n, state := v.readInteger(name); state == present {
		return n
	}
	return otherwise
}

// dropIngress notes that the controller ignores the Ingress. The first reason counts.
func (v *annotationReader) dropIngress(annotation string) {
	if v.dropped == "" {
		v.dropped = v.formatName(annotation) + " has a value that is not valid"
	}
}

// denyPaths notes that the locations of the Ingress answer 503. The first reason counts.
func (v *annotationReader) denyPaths(annotation, format string, args ...any) {
	if v.denied == "" {
		v.denied = v.formatName(annotation) + " " + fmt.Sprintf(format, args...)
	}
}

// leaveOpen notes that it is not known what the locations of the Ingress do. The first reason counts.
func (v *annotationReader) leaveOpen(annotation, format string, args ...any) {
	if v.unknown == "" {
		v.unknown = v.formatName(annotation) + " " + fmt.Sprintf(format, args...)
	}
}

// findReferenced finds the Secret or ConfigMap that an annotation names. Where it is not in the input, and the
// input may not show all, what the Ingress does is not known; what is missing is noted.
func (v *annotationReader) findReferenced(annotation, kind, namespace, name string) (o *model.Object, known bool) {
	ref := model.Ref{Kind: kind, Namespace: namespace, Name: name}
	if o = v.control.in.Get(ref); o != nil {
		return o, true
	}
	if e := v.control.in.FindExistence(ref); !e.IsAbsent() {
		v.leaveOpen(annotation, "names the %s %s, which is not in the input", kind, ref.FullName())
		return nil, false
	}
	v.notes = append(v.notes, fmt.Sprintf("%s names the %s %s, which is not in the input", v.formatName(annotation), kind,
		ref.FullName()))
	return nil, true
}

// splitName reads NAMESPACE/NAME or NAME.
func splitName(text, namespace string) (ns, name string, ok bool) {
	first, second, found := strings.Cut(text, "/")
	switch {
	case !found:
		return namespace, text, true
	case strings.Contains(second, "/"):
		return "", "", false
	case first == "":
		return namespace, second, true
	}
	return first, second, true
}

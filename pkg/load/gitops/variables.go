package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

// What variables may cost: bytes of one value, and bytes that all in one object may be replaced by.
const (
	maxVariableBytes = 16 << 10
	maxReplacedBytes = 64 << 20
)

// variables replace ${NAME} in what is built, as Flux does.
type variables struct {
	values                      map[string]string
	replaceAlways               bool            // replace even if there are none
	hidden                      map[string]bool // those whose values are not read: they stay as they stand
	incomplete                  bool            // there are others, which are not known: they stay as they stand
	hiddenUsed                  bool            // a hidden one was used
	unknownUsed                 bool            // one of those others was used
	lacksSecret, lacksConfigMap bool            // what would have them
	differs                     bool            // some are hidden because a ConfigMap is there in several versions
	secretMissing               bool            // a Secret that may be missing is not in the input: it counts as missing
	missingUsed                 bool            // something was asked for that this Secret may have
	unset                       map[string]bool // those that were asked for and are not set
}

// setValue gives a variable a value. As with hideValue, what is said last counts.
func (v *variables) setValue(name, value string) {
	v.values[name] = strings.ReplaceAll(value, "\n", "")
	delete(v.hidden, name)
}

// hideValue has a variable stay as it stands.
func (v *variables) hideValue(name string) {
	v.hidden[name] = true
	delete(v.values, name)
}

// hasAny reports whether there is anything to replace.
func (v *variables) hasAny() bool {
	return len(v.values)+len(v.hidden) > 0 || v.replaceAlways || v.incomplete
}

var variablePattern = regexp.MustCompile("^[_[:alpha:]][_[:alpha:][:digit:]]*$")

// replaceVariables returns a document of YAML with values in the place of variables, as JSON.
func (v *variables) replaceVariables(text []byte) ([]byte, error) {
	longest := 0
	for name, value := range v.values {
		switch longest = max(longest, len(value)); {
		case !variablePattern.MatchString(name):
			return nil, fmt.Errorf("%q cannot be the name of a variable", name)
		case len(value) > maxVariableBytes:
			return nil, fmt.Errorf("the variable %s is longer than %d bytes", name, maxVariableBytes)
		}
	}
	if bytes.Count(text, []byte("$"))*longest > maxReplacedBytes {
		return nil, errors.New("it would grow beyond the limit with its variables")
	}
	out, err := envsubst.Eval(string(text), func(name string) (string, bool) {
		value, set := v.values[name]
		v.missingUsed = v.missingUsed || v.secretMissing && !set && !v.hidden[name]
		switch {
		case v.hidden[name]:
			v.hiddenUsed = true
			return "${" + name + "}", true
		case !set && v.incomplete:
			v.unknownUsed = true
			return "${" + name + "}", true
		case !set:
			return "", false
		}
		return value, true
	})
	if err != nil && strings.Contains(err.Error(), "variable not set") {
		out, err = envsubst.Eval(string(text), func(name string) (string, bool) {
			if v.hidden[name] {
				return "${" + name + "}", true
			}
			if _, set := v.values[name]; !set {
				v.unset[name] = true
			}
			return v.values[name], true
		})
	}
	if err != nil {
		return nil, fmt.Errorf("its variables cannot be replaced: %w", err)
	}
	asJSON, err := yaml.YAMLToJSON([]byte(out))
	if err != nil {
		return nil, fmt.Errorf("with its variables replaced it is no YAML: %w", err)
	}
	return asJSON, nil
}

// postBuild is what is done to every object after a build.
type postBuild struct {
	variables           *variables // nil: none are replaced
	labels, annotations map[string]string
}

const substituteLabel = "kustomize.toolkit.fluxcd.io/substitute"

// objectText returns an object as JSON when all is done.
func (f *postBuild) objectText(o *resource.Resource) ([]byte, error) {
	off := o.GetLabels()[substituteLabel] == "disabled" || o.GetAnnotations()[substituteLabel] == "disabled"
	if v := f.variables; v != nil && !off && v.hasAny() {
		text, err := o.AsYAML()
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("$")) {
			if text, err = v.replaceVariables(text); err != nil {
				return nil, err
			}
			if err := o.UnmarshalJSON(text); err != nil {
				return nil, err
			}
		}
	}
	add := func(more, there map[string]string, set func(map[string]string) error) error {
		if len(more) == 0 {
			return nil
		}
		if there == nil {
			there = map[string]string{}
		}
		maps.Copy(there, more)
		return set(there)
	}
	if err := add(f.labels, o.GetLabels(), func(m map[string]string) error { return o.SetLabels(m) }); err != nil {
		return nil, err
	}
	if err := add(f.annotations, o.GetAnnotations(),
		func(m map[string]string) error { return o.SetAnnotations(m) }); err != nil {
		return nil, err
	}
	return o.MarshalJSON()
}

// knowsAll reports whether the values of all variables are known.
func (f *postBuild) knowsAll() bool {
	return f == nil || f.variables == nil || !f.variables.incomplete && !f.variables.secretMissing &&
		len(f.variables.hidden) == 0
}

// unsetMessage says which variables were replaced by nothing, for people; it is "" if none were.
func (f *postBuild) unsetMessage() string {
	if f == nil || f.variables == nil || len(f.variables.unset) == 0 {
		return ""
	}
	names := strings.Join(slices.Sorted(maps.Keys(f.variables.unset)), ", ")
	return "does not set " + names + ": nothing is put in the place of such variables"
}

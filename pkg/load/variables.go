package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What variables may cost: bytes of one value, and bytes that all in one object may be replaced by.
const (
	maxValue    = 16 << 10
	maxReplaced = 64 << 20
)

// variables replace ${NAME} in what is built, as Flux does.
type variables struct {
	values map[string]string
	always bool            // replace even if there are none
	hidden map[string]bool // those whose values are not read: they stay as they stand
	open   bool            // there are others, which are not known: what is not among these stays as it stands
	asked  bool            // for one that is hidden
	maybe  bool            // a Secret that may be missing is not in the input: it counts as missing
	missed bool            // something was asked for that this Secret may have
	unset  map[string]bool // those that were asked for and are not set
}

// set gives a variable a value. As with hide, what is said last counts.
func (v *variables) set(name, value string) {
	v.values[name] = strings.ReplaceAll(value, "\n", "")
	delete(v.hidden, name)
}

// hide has a variable stay as it stands.
func (v *variables) hide(name string) {
	v.hidden[name] = true
	delete(v.values, name)
}

// some reports whether there is anything to replace.
func (v *variables) some() bool { return len(v.values)+len(v.hidden) > 0 || v.always || v.open }

var variableName = regexp.MustCompile("^[_[:alpha:]][_[:alpha:][:digit:]]*$")

// replace is a document of YAML with values in the place of variables, as JSON.
func (v *variables) replace(text []byte) ([]byte, error) {
	longest := 0
	for name, value := range v.values {
		switch longest = max(longest, len(value)); {
		case !variableName.MatchString(name):
			return nil, fmt.Errorf("%q cannot be the name of a variable", name)
		case len(value) > maxValue:
			return nil, fmt.Errorf("the variable %s is longer than %d bytes", name, maxValue)
		}
	}
	if bytes.Count(text, []byte("$"))*longest > maxReplaced {
		return nil, errors.New("it would grow beyond the limit with its variables")
	}
	out, err := envsubst.Eval(string(text), func(name string) (string, bool) {
		value, set := v.values[name]
		v.missed = v.missed || v.maybe && !set && !v.hidden[name]
		switch {
		case v.hidden[name]:
			v.asked = true
			return "${" + name + "}", true
		case !set && v.open:
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
	return yaml.YAMLToJSON([]byte(out))
}

// finish is what is done to every object after a build.
type finish struct {
	vars                *variables // nil: none are replaced
	labels, annotations map[string]string
}

const substituteSwitch = "kustomize.toolkit.fluxcd.io/substitute"

// text is an object as JSON when all is done.
func (f *finish) text(o *resource.Resource) ([]byte, error) {
	off := o.GetLabels()[substituteSwitch] == "disabled" || o.GetAnnotations()[substituteSwitch] == "disabled"
	if v := f.vars; v != nil && !off && v.some() {
		text, err := o.AsYAML()
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("$")) {
			if text, err = v.replace(text); err != nil {
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
	if err := add(f.annotations, o.GetAnnotations(), func(m map[string]string) error { return o.SetAnnotations(m) }); err != nil {
		return nil, err
	}
	return o.MarshalJSON()
}

// told is which variables were replaced by nothing, for people; "" if none were.
func (f *finish) told() string {
	if f == nil || f.vars == nil || len(f.vars.unset) == 0 {
		return ""
	}
	names := strings.Join(slices.Sorted(maps.Keys(f.vars.unset)), ", ")
	return "does not set " + names + ": nothing is put in the place of such variables"
}

// known is what was read up to now, with the ConfigMaps and Secrets in it.
type known struct {
	pieces    []piece
	reads     *walk
	namespace string // of objects without one
	upTo      int
	data      map[string]map[string]string
	secrets   map[string]map[string]bool // the keys of each, without values
}

// configMap is the data of a ConfigMap that was read; nil if none was.
func (r *known) configMap(namespace, name string) map[string]string {
	r.index()
	return r.data[namespace+"/"+name]
}

// secretKeys are the keys of a Secret that was read; nil if none was. They can be read where the values are encrypted.
func (r *known) secretKeys(namespace, name string) map[string]bool {
	r.index()
	return r.secrets[namespace+"/"+name]
}

func (r *known) holdsSecret(namespace, name string) bool { return r.secretKeys(namespace, name) != nil }

func (r *known) index() {
	if r.data == nil {
		r.data, r.secrets = map[string]map[string]string{}, map[string]map[string]bool{}
	}
	for ; r.upTo < len(r.pieces); r.upTo++ {
		p := r.pieces[r.upTo]
		if !bytes.Contains(p.text, []byte("ConfigMap")) && !bytes.Contains(p.text, []byte("Secret")) {
			continue
		}
		docs, failed := r.reads.parse(p.text)
		if failed != nil {
			continue
		}
		for _, doc := range docs {
			for _, v := range items(doc.value) {
				if model.Text(v, "apiVersion") != "v1" {
					continue
				}
				id := cmp.Or(model.Text(v, "metadata", "namespace"), p.namespace, r.namespace, "default") + "/" + model.Text(v, "metadata", "name")
				switch model.Text(v, "kind") {
				case "ConfigMap":
					r.data[id] = textsAt(v, "data")
				case "Secret":
					if r.secrets[id] == nil {
						r.secrets[id] = map[string]bool{}
					}
					for _, field := range []string{"data", "stringData"} {
						m, _ := model.Get(v, field).(map[string]any)
						for key := range m {
							r.secrets[id][key] = true
						}
					}
				}
			}
		}
	}
}

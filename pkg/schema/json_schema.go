package schema

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// SchemaFolder is a catalogue of JSON schemas in files GROUP/KIND_VERSION.json, with the kind in
// lower case: the layout of the well-known catalogues of CustomResourceDefinitions.
type SchemaFolder struct {
	Name  string // as the user named it
	Files fs.FS
}

// readJSONSchema returns the definition of a kind in one version, or nil if no folder has it.
func (a *Admission) readJSONSchema(gk model.GroupKind, apiVersion string) *definition {
	file := path.Join(gk.Group, strings.ToLower(gk.Kind)+"_"+apiVersion+".json")
	if !fs.ValidPath(file) {
		return nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if d, read := a.fromJSON[file]; read {
		return d
	}
	a.fromJSON[file] = nil
	for _, folder := range a.options.Folders {
		text, err := fs.ReadFile(folder.Files, file)
		if err != nil {
			continue
		}
		d := &definition{kind: gk, file: path.Join(folder.Name, file), namespaced: true,
			versions: map[string]*version{}}
		v := &version{definition: d, name: apiVersion, dropsStatus: true}
		d.versions[apiVersion] = v
		var s any
		if err := json.Unmarshal(text, &s); err != nil {
			v.unreadable = fmt.Errorf("it is no JSON: %w", err)
		}
		toStructural(s)
		v.body = model.Pack(map[string]any{"schema": map[string]any{"openAPIV3Schema": normalizeNumbers(s)}}, nil)
		a.fromJSON[file] = d
		return d
	}
	return nil
}

// toStructural makes a JSON schema what a definition has: without what catalogues add to find
// unknown fields, and with numbers or strings as Kubernetes writes them.
func toStructural(v any) {
	switch t := v.(type) {
	case map[string]any:
		if _, isObject := t["properties"]; isObject && t["additionalProperties"] == false {
			delete(t, "additionalProperties")
		}
		if t["format"] == "int-or-string" || t["x-kubernetes-int-or-string"] == true {
			for _, key := range []string{"format", "type", "oneOf", "anyOf"} {
				delete(t, key)
			}
			t["x-kubernetes-int-or-string"] = true
		}
		delete(t, "$schema")
		for _, inner := range t {
			toStructural(inner)
		}
	case []any:
		for _, inner := range t {
			toStructural(inner)
		}
	}
}

package gitops

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// manifestIndex is the documents that were read up to now, with the ConfigMaps and Secrets in them.
type manifestIndex struct {
	documents     []document.Raw
	free          []int // those that no source deploys
	limits        document.Limits
	namespace     string // of objects without one
	indexed       int
	configMapData map[string]map[string]string
	keysOfSecrets map[string]map[string]bool // the keys of each, without values
	differing     map[string]map[string]bool // keys of ConfigMaps that are there in several versions
	usedMaps      map[string]int             // how many values of a ConfigMap were known to differ when it was used

	known                             *foundValues    // what was found late when the input was rendered before
	missingConfigMaps, missingSecrets map[string]bool // those that were asked for in vain
}

// foundValues are the values of ConfigMaps and the keys of Secrets, by NAMESPACE/NAME.
type foundValues struct {
	configMaps map[string]map[string]string
	secrets    map[string]map[string]bool
	differing  map[string]map[string]bool // keys of ConfigMaps that are there in several versions
}

// findConfigMap returns the data of a ConfigMap that was read; nil if none was.
func (r *manifestIndex) findConfigMap(namespace, name string) map[string]string {
	r.updateIndex()
	id := namespace + "/" + name
	if r.configMapData[id] == nil && r.known != nil {
		return r.known.configMaps[id]
	}
	return r.configMapData[id]
}

// noteUsed notes that a ConfigMap was used when so many of its values were known to differ.
func (r *manifestIndex) noteUsed(namespace, name string, differing int) {
	if r.usedMaps == nil {
		r.usedMaps = map[string]int{}
	}
	r.usedMaps[namespace+"/"+name] = differing
}

// noteMissing notes that what holds values was asked for in vain.
func (r *manifestIndex) noteMissing(kind, namespace, name string) {
	if r.missingConfigMaps == nil {
		r.missingConfigMaps, r.missingSecrets = map[string]bool{}, map[string]bool{}
	}
	switch kind {
	case "ConfigMap":
		r.missingConfigMaps[namespace+"/"+name] = true
	case "Secret":
		r.missingSecrets[namespace+"/"+name] = true
	}
}

// findLate returns what was asked for in vain and was found later, with what was known before; nil
// if nothing was.
func (r *manifestIndex) findLate() *foundValues {
	r.updateIndex()
	out := &foundValues{configMaps: map[string]map[string]string{}, secrets: map[string]map[string]bool{}}
	for id := range r.missingConfigMaps {
		if data := r.configMapData[id]; data != nil {
			out.configMaps[id] = data
		}
	}
	for id := range r.missingSecrets {
		if keys := r.keysOfSecrets[id]; keys != nil {
			out.secrets[id] = keys
		}
	}
	late := false
	for id, known := range r.usedMaps {
		late = late || len(r.differing[id]) > known
	}
	if len(out.configMaps)+len(out.secrets) == 0 && !late {
		return nil
	}
	out.differing = r.differing
	if r.known != nil {
		maps.Copy(out.configMaps, r.known.configMaps)
		maps.Copy(out.secrets, r.known.secrets)
	}
	return out
}

// noteDifferences notes the values of a ConfigMap that is there in several versions, which are not
// known.
func (r *manifestIndex) noteDifferences(id string, a, b map[string]string) {
	if r.differing == nil {
		r.differing = map[string]map[string]bool{}
	}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))) {
		one, inOne := a[key]
		other, inOther := b[key]
		if one == other && inOne == inOther {
			continue
		}
		if r.differing[id] == nil {
			r.differing[id] = map[string]bool{}
		}
		r.differing[id][key] = true
	}
}

// differingKeys returns the keys of a ConfigMap whose values are not known, as it is there in several
// versions.
func (r *manifestIndex) differingKeys(namespace, name string) map[string]bool {
	r.updateIndex()
	id := namespace + "/" + name
	if r.differing[id] == nil && r.known != nil {
		return r.known.differing[id]
	}
	return r.differing[id]
}

// findSecretKeys returns the keys of a Secret that was read; nil if none was. They can be read
// where the values are encrypted.
func (r *manifestIndex) findSecretKeys(namespace, name string) map[string]bool {
	r.updateIndex()
	id := namespace + "/" + name
	if r.keysOfSecrets[id] == nil && r.known != nil {
		return r.known.secrets[id]
	}
	return r.keysOfSecrets[id]
}

func (r *manifestIndex) hasSecret(namespace, name string) bool {
	return r.findSecretKeys(namespace, name) != nil
}

func (r *manifestIndex) updateIndex() {
	if r.configMapData == nil {
		r.configMapData, r.keysOfSecrets = map[string]map[string]string{}, map[string]map[string]bool{}
	}
	for ; r.indexed < len(r.documents); r.indexed++ {
		p := r.documents[r.indexed]
		if !bytes.Contains(p.Text, []byte("ConfigMap")) && !bytes.Contains(p.Text, []byte("Secret")) {
			continue
		}
		objects, _ := document.ListObjects(p.Text, r.limits)
		for _, o := range objects {
			r.addValues(r.fullNameOf(p, o.Value), o.Value)
		}
	}
}

// fullNameOf is the namespace and the name of an object of a document.
func (r *manifestIndex) fullNameOf(p document.Raw, v any) string {
	return cmp.Or(model.Text(v, "metadata", "namespace"), p.Namespace, r.namespace, "default") + "/" +
		model.Text(v, "metadata", "name")
}

// addValues adds what an object has of variables, if it is a ConfigMap or a Secret.
func (r *manifestIndex) addValues(id string, v any) {
	if model.Text(v, "apiVersion") != "v1" {
		return
	}
	switch model.Text(v, "kind") {
	case "ConfigMap":
		data := textMapAt(v, "data")
		if before := r.configMapData[id]; before != nil {
			r.noteDifferences(id, before, data)
		}
		r.configMapData[id] = data
	case "Secret":
		if r.keysOfSecrets[id] == nil {
			r.keysOfSecrets[id] = map[string]bool{}
		}
		for _, field := range []string{"data", "stringData"} {
			for key := range model.Map(v, field) {
				r.keysOfSecrets[id][key] = true
			}
		}
	}
}

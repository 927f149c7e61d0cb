package draw

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Object is a Kubernetes object as JSON has it.
type Object = map[string]any

// Manifests writes objects as YAML documents.
func Manifests(objects []Object) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing object %d: %w", i, err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

package campaign

import (
	"fmt"
	"os"
	"regexp"

	"sigs.k8s.io/yaml"
)

// classesFile lists what is known.
const classesFile = "classes.yaml"

// Class is a sort of difference that is known and explained.
type Class struct {
	Peer      string `json:"peer"`
	Signature string `json:"signature"` // a regular expression for whole signatures
	Reason    string `json:"reason"`
	Where     string `json:"where"` // where the vendor's code or the specification says so

	pattern *regexp.Regexp
}

// ReadClasses reads the classes of the comparison in whose folder the program runs.
func ReadClasses() ([]Class, error) {
	text, err := os.ReadFile(classesFile)
	if err != nil {
		return nil, err
	}
	var out []Class
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		return nil, fmt.Errorf("reading %s: %w", classesFile, err)
	}
	for i := range out {
		if out[i].Reason == "" || out[i].Peer == "" {
			return nil, fmt.Errorf("%s: class %d needs a peer and a reason", classesFile, i+1)
		}
		if out[i].pattern, err = regexp.Compile("^(?:" + out[i].Signature + ")$"); err != nil {
			return nil, fmt.Errorf("%s: class %d: %w", classesFile, i+1, err)
		}
	}
	return out, nil
}

// findClass returns the class that explains a signature, or nil.
func findClass(known []Class, peer, signature string) *Class {
	for i := range known {
		if known[i].Peer == peer && known[i].pattern.MatchString(signature) {
			return &known[i]
		}
	}
	return nil
}

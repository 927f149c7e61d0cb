package main

import (
	"fmt"
	"os"
	"regexp"

	"sigs.k8s.io/yaml"
)

// classesFile lists what is known.
const classesFile = "classes.yaml"

// class is a sort of difference that is known and explained.
type class struct {
	Peer      string `json:"peer"`
	Signature string `json:"signature"` // a regular expression for whole signatures
	Reason    string `json:"reason"`
	Where     string `json:"where"` // where the vendor's code or the specification says so

	pattern *regexp.Regexp
}

func readClasses() ([]class, error) {
	text, err := os.ReadFile(classesFile)
	if err != nil {
		return nil, err
	}
	var out []class
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

// explained is the class that explains a signature, or nil.
func explained(known []class, peer, signature string) *class {
	for i := range known {
		if known[i].Peer == peer && known[i].pattern.MatchString(signature) {
			return &known[i]
		}
	}
	return nil
}

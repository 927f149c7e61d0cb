package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// object is a Kubernetes object as JSON has it.
type object = draw.Object

// input is what both sides are asked about. It follows from its seed alone.
type input struct {
	Seed      int64      `json:"seed"`
	Objects   []object   `json:"objects"`
	Questions []question `json:"questions,omitempty"`
	// Definitions are texts of CustomResourceDefinitions by which the objects are judged, for peers that judge them.
	Definitions []string `json:"definitions,omitempty"`
	// Settings are what the vendor's controller is started with, by the names of the program's vendor settings.
	Settings map[string]string `json:"settings,omitempty"`
}

// question is a connection that is asked about, for peers that answer questions.
type question struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Protocol string `json:"protocol"`
	Port     int    `json:"port"`
}

func (q question) String() string {
	return fmt.Sprintf("%s -> %s %s/%d", q.From, q.To, q.Protocol, q.Port)
}

// manifests writes the objects as YAML documents.
func (in *input) manifests() ([]byte, error) {
	text, err := draw.Manifests(in.Objects)
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w", in.Seed, err)
	}
	return text, nil
}

// has reports whether there are objects of a kind.
func (in *input) has(kind string) bool {
	return slices.ContainsFunc(in.Objects, func(o object) bool { return o["kind"] == kind })
}

// clone is a deep copy, for reducing.
func (in *input) clone() (*input, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	out := &input{}
	return out, json.Unmarshal(text, out)
}

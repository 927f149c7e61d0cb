// Command apiserver answers inputs with a kube-apiserver: what it says of each object, and what it would store of those that it takes. It reads
// an input a line and writes an answer a line; both are described in the folder above, in input.go and program/process.go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dopolicy/kubectl-dopolicy/test/cluster"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
)

func main() {
	ctx := context.Background()
	trial, err := cluster.StartTrial(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver peer:", err)
		os.Exit(1)
	}
	defer trial.Stop()
	installed := map[string]bool{}
	serve.Answers(func(line []byte) (map[string]string, error) { return answer(ctx, trial, installed, line) })
}

// answer answers one input: "schema KIND NAME" has the messages, or "accepted", "stored KIND NAME" the object.
func answer(ctx context.Context, trial *cluster.Trial, installed map[string]bool, line []byte) (map[string]string, error) {
	var in struct {
		Definitions []string
		Objects     []map[string]any
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	for _, text := range in.Definitions {
		if installed[text] {
			continue
		}
		if err := trial.Install(text); err != nil {
			return nil, err
		}
		installed[text] = true
	}
	facts := map[string]string{}
	for _, o := range in.Objects {
		object := &unstructured.Unstructured{Object: o}
		stored, messages, err := trial.Create(ctx, object)
		if err != nil {
			return nil, err
		}
		of := object.GetKind() + " " + object.GetName()
		facts["schema "+of] = "accepted"
		if len(messages) > 0 {
			facts["schema "+of] = strings.Join(messages, "; ")
		}
		if stored == nil {
			continue
		}
		text, err := json.Marshal(stored)
		if err != nil {
			return nil, err
		}
		facts["stored "+of] = strconv.Quote(string(text)) // as text: what is empty in an object means something
	}
	return facts, nil
}

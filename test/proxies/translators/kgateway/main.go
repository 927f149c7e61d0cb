// Command kgateway translates inputs with kgateway's translator: what it tells the Envoy of every Gateway. It reads an input a line and writes an
// answer a line, as README.md of the folder above says.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	istiolog "istio.io/istio/pkg/log"
	apiserverschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/klog/v2"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve/envoy"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient/fake"
	"github.com/kgateway-dev/kgateway/v2/pkg/logging"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

func main() {
	quiet()
	scheme := translator.NewScheme(nil)
	serve.Answers(func(line []byte) (map[string]string, error) { return answer(line, scheme) })
}

// quiet drops what the controller logs: routes that it replaces are facts, not errors.
func quiet() {
	const nothing = slog.LevelError + 1
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	logging.Reset(nothing)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	for _, scope := range istiolog.Scopes() {
		scope.SetOutputLevel(istiolog.NoneLevel)
	}
}

// answer answers one input, in a goroutine of its own: tests that fail end theirs. A panic of the code that is asked is an input that it
// refuses.
func answer(line []byte, scheme *runtime.Scheme) (facts map[string]string, err error) {
	var in struct{ Objects []json.RawMessage }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	err = fmt.Errorf("the translator gave up")
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		facts, err = translate(in.Objects, scheme)
	}()
	<-done
	return facts, err
}

// translate has the translator of the released tests translate the objects.
func translate(objects []json.RawMessage, scheme *runtime.Scheme) (map[string]string, error) {
	folder, err := os.MkdirTemp("", "kgateway-translator-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "input.yaml")
	if err := os.WriteFile(file, bytes.Join(asBytes(objects), []byte("\n---\n")), 0o600); err != nil {
		return nil, err
	}
	ages, err := created(objects)
	if err != nil {
		return nil, err
	}
	extra := translator.ExtraConfig{
		// The tests make every object younger than the one before it; here objects are as old as they say.
		NewClientFn: func(t *testing.T, all ...client.Object) apiclient.Client {
			if len(all) != len(objects) {
				panic("an object cannot be read") // of which the tests only warn
			}
			for _, o := range all {
				o.SetCreationTimestamp(ages[key{o.GetObjectKind().GroupVersionKind().Kind, o.GetNamespace(), o.GetName()}])
			}
			return fake.NewClient(t, all...)
		},
		// No schemas: inputs write out what the API server would add.
		GVKToStructuralSchema: map[schema.GroupVersionKind]*apiserverschema.Structural{{}: nil},
	}
	results, err := translator.TestCase{InputFiles: []string{file}}.Run(new(testing.T), context.Background(), scheme, extra)
	if err != nil {
		return nil, err
	}
	facts := map[string]string{}
	for gateway, result := range results {
		clusters := append(result.Clusters, result.Proxy.ExtraClusters...)
		assignments, err := endpoints(clusters, objects)
		if err != nil {
			return nil, err
		}
		config := envoy.Config{
			Listeners: written(result.Proxy.Listeners), Routes: written(result.Proxy.Routes), Clusters: written(clusters),
			Endpoints: written(assignments), Secrets: written(result.Proxy.Secrets),
		}
		if err := config.Note(facts, gateway.String()); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// written writes messages in protojson form.
func written[M proto.Message](all []M) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range all {
		text, err := protojson.Marshal(m)
		if err != nil {
			panic(err) // of an extension that is not linked in
		}
		out = append(out, text)
	}
	return out
}

// created are the times at which objects were made.
func created(objects []json.RawMessage) (map[key]metav1.Time, error) {
	out := map[key]metav1.Time{}
	for _, text := range objects {
		var o struct {
			Kind     string
			Metadata struct {
				Namespace, Name   string
				CreationTimestamp time.Time
			}
		}
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, err
		}
		out[key{o.Kind, o.Metadata.Namespace, o.Metadata.Name}] = metav1.NewTime(o.Metadata.CreationTimestamp)
	}
	return out, nil
}

func asBytes(all []json.RawMessage) [][]byte {
	out := make([][]byte, len(all))
	for i, one := range all {
		out[i] = one
	}
	return out
}

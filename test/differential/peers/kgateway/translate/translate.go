// Package translate runs kgateway's translator over an input, as its released tests do.
package translate

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	istiolog "istio.io/istio/pkg/log"
	apiserverschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/klog/v2"

	apisettings "github.com/kgateway-dev/kgateway/v2/api/settings"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient/fake"
	"github.com/kgateway-dev/kgateway/v2/pkg/logging"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

// Quiet drops what the controller logs: routes that it replaces are facts, not errors.
func Quiet() {
	const nothing = slog.LevelError + 1
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	logging.Reset(nothing)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	for _, scope := range istiolog.Scopes() {
		scope.SetOutputLevel(istiolog.NoneLevel)
	}
}

// Objects has the translator of the released tests translate objects, in a goroutine of its own: tests that fail end theirs. A panic of the
// code that is asked is an error. The settings are those that the controller is started with.
func Objects(objects []json.RawMessage, settings map[string]string, scheme *runtime.Scheme) (results Results, err error) {
	done := make(chan struct{})
	err = fmt.Errorf("the translator gave up")
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		results, err = translated(objects, settings, scheme)
	}()
	<-done
	return results, err
}

func translated(objects []json.RawMessage, settings map[string]string, scheme *runtime.Scheme) (Results, error) {
	folder, err := os.MkdirTemp("", "kgateway-peer-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "input.yaml")
	text := bytes.Join(asBytes(objects), []byte("\n---\n"))
	if err := os.WriteFile(file, text, 0o600); err != nil {
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
	return translator.TestCase{InputFiles: []string{file}}.Run(new(testing.T), context.Background(), scheme, extra, started(settings))
}

// started is how the controller is started.
func started(settings map[string]string) translator.SettingsOpts {
	return func(s *apisettings.Settings) {
		if merge, ok := settings["policyMerge"]; ok {
			s.PolicyMerge = merge
		}
	}
}

// key names an object.
type key struct{ kind, namespace, name string }

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

// Results are what the translator made of each Gateway.
type Results = map[types.NamespacedName]translator.ActualTestResult

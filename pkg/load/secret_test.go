package load_test

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestSecrets(t *testing.T) {
	pem := "-----BEGIN CERTIFICATE-----\nSFVOVEVSMg==\n-----END CERTIFICATE-----\n"
	secret := "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nimmutable: true\nmetadata:\n  name: s\n  namespace: m\n  annotations:\n" +
		"    kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"a\":\"hunter2\"}}'\ndata:\n  a: hunter2\n  b: " +
		base64.StdEncoding.EncodeToString([]byte(pem)) +
		"\n  c: aHVudGVyMg==\n  d: null\nstringData:\n  c: hunter2\n  e: |\n    " +
		strings.ReplaceAll(pem, "\n", "\n    ") + "\n"
	list := "kind: List\nitems:\n- " + indent(secret) + "- " + indent(loadtest.Thing("a")+"spec:\n  x: 1\n")
	for _, text := range []string{secret, list, loadtest.Thing("a") + "---\n" + secret} {
		s := stdin(t, text, load.Limits{})
		o := s.Get(model.Ref{Kind: "Secret", Namespace: "m", Name: "s"})
		if o == nil || len(s.Problems) > 0 {
			t.Fatal(loadtest.Describe(s))
		}
		got := fmt.Sprint(o.Body.Value())
		want := "map[apiVersion:v1 data:map[a:map[pem:false present:true] b:map[pem:true present:true] c:map[pem:false present:true] " +
			"d:map[pem:false present:true] e:map[pem:true present:true]] kind:Secret metadata:map[name:s namespace:m] type:kubernetes.io/tls]"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if held := contents(s); strings.Contains(held, "hunter2") || strings.Contains(held, "aHVudGVyMg") ||
			strings.Contains(held, "SFVOVEVSMg") {
			t.Errorf("a value is kept: %s", held)
		}
	}
	s := stdin(t, list, load.Limits{})
	thing := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "ns", Name: "a"})
	if want := strings.Count(list, "\n"); thing.OriginOf("spec", "x").Line != want {
		t.Errorf("got %s, want line %d", thing.OriginOf("spec", "x"), want)
	}
}

func TestBrokenSecretsLeaveNothing(t *testing.T) {
	head := "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: m}\n"
	for _, text := range []string{
		head + "data:\n  a: hunter2\n  a: hunter2\n",
		head + "data:\n  a: *hunter2\n",
		head + "data:\n  a: !!int hunter2\n",
		head + "data:\n  a: @hunter2\n",
		head + "data:\n  a: [hunter2\n",
		head + "data: hunter2\nstringData: [hunter2]\n",
		head + "type: Opaque\ndata:\n  a: [hunter2]\n",
		"apiVersion: v1\nkind: Secret\ndata: {a: hunter2}\n",
		"kind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  data: {a: hunter2}\n- " + indent(loadtest.Thing("b")),
		"kind: List\nitems:\n- - kind: Secret\n    data: {a: hunter2}\n- " + indent(loadtest.Thing("b")),
		"{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"a\"}}\n{\"kind\": \"Secret\", \"data\": \"hunter2\", }\n",
	} {
		s := stdin(t, text, load.Limits{})
		if held := contents(s); strings.Contains(held, "hunter2") {
			t.Errorf("%q: a value is kept: %s", text, held)
		}
	}
}

// contents is everything that can be reached from v, as text.
func contents(v any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v", v)
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
			walk(v.Elem())
		case reflect.Interface:
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
				b.Write(v.Bytes())
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for iter := v.MapRange(); iter.Next(); {
				walk(iter.Key())
				walk(iter.Value())
			}
		case reflect.String:
			b.WriteString(v.String())
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

package schema_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// archive packs definitions as a release has them.
func archive(t *testing.T, entries map[string]string) *fstest.MapFile {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range entries {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: out.Bytes()}
}

// defined is a definition of the kind Thing whose spec has the given properties.
func defined(version, properties string) string {
	return `{"scope":"Namespaced","versions":[{"name":"` + version +
		`","served":true,"schema":{"openAPIV3Schema":{"type":"object",` +
		`"properties":{"spec":{"type":"object","properties":{` + properties + `}}}}}}]}`
}

const (
	fieldA  = `"a":{"type":"string","enum":["x"]}`
	fieldAB = `"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer","default":5}`
)

// acme is a vendor with three releases of one kind, the last one also in another channel.
func acme(t *testing.T) *schema.Catalogue {
	t.Helper()
	c, err := schema.NewCatalogue([]fs.FS{fstest.MapFS{
		"schemas/acme/1.0.0.zip": archive(t, map[string]string{"Thing.example.com": defined("v1", fieldA),
			"Old.example.com": defined("v1", fieldA)}),
		"schemas/acme/1.2.1.zip": archive(t, map[string]string{"Thing.example.com": defined("v1", fieldAB),
			"Less.example.com": defined("v1", fieldAB)}),
		"schemas/acme/1.10.0.zip": archive(t, map[string]string{"Thing.example.com": string(schema.SameAs("1.2.1")),
			"Less.example.com": defined("v1", fieldA)}),
		"schemas/acme/1.10.0-plain.zip": archive(t,
			map[string]string{"Thing.example.com": string(schema.SameAs("1.0.0"))}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.AddTypes(map[string]any{"Service": corev1.Service{}})
	return c
}

func TestFindRelease(t *testing.T) {
	c := acme(t)
	for version, want := range map[string]string{"1.2": "1.2.1", "v1.2.3": "1.2.1", "1.2.0": "", "1.10": "1.10.0",
		"1.10-plain": "1.10.0-plain", "1.3": "", "2": "", "x": "", "1.2-plain": ""} {
		got, err := c.FindRelease("acme", version)
		var unknown *schema.ReleaseError
		switch {
		case want == "" && !errors.As(err, &unknown):
			t.Errorf("%s: %v, %v", version, got, err)
		case want != "" && (err != nil || got.Name != want):
			t.Errorf("%s: %v, %v, want %s", version, got, err, want)
		}
	}
	if _, err := c.FindRelease("other", "1.0"); err == nil {
		t.Error("a vendor that nobody knows has a release")
	}
}

// admitted says what became of one Thing: its spec, or what is wrong, with the hints.
func admitted(t *testing.T, o schema.Options, object string) string {
	t.Helper()
	in := read(t, object)
	out := schema.NewAdmission(o).Admit(in, nil)
	var said []string
	for _, p := range out.Problems {
		said = append(said, p.Message+" ("+p.Hint+")")
	}
	for _, kept := range out.Objects {
		if !out.IsRefused(kept.Ref) {
			said = append(said, string(model.AppendJSON(nil, kept.Body.At("spec"))))
		}
	}
	return strings.Join(said, "\n")
}

func TestCatalogue(t *testing.T) {
	c := acme(t)
	choose := func(version string) map[string]*schema.Release {
		r, err := c.FindRelease("acme", version)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]*schema.Release{"acme": r}
	}
	folder := schema.SchemaFolder{Name: "dir",
		Files: fstest.MapFS{"example.com/thing_v1.json": &fstest.MapFile{Data: []byte(
			`{"type":"object","additionalProperties":false,"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},` +
				`"metadata":{"type":"object"},"spec":{"type":"object","additionalProperties":false,` +
				`"properties":{"c":{"oneOf":[{"type":"string"},{"type":"integer"}],"format":"int-or-string"}}}}}`)}}}
	less := strings.Replace(thing, "kind: Thing", "kind: Less", 1)
	old := strings.Replace(thing, "kind: Thing", "kind: Old", 1)
	for _, c := range []struct {
		name   string
		o      schema.Options
		object string
		want   string
	}{
		{"the newest release fills in its defaults", schema.Options{}, thing + "spec: {a: y}\n", `{"a":"y","b":5}`},
		{"an older release takes what the newest refuses", schema.Options{}, less + "spec: {a: y, b: 7}\n",
			`acme 1.10.0 refuses it: spec.a: Unsupported value: "y": supported values: "x" (acme 1.2.1 takes it, and it is read so; say which version you have: --vendor-version acme=1.2.1)
acme 1.10.0 refuses it: unknown field "spec.b" (acme 1.2.1 takes it, and it is read so; say which version you have: --vendor-version acme=1.2.1)
{"a":"y","b":7}`},
		{"no release takes it", schema.Options{}, less + "spec: {a: z}\n",
			`spec.a: Unsupported value: "z": supported values: "x" (did you mean x? by version v1 of acme 1.10.0)`},
		{"off", schema.Options{Off: true}, thing + "spec: {a: z, c: 1}\n", `{"a":"z","c":1}`},
		{"an older release has neither the field nor the value", schema.Options{Releases: choose("1.0")},
			thing + "spec: {a: y, b: 1}\n",
			`spec.a: Unsupported value: "y": supported values: "x" (it needs acme 1.2.1 (1.0.0 is chosen); did you mean x? by version v1 of acme 1.0.0)
unknown field "spec.b": the API server refuses the object (it needs acme 1.2.1 (1.0.0 is chosen); did you mean a? by version v1 of acme 1.0.0)`},
		{"another channel", schema.Options{Releases: choose("1.10-plain"), Lenient: true},
			thing + "spec: {a: x, b: 1}\n",
			`unknown field "spec.b": the API server drops it (acme has it in the experimental channel only; did you mean a? by version v1 of acme 1.10.0-plain)
{"a":"x"}`},
		{"a kind that is gone", schema.Options{}, old + "spec: {a: y}\n",
			`spec.a: Unsupported value: "y": supported values: "x" (did you mean x? by version v1 of acme 1.0.0)`},
		{"a kind that the chosen release does not have", schema.Options{Releases: choose("1.10")},
			old + "spec: {a: x}\n",
			`no matches for kind "Old" in version "example.com/v1" (acme 1.10.0 does not have the kind)`},
		{"a version that no release serves", schema.Options{}, strings.Replace(thing, "/v1", "/v1beta1", 1) +
			"spec: {a: 7}\n",
			`Thing.example.com is not served in version "v1beta1" by any release that is known: it is read as it is written (acme 1.10.0 serves v1)
{"a":7}`},
		{"the same, chosen", schema.Options{Releases: choose("1.10")}, strings.Replace(thing, "/v1", "/v1beta1", 1) +
			"spec: {a: 7}\n",
			`Thing.example.com is not served in version "v1beta1" (acme 1.10.0 serves v1)`},
		{"what a server has stored", schema.Options{}, strings.Replace(thing, "namespace: n", "namespace: n, uid: u",
			1) + "spec: {a: z}\n", `{"a":"z"}`},
		{"the same, for an upgrade", schema.Options{Stored: true}, strings.Replace(thing, "namespace: n",
			"namespace: n, uid: u", 1) + "spec: {a: x}\n", `{"a":"x","b":5}`},
		{"a variable is not known", schema.Options{}, thing + "spec: {a: \"${A}\"}\n", `{"a":"${A}","b":5}`},
		{"a folder of JSON schemas comes first", schema.Options{Folders: []schema.SchemaFolder{folder}},
			thing + "spec: {a: x, c: 7}\n",
			`unknown field "spec.a": the API server refuses the object (acme has it since 1.0.0; did you mean c? by version v1 of dir/example.com/thing_v1.json)`},
		{"a type of Kubernetes itself", schema.Options{},
			"apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: n}\nspec: {selecter: {a: b}, ports: [{port: 80}]}\n",
			`unknown field "spec.selecter": the API server refuses the object (did you mean selector? by version v1 of kubernetes 1.36)`},
		{"a wrong type in one", schema.Options{},
			"apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: n}\nspec: {ports: [{port: web}]}\n",
			`Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32 (by version v1 of kubernetes 1.36)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Catalogue = acme(t)
			for vendor, r := range c.o.Releases {
				c.o.Releases[vendor], _ = c.o.Catalogue.FindRelease(vendor, r.Name)
			}
			if got := admitted(t, c.o, c.object); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestAdmissionRemembers: an object that was judged before is not judged again.
func TestAdmissionRemembers(t *testing.T) {
	in := read(t, thing+"spec: {a: y}\n")
	a := schema.NewAdmission(schema.Options{Catalogue: acme(t)})
	first, second := a.Admit(in, nil), a.Admit(in, nil)
	if first.Objects[0] != second.Objects[0] {
		t.Error("the object was judged twice")
	}
	if first.Objects[0].Written == nil || first.Objects[0].Written.Has("status") {
		t.Errorf("what was written is not kept: %+v", first.Objects[0])
	}
}

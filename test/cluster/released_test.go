package cluster

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// releasedKind is a kind as the newest release of its vendor defines it.
type releasedKind struct {
	vendor, kind, group string
	Plural, Scope       string
	Versions            []map[string]any
}

// definition is the CustomResourceDefinition of the kind.
func (k releasedKind) definition() map[string]any {
	versions := []any{}
	for i, v := range k.Versions {
		v["storage"] = i == 0
		versions = append(versions, v)
	}
	return map[string]any{
		"apiVersion": definitions.GroupVersion().String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.Plural + "." + k.group,
			"annotations": map[string]any{
				"api-approved.kubernetes.io": "unapproved, for tests"}}, // the server wants it of groups below k8s.io
		"spec": map[string]any{
			"group": k.group, "scope": k.Scope, "versions": versions,
			"names": map[string]any{"kind": k.kind, "listKind": k.kind + "List", "plural": k.Plural,
				"singular": strings.ToLower(k.kind)},
		},
	}
}

// storedAlike are the kinds with those of their versions whose schemas are that of the stored one, the first, and the kinds with the others: of
// an object in such a version a server drops what the stored one does not have.
func storedAlike(kinds []releasedKind) (now, later []releasedKind) {
	for _, k := range kinds {
		all, other := k.Versions, k
		k.Versions, other.Versions = nil, nil
		for _, v := range all {
			if len(k.Versions) == 0 || reflect.DeepEqual(v["schema"], k.Versions[0]["schema"]) {
				k.Versions = append(k.Versions, v)
			} else {
				other.Versions = append(other.Versions, v)
			}
		}
		now = append(now, k)
		if len(other.Versions) > 0 {
			later = append(later, other)
		}
	}
	return now, later
}

func countVersions(kinds []releasedKind) int {
	n := 0
	for _, k := range kinds {
		n += len(k.Versions)
	}
	return n
}

// readReleased reads the definitions that come with the program: of every vendor the newest release.
func readReleased(t *testing.T) []releasedKind {
	t.Helper()
	catalogue, err := plugin.Schemas(plugins.All())
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]string{}
	for _, vendor := range catalogue.Vendors() {
		for _, r := range catalogue.Releases(vendor) {
			if newest[vendor] == "" &&
				!strings.Contains(r.Name, "-") { // of a channel that nobody has who does not ask for it
				newest[vendor] = r.Name
			}
		}
	}
	var out []releasedKind
	for _, p := range plugins.All() {
		if p.Schemas == nil {
			continue
		}
		folders, err := fs.Glob(p.Schemas, "schemas/*/*.zip")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range folders {
			vendor := path.Base(path.Dir(file))
			if path.Base(file) != newest[vendor]+".zip" {
				continue
			}
			for _, entry := range openArchive(t, p.Schemas, file).File {
				k := releasedKind{vendor: vendor}
				k.kind, k.group, _ = strings.Cut(entry.Name, ".")
				readReleasedKind(t, p.Schemas, file, entry.Name, &k)
				out = append(out, k)
			}
		}
	}
	return out
}

func openArchive(t *testing.T, files fs.FS, file string) *zip.Reader {
	t.Helper()
	text, err := fs.ReadFile(files, file)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// readReleasedKind reads an entry of an archive, or that of the release that has the same.
func readReleasedKind(t *testing.T, files fs.FS, file, name string, out *releasedKind) {
	t.Helper()
	text, err := fs.ReadFile(openArchive(t, files, file), name)
	if err != nil {
		t.Fatal(err)
	}
	var other struct{ SameAs string }
	if err := json.Unmarshal(text, &other); err != nil {
		t.Fatal(err)
	}
	if other.SameAs != "" {
		readReleasedKind(t, files, path.Join(path.Dir(file), other.SameAs+".zip"), name, out)
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
}

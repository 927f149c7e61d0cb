// Command image writes a container image as an OCI layout, without a daemon and from scratch: the program of each platform, the licence, and
// nothing else. Equal files and times make equal images.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	programName = "kubectl-dopolicy"
	licenceName = "LICENSE"
	nobody      = "65532:65532" // as pods that must not run as root say, without a file of users
	source      = "https://github.com/dopolicy/kubectl-dopolicy"
)

// program is what the image of one platform runs.
type program struct{ os, arch, file string }

// request is what an image is made of.
type request struct {
	programs []program
	licence  string
	out      string // the folder of the layout
	version  string
	commit   string
	created  time.Time
}

func main() {
	r := request{}
	when, dist := "", ""
	flag.Func("program", "program of a platform, as OS/ARCH=FILE (repeatable)", func(text string) error {
		p, err := parseProgram(text)
		r.programs = append(r.programs, p)
		return err
	})
	flag.StringVar(&dist, "dist", "", "folder of a release of goreleaser, whose programs for Linux are taken")
	flag.StringVar(&r.licence, "licence", "", "file with the licence")
	flag.StringVar(&r.out, "out", "", "folder to write the layout to; what is there is replaced")
	flag.StringVar(&r.version, "version", "", "version of the program")
	flag.StringVar(&r.commit, "commit", "", "commit that it is built of")
	flag.StringVar(&when, "created", "", "time of the image and of its files, in RFC 3339 (default: 1970)")
	flag.Parse()
	if err := run(r, when, dist); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(r request, when, dist string) error {
	r.created = time.Unix(0, 0).UTC()
	var err error
	if when != "" {
		if r.created, err = time.Parse(time.RFC3339, when); err != nil {
			return err
		}
	}
	if dist != "" {
		found, err := released(dist)
		if err != nil {
			return err
		}
		r.programs = append(r.programs, found...)
	}
	if len(r.programs) == 0 || r.out == "" || r.licence == "" {
		return errors.New("-program or -dist, -licence and -out are required")
	}
	index, err := build(r)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	at, err := layout.Write(r.out, empty.Index)
	if err != nil {
		return err
	}
	// Programs that copy layouts look for one entry, with a name.
	if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": cmp.Or(r.version, "latest")})); err != nil {
		return err
	}
	return tell(os.Stdout, r, index)
}

func parseProgram(text string) (program, error) {
	platform, file, ok := strings.Cut(text, "=")
	system, arch, both := strings.Cut(platform, "/")
	if !ok || !both || file == "" {
		return program{}, fmt.Errorf("%q is not of the form OS/ARCH=FILE", text)
	}
	return program{system, arch, file}, nil
}

// released are the programs for Linux of a release.
func released(dist string) ([]program, error) {
	text, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var all []struct {
		Type, Path, Goos, Goarch string
		Extra                    struct{ Binary string }
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	var out []program
	for _, a := range all {
		if a.Type == "Binary" && a.Goos == "linux" && a.Extra.Binary == programName {
			out = append(out, program{a.Goos, a.Goarch, filepath.Join(filepath.Dir(dist), a.Path)})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no program for Linux", dist)
	}
	slices.SortFunc(out, func(a, b program) int { return strings.Compare(a.arch, b.arch) })
	return out, nil
}

// build is an index with an image for each platform.
func build(r request) (v1.ImageIndex, error) {
	licence, err := os.ReadFile(r.licence)
	if err != nil {
		return nil, err
	}
	notes := map[string]string{"org.opencontainers.image.title": programName, "org.opencontainers.image.source": source, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.description": "Which Gateway API policies are in force, where each setting comes from, and what was overridden",
		"org.opencontainers.image.created":     r.created.Format(time.RFC3339)}
	for name, value := range map[string]string{"version": r.version, "revision": r.commit} {
		if value != "" {
			notes["org.opencontainers.image."+name] = value
		}
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.programs {
		image, err := imageOf(p, licence, notes, r.created)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	return mutate.Annotations(index, notes).(v1.ImageIndex), nil
}

// imageOf is the image of one platform.
func imageOf(p program, licence []byte, labels map[string]string, created time.Time) (v1.Image, error) {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return nil, err
	}
	files, err := archive(text, licence, created)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "tools/image"}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = p.os, p.arch, v1.Time{Time: created}
	file.Config = v1.Config{Entrypoint: []string{"/" + programName}, User: nobody, WorkingDir: "/", Labels: labels}
	return mutate.ConfigFile(image, file)
}

// archive is the layer: the two files.
func archive(text, licence []byte, created time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		mode int64
		text []byte
	}{{licenceName, 0o444, licence}, {programName, 0o555, text}} {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: created.Truncate(time.Second), Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// tell says what was written.
func tell(w io.Writer, r request, index v1.ImageIndex) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s %s\n", r.out, digest)
	for _, d := range manifest.Manifests {
		image, err := index.Image(d.Digest)
		if err != nil {
			return err
		}
		layers, err := image.Layers()
		if err != nil {
			return err
		}
		size, err := layers[0].Size()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %s, %.1f MB compressed\n", d.Platform, d.Digest, float64(size)/1e6)
	}
	return nil
}

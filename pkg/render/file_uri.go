package render

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// stdinFile is how origins name standard input, which is no file that others could open.
const stdinFile = "stdin"

// relativeFile is the file of an origin with slashes, relative to the folder in which the program
// runs where it is below it; "" if there is none.
func (o *Options) relativeFile(at *model.Origin) string {
	if at == nil || at.Cluster != "" || at.File == "" || at.File == stdinFile {
		return ""
	}
	file := filepath.Clean(at.File)
	if o.Root != "" && filepath.IsAbs(file) {
		if below, err := filepath.Rel(o.Root, file); err == nil && filepath.IsLocal(below) {
			file = below
		}
	}
	return filepath.ToSlash(file)
}

// fileURI is a file as a URI, and what it is relative to. A relative one stays below its base: what
// is outside is absolute, if it is known where the program runs.
func (o *Options) fileURI(file string) (uri, base string) {
	if o.Root != "" && !filepath.IsAbs(filepath.FromSlash(file)) && !filepath.IsLocal(filepath.FromSlash(file)) {
		file = filepath.ToSlash(filepath.Join(o.Root, filepath.FromSlash(file)))
	}
	if !filepath.IsAbs(filepath.FromSlash(file)) {
		return (&url.URL{Path: file}).String(), sourceRoot // with ./ before a name that would read as a scheme
	}
	if !strings.HasPrefix(file, "/") { // a volume
		file = "/" + file
	}
	return (&url.URL{Scheme: "file", Path: file}).String(), ""
}

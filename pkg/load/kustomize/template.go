package kustomize

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

const templateHint = "render the template first"

// templateError says why a build fails that would not if its templates were rendered.
type templateError struct{ text string }

func (e *templateError) Error() string { return e.text }

// IsTemplate reports whether a build failed because a template is not rendered.
func IsTemplate(err error) bool { return errors.As(err, new(*templateError)) }

// parseError returns the error for a file with a text that cannot be read.
func parseError(text []byte, message string) error {
	if document.IsTemplate(text) {
		return &templateError{message}
	}
	return errors.New(message)
}

// hasTemplate reports whether a template lies where a file would be: file.yaml.tpl or file.tpl.yaml.
func hasTemplate(file string) bool {
	end := filepath.Ext(file)
	return slices.ContainsFunc([]string{".tpl", ".tmpl", ".tftpl", ".gotmpl", ".template", ".j2", ".jinja", ".jinja2"},
		func(mark string) bool {
			_, behind := os.Lstat(file + mark)
			_, within := os.Lstat(strings.TrimSuffix(file, end) + mark + end)
			return behind == nil || within == nil
		})
}

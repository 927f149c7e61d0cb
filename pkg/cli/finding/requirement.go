package finding

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// LoadRequirements reads the requirements that the flags and the config name. Files that a config
// names are relative to it.
func (f *Flags) LoadRequirements(config check.Config) ([]*requirement.Requirement, error) {
	var files []string
	for _, name := range config.Requirements {
		file, err := localfile.ResolveRelative(f.Config, name)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading requirements: %s", err), "name it with --requirements")
		}
		files = append(files, file)
	}
	return ReadRequirements(files, f.Requirements)
}

// ReadRequirements reads files of requirements, those that other files name and those that the
// command line does; one that is named twice is read once.
func ReadRequirements(found, byHand []string) ([]*requirement.Requirement, error) {
	var sources []form.Source
	seen := map[string]bool{}
	for i, name := range slices.Concat(found, byHand) {
		if clean := filepath.Clean(name); seen[clean] {
			continue
		} else {
			seen[clean] = true
		}
		text, err := localfile.Read(name, i >= len(found))
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading requirements: %s", err),
				"give a file with Requirements (docs/requirements.md)")
		}
		sources = append(sources, form.Source{Name: name, Text: text})
	}
	if sources == nil {
		return nil, nil
	}
	return requirement.Read(sources)
}

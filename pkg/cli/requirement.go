package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// loadRequirements reads the requirements that the flags and the config name. Files that a config
// names are relative to it.
func (f *findingFlags) loadRequirements(config check.Config) ([]*requirement.Requirement, error) {
	var files []string
	for _, name := range config.Requirements {
		files = append(files, resolveRelative(f.config, name))
	}
	return readRequirements(files, f.requirements)
}

// readRequirements reads files of requirements, those that other files name and those that the command line does; one that is named twice is
// read once.
func readRequirements(found, byHand []string) ([]*requirement.Requirement, error) {
	var sources []form.Source
	seen := map[string]bool{}
	for i, name := range slices.Concat(found, byHand) {
		if clean := filepath.Clean(name); seen[clean] {
			continue
		} else {
			seen[clean] = true
		}
		text, err := readSmallFile(name, i >= len(found))
		if err != nil {
			return nil, newNoAnswerError(fmt.Sprintf("reading requirements: %s", err), "give a file with Requirements (docs/requirements.md)")
		}
		sources = append(sources, form.Source{Name: name, Text: text})
	}
	if sources == nil {
		return nil, nil
	}
	return requirement.Read(sources)
}

// resolveRelative returns the path of a file that another file names relative to itself.
func resolveRelative(file, name string) string {
	if filepath.IsAbs(name) || file == "" {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

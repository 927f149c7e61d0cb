package finding

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// noConfig is what --config says for no file.
const noConfig = "none"

// readConfig reads the config file that --config names, or the usual one if it is there, about
// findings of a catalogue.
func readConfig(name string, given bool, known check.Catalogue) (check.Config, error) {
	if given && (name == "" || name == noConfig) {
		return check.Config{}, nil
	}
	if !given {
		name = source.ConfigFile
	}
	text, err := localfile.Read(name, given)
	switch {
	case !given && errors.Is(err, fs.ErrNotExist):
		return check.Config{}, nil
	case err != nil:
		return check.Config{}, failure.NoAnswer(fmt.Sprintf("reading the config: %s", err),
			"use --config none to read no config file")
	}
	config, err := check.ParseConfig(name, text, known)
	var wrong *check.ConfigError
	if errors.As(err, &wrong) {
		return config, failure.Usage(wrong.Hint, "%s", wrong.Error())
	}
	return config, err
}

package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// definitionFlags name CustomResourceDefinitions by which objects are judged, and which are no part of the input.
type definitionFlags struct {
	paths []string
	steps int // that judging by schemas may take

	definitions []*model.Object
	problems    []model.Problem // of reading them
}

func (d *definitionFlags) addDefinitionFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&d.paths, "crds", nil, "file or folder (read recursively) with CustomResourceDefinitions to validate objects against, besides those in the input (repeatable)")
	fs.IntVar(&d.steps, "max-steps", check.DefaultSteps, "how many steps patterns and lists of unique items in schemas may take for all objects; those beyond are not judged, and the answer is incomplete")
}

// readDefinitions reads what the flags name. There is an error if it cannot be read, or there is no
// definition in it.
func (d *definitionFlags) readDefinitions(ctx context.Context, limits load.Limits, s Streams) error {
	switch {
	case d.steps < 1:
		return newUsageError("write a number of steps from 1", "--max-steps cannot be %d", d.steps)
	case len(d.paths) == 0:
		return nil
	case slices.Contains(d.paths, "-"):
		return newUsageError("name a file or a folder", "--crds cannot read standard input")
	}
	in, err := load.Files(ctx, load.Options{Paths: d.paths, Recursive: true, Limits: limits})
	if err != nil {
		return reportReadError(s, in, err)
	}
	d.definitions = in.Definitions()
	for _, p := range in.Problems {
		if p.Severity == model.Error {
			d.problems = append(d.problems, p)
		}
	}
	if len(d.definitions)+len(d.problems) == 0 {
		return newNoAnswerError(strings.Join(d.paths, ", ")+": contains no CustomResourceDefinition", "name the file or folder with the definitions, for example --crds config/crd")
	}
	return nil
}

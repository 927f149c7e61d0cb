package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// templateForm is a form of output that takes a template of the user's, written -o NAME=TEMPLATE.
type templateForm struct {
	name   string
	format render.Format
	file   bool // the template is in a file, and its name is given
	alias  bool // an older name, not proposed
}

// templateForms are those of kubectl.
func templateForms() []templateForm {
	return []templateForm{
		{name: "jsonpath", format: render.JSONPath},
		{name: "jsonpath-file", format: render.JSONPath, file: true},
		{name: "jsonpath-as-json", format: render.JSONPathAsJSON},
		{name: "go-template", format: render.GoTemplate},
		{name: "go-template-file", format: render.GoTemplate, file: true},
		{name: "custom-columns", format: render.CustomColumns},
		{name: "custom-columns-file", format: render.ColumnsFile, file: true},
		{name: "template", format: render.GoTemplate, alias: true},
		{name: "templatefile", format: render.GoTemplate, file: true, alias: true},
	}
}

// TemplateWords lists the forms as the help of -o has them; there is another of each for a template
// in a file.
func TemplateWords() []string { return []string{"jsonpath=", "go-template=", "custom-columns="} }

// templateFlags say what -o prints of an answer where the user writes it.
type templateFlags struct {
	Text         string
	AllowMissing bool
	Parsed       *render.Template // nil: another form of output
}

func (f *templateFlags) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.Text, "template", "",
		"template, or template file, for -o go-template, jsonpath or custom-columns (without -o: go-template)")
	fs.BoolVar(&f.AllowMissing, "allow-missing-template-keys", true,
		"ignore missing fields and map keys in a go-template or jsonpath")
}

// parse parses the template that goes with a form of output, and reports whether it is such
// a form. With --template by itself the form is a Go template.
func (f *templateFlags) parse(output string, given bool) (bool, error) {
	name, text, behind := strings.Cut(output, "=")
	if f.Text != "" && !given {
		name = "go-template"
	}
	at := slices.IndexFunc(templateForms(), func(t templateForm) bool { return t.name == name })
	switch {
	case at < 0 && f.Text != "":
		return false, failure.Usage("use it with -o go-template, -o jsonpath or -o custom-columns",
			"--template cannot be given with -o %s", output)
	case at < 0:
		return false, nil
	case f.Text != "" && behind:
		return false, failure.Usage("drop one of the two", "-o %s= and --template cannot be given together", name)
	case f.Text != "":
		text = f.Text
	}
	form := templateForms()[at]
	if text == "" {
		return false, failure.Usage(templateHint(form.format), "output format %q needs a template", name)
	}
	if form.file {
		data, err := localfile.Read(text, true)
		if err != nil {
			return false, failure.NoAnswer(fmt.Sprintf("reading the template: %s", err),
				"-o "+name+" takes the name of a file")
		}
		text = string(data)
	}
	var err error
	f.Parsed, err = render.NewTemplate(form.format, text, render.TemplateOptions{RequireKeys: !f.AllowMissing})
	return true, explainTemplateError(err)
}

// explainTemplateError makes a usage error of an error about a template; others stay as they are.
func explainTemplateError(err error) error {
	var wrong *render.TemplateError
	if !errors.As(err, &wrong) {
		return err
	}
	return failure.Usage(templateHint(wrong.Format), "%s", wrong.Error())
}

// templateHint shows a template of the format.
func templateHint(f render.Format) string {
	switch f {
	case render.GoTemplate:
		return `write for example: -o go-template='{{range .items}}{{.target.name}}{{"\n"}}{{end}}'; -o json shows the fields`
	case render.CustomColumns:
		return "for example: -o custom-columns=NAME:.target.name,RULES:.rules[*].name; -o json shows the fields"
	case render.ColumnsFile:
		return "write two lines, for example: NAME RULES, and below it: .target.name .rules[*].name"
	}
	return `write for example: -o jsonpath='{range .items[*]}{.target.name}{"\n"}{end}'; -o json shows the fields`
}

// completeFormats offers the forms of output; behind those that take a template no space is put,
// and a file is offered where it is in one.
func completeFormats(formats []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		words := slices.Clone(formats)
		for _, t := range templateForms() {
			if t.file && strings.HasPrefix(typed, t.name+"=") {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if !t.alias {
				words = append(words, t.name+"=")
			}
		}
		return completion.Filter(words, typed)
	}
}

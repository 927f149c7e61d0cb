package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"text/template"

	"sigs.k8s.io/yaml"
)

// helm stands in for the program of that name in scripts: helm template RELEASE CHART --namespace
// NAMESPACE [--values FILE]…
func helm() {
	if err := renderChart(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func renderChart(args []string) error {
	if len(args) < 5 || args[0] != "template" || args[3] != "--namespace" {
		return fmt.Errorf("unexpected arguments: %q", args)
	}
	values := map[string]any{}
	files := []string{filepath.Join(args[2], "values.yaml")}
	for i, arg := range args {
		if arg == "--values" {
			files = append(files, args[i+1])
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		more := map[string]any{}
		if err := yaml.Unmarshal(text, &more); err != nil {
			return err
		}
		maps.Copy(values, more)
	}
	templates, err := filepath.Glob(filepath.Join(args[2], "templates", "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range templates {
		t, err := template.ParseFiles(file)
		if err != nil {
			return err
		}
		fmt.Printf("---\n# Source: %s/templates/%s\n", filepath.Base(args[2]), filepath.Base(file))
		if err := t.Execute(os.Stdout, map[string]any{"Values": values, "Release": map[string]string{"Name": args[1],
			"Namespace": args[4]}}); err != nil {
			return err
		}
	}
	return nil
}

package mcp

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// ownFlags are those of the server, which other commands do not have.
var ownFlags = []string{"listen", "help"}

// repeatFlags returns the flags that were given, as NAME=VALUE with the leading dashes, to be given to other commands.
func repeatFlags(fs *pflag.FlagSet) []string {
	var out []string
	fs.Visit(func(f *pflag.Flag) {
		if slices.Contains(ownFlags, f.Name) {
			return
		}
		many, is := f.Value.(pflag.SliceValue)
		if !is {
			out = append(out, formatFlag(f.Name, f.Value.String()))
			return
		}
		for _, value := range many.GetSlice() {
			if f.Value.Type() == "stringSlice" { // one value may be several
				value = quoteListValue(value)
			}
			out = append(out, formatFlag(f.Name, value))
		}
	})
	return out
}

// formatFlag writes a flag so that no value is taken for another flag.
func formatFlag(name, value string) string { return "--" + name + "=" + value }

// quoteListValue writes a value of a flag that takes several values, separated by commas.
func quoteListValue(value string) string {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if w.Write([]string{value}) != nil {
		return value
	}
	w.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// cutFlags returns the flags without those of some names.
func cutFlags(flags []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		return slices.Contains(names, name)
	})
}

// hasFlag reports whether a flag was given.
func hasFlag(flags []string, name string) bool {
	return slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, "--"+name+"=") })
}

// Package escape writes texts of the input so that they are only text, whoever reads them: a
// terminal, markup, JSON, or a CI runner that takes lines for commands.
package escape

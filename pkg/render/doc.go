// Package render writes a view: as a table, a tree, names, YAML, JSON, lines of JSON, DOT, Mermaid
// or what a template says. It also writes problems for people.
//
// Write is the one entry. Nothing here reads the environment or the terminal: colour and character
// set are options. Text for people is escaped first, because names and values come out of files
// that anybody may have written: no control character, bidirectional mark or invisible character
// reaches a terminal, DOT or Mermaid as itself. JSON and YAML carry true values, with such
// characters in the format's own escapes; so do templates, except on a terminal.
//
// The package exports more than 60 names because every format is one.
package render

// Package textwidth counts the columns that a text takes on a terminal, and wraps it.
package textwidth

// Package attach answers to which targets the policies of a kind are attached, and which of several
// at one target stay. It knows no paths and folds nothing.
package attach

// Package output writes an answer: its flags choose the form, and it prints the problems that touch
// the answer, or what to say in place of an answer that is empty. It does not know what was asked.
package output

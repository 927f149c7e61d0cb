// Package collect visits the targets that a question is about, with every stack of policies that
// reaches them, and gathers the problems that matter to the answer. It turns paths and verdicts of
// pkg/resolve into the shape of the contract. It does not know any question.
package collect

package cli

import (
	"fmt"
	"io"
)

// mainQuestions are what the program is mostly asked, each with how it is asked.
func mainQuestions() [][2]string {
	return [][2]string{
		{"Why do I get 401 here? (403, 404, 429, 503, …)", "why 401 https://shop.example.com/cart"},
		{"Which policies are in force on a route, and who set what?", "effective ROUTE"},
		{"Who governs each route, and which have no AuthPolicy?", "matrix --missing AuthPolicy"},
		{"Where is a policy in force, and where not?", "reach POLICY"},
		{"Which settings were overridden, by whom and why?", "overridden"},
		{"What would change if these files were applied?", "diff -f FOLDER"},
	}
}

// writeQuestions is what the program prints without a command. Where the terminal, 0: any, is too
// narrow for a question and its command on one line, they are below each other.
func writeQuestions(w io.Writer, terminal int) error {
	questions, commands := 0, 0
	for _, q := range mainQuestions() {
		questions, commands = max(questions, len(q[0])), max(commands, len(q[1]))
	}
	const prefix, gap = "kubectl dopolicy ", "   "
	format := fmt.Sprintf("%%-%ds%s%s%%s\n", questions, gap, prefix)
	if terminal > 0 && questions+len(gap)+len(prefix)+commands > terminal {
		format = "%s\n  " + prefix + "%s\n"
	}
	for _, q := range mainQuestions() {
		if _, err := fmt.Fprintf(w, format, q[0], q[1]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, `
The cluster and namespace of your kubeconfig are asked. -A: all namespaces;
-f FOLDER: manifests instead, without a cluster.
All commands: kubectl dopolicy help
`)
	return err
}

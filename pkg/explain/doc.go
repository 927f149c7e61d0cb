// Package explain says in English why a setting is in force, and why one is not: a short word for
// tables and a sentence for everything else. It is the only place with such words; views put them
// into their answers, and tables, trees, statuses, findings and pages read them from there.
//
// What decided is not worked out here: losses carry their reason and their decisions (package
// merge), and verdicts say what is void (package resolve).
package explain

// Package effective answers which policies are in force on targets, and shows it as a table, as a
// tree or item by item. It knows nothing of requests.
package effective

// Command proxies draws small worlds of Gateways and routes, has a vendor's own code translate them for its proxy, runs the proxy on loopback,
// asks it drawn requests, and reports every request of which kubectl-dopolicy says something else for certain. README.md says how.
package main

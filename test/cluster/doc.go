// Package cluster gives tests a real Kubernetes API server: etcd and kube-apiserver, built from their modules and started on loopback
// ports, without controllers and nodes. What talks to a cluster is tested against it, never against a fake client.
//
// A test package that uses it has
//
//	func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }
//
// and its tests call Shared, which starts one server for the whole package and hands out a Cluster that belongs to the test: what the
// test applies through it is deleted when the test ends. Start makes a server that only this test has, with no custom resources.
//
// Methods that cannot fail but for a broken server end the test themselves; those of which a test may want the refusal return an error.
package cluster

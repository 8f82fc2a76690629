// Package e2e runs what a deployment on AWS would meet, on this machine: real binaries, queues and tables, and the template's own alarms.
//
// # Canary
//
// A new version of adjust gets a part of the invocations for some minutes, as its DeploymentPreference says. Each broken version fails
// everything in one way; it must ring an alarm that takes it back before it has all messages, and a healthy one must ring none. Of
// CloudWatch there are the functions' own lines (Embedded Metric Format), Lambda's metric Errors, counted as Lambda counts it, and the
// evaluation of m-of-n alarms. A minute here is not a minute: it is over when as many messages have been delivered as come in one.
//
// Effects are counted, too. Whatever a broken version did, each message took effect once, or is where that version put it: refused, or in
// the dead-letter queue.
package e2e

// Package stack runs on this machine what template.yaml declares: its tables on
// DynamoDB Local, its queues on the local SQS, and each function as a real
// process behind Lambda's runtime emulator, fed by a local event source mapping.
//
// The functions are the packages that are deployed, built with the same flags,
// for this machine's architecture, and get the environment that the template
// gives them, with the endpoints of the local services in it.
package stack

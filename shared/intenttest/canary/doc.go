// Package canary finds what a function tells that it should not: it plants values that nobody else writes into every field, key,
// attribute, row and secret that the function meets, and looks for them in all that the function tells the world without being
// asked: its log, its metrics, the reasons of what it quarantines, the reasons in its records, and the errors that Lambda would log.
//
// What may be told: message ids, which SQS makes; the class, operation and scope; and hashes. What may not: the body and the names
// of its fields, keys, message attributes and their names, receipt handles, secrets, and what a table's row says. A message group is
// payload, too: here it is an account's id, and SQS makes no difference for others. It goes with the message to its dead-letter
// queue, since order there needs it, and into no log and no reason.
//
// A quarantined copy holds the message as it came, and a record its key and its result: these are where the data lives, and are not
// looked at.
package canary

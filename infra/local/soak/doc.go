// Package soak runs the five functions, as real processes behind Lambda's runtime
// emulator, through thousands of intents while the network and the machine fail them.
//
// Between every process and DynamoDB, the payment provider, the mail service and the
// queues stands a proxy that holds, drops, resets and cuts requests and replies, half of
// them replies to what the service has applied. Processes are killed with SIGKILL while
// they ask, while they are about to be answered, and at any moment after. Producers send
// intents several times, natural ones also after the world has moved on; what lands in a
// dead-letter queue is redriven, until all is quiet. One in ten of those that can be refused
// is one that the business says no to.
//
// What it promises: effects are counted at the far side, through no proxy, and each intent
// is held against its record and the dead-letter queue. A run that shows a duplicate, a loss
// or a record that fits neither fails, with the story of the intent.
//
// What it does not: the choices are the seed's, but which exchange meets which is up to the
// machine, so a run does not repeat to the letter; clocks agree, and no process is frozen
// (infra/proof/explore has both); no two intents share a user, an account or an order.
package soak

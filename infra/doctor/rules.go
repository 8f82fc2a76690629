package doctor

// Rules are all that there are.
func Rules() []Rule {
	return []Rule{
		{"effect-class", "every function says of which class its effect is", effectClass},
		{"one-queue", "a function takes from one queue, and no two share a queue or a dead-letter queue", oneQueue},
		{"own-queues", "a function hides messages in its own queue and sends what nobody can handle to its own dead-letter queue", ownQueues},
		{"dead-letter-queue", "what cannot be handled ends where it is kept and seen", deadLetterQueue},
		{"dead-letter-kind", "a dead-letter queue takes what its queue gives up: it is FIFO where that is, and only there", deadLetterKind},
		{"dead-letter-alarm", "the first message in a dead-letter queue rings an alarm that tells somebody", deadLetterAlarm},
		{"dead-letter-arrival", "a further message in a dead-letter queue rings, too: the alarm on its depth rings already", deadLetterArrival},
		{"in-flight", "somebody is told before so many messages are in flight that SQS hands out no more", inFlightAlarm},
		{"alarm-tells", "every alarm tells somebody what happened", alarmTells},
		{"alarm-metrics", "every alarm watches a series that somebody emits: of another name or other dimensions there is none", alarmMetrics},
		{"new-version", "only alarms on the new version take it back: no old backlog and no traffic blocks a release", newVersion},
		{"quiet-version", "a version that gets no message is not taken back", quietVersion},
		{"deployment-alarms", "a deployment has no more alarms than CodeDeploy takes", deploymentAlarms},
		{"alarm-in-time", "an alarm that takes a version back rings before it has all messages", alarmInTime},
		{"failing-version", "a version that fails everything is taken back, if there is traffic enough", failingVersion},
		{"all-properties", "a change of any property of a function publishes a version, and so goes through the canary", allProperties},
		{"alarm-scope", "every alarm on what a function counts watches the scope and the operation that the function counts under", alarmScope},
		{"receive-count", "throttling and crashes do not use up a message's receives before its function has run", receiveCount},
		{"batch-item-failures", "what a function lists as failed is delivered again, and not deleted with the rest", batchItemFailures},
		{"concurrency", "a mapping starts no more invocations than are reserved: a throttled one spends receives", concurrency},
		{"visibility", "no message is delivered again while Lambda may still be retrying the batch that it is in", visibility},
		{"dead-letter-retention", "a message outlives its move: a standard queue counts its age from the first enqueue on", deadLetterRetention},
		{"max-age", "a message that its queues still hold is young enough to run without a record", oldestIntent},
		{"record-retention", "a record outlives every message that could bring its intent back, also one that a redrive made young again", recordRetention},
		{"lease", "a claim's lease outlives the invocation that holds it", lease},
		{"provider-window", "a crash leaves time to finish while the provider still knows the key", providerWindow},
		{"record-table", "the records' table has the key that the code writes", recordTable},
		{"record-expiry", "records are deleted by the time that the code writes, and only after it", recordExpiry},
		{"record-regions", "no two Regions both win a claim", recordRegions},
		{"variables-declared", "every variable that the code reads is declared: what is not passed is empty, and SAM passes no other", variablesDeclared},
		{"processors", "Go runs as many threads at once as the function has processors", processors},
		{"variables-read", "every variable that is declared is read: a setting that nothing heeds is none", variablesRead},
	}
}

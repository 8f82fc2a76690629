#if LEDGER
/* With LEDGER: the record and the effect's writes are one transaction, or its refusal is a put of its own. */
proctype Ledger() {
	do
	:: atomic {
		if
		:: d_step { me.at == idle -> own.verb = commit; own.to = completed; draw(own); me.at = calling }
		:: d_step { me.at == calling ->
			land(own);
			if
			:: rec.state != absent -> ANSWER(rec.state)
			:: rec.state == absent && breaks(REFUSAL_SAID_AT_ONCE) -> ANSWER(refused)
			:: else -> own.to = refused; me.copied = 0
			fi }
		:: d_step { me.at == calling && own.verb != 0 && !me.copied && room -> leave_copy() }
		:: d_step { me.at == calling -> me.at = idle }
		fi;
		d_step { forget(); tidy() } }
	od
}
#endif

/* What is explored. Each configuration of the runner sets some of these. */

#ifndef WORKERS
#define WORKERS 2 /* or 3: that run at a time */
#endif
#ifndef LATE
#define LATE 1 /* 0, 1 or 2: copies of writes that may land later, at a time */
#endif
#ifndef KEYED
#define KEYED 0 /* a provider dedups by key; else the effect is Blind */
#endif
#ifndef FINISHED_ONLY
#define FINISHED_ONLY 0 /* the provider knows a key only when the call has finished, and ends calls within their lease */
#endif
#ifndef LEDGER
#define LEDGER 0 /* record and effect are one transaction */
#endif
#ifndef PROBES
#define PROBES 0 /* there is a probe; else an operator alone settles */
#endif
#ifndef RENEWS
#define RENEWS 0 /* a heartbeat renews the lease */
#endif
#ifndef PAYLOADS
#define PAYLOADS 0 /* two payloads come under the key */
#endif
#ifndef FORGET
#define FORGET 0 /* records outlive their retention, and the key is used again */
#endif
#ifndef FALSE_NO
#define FALSE_NO 0 /* one "no" of an operator's may be false */
#endif
#ifndef LIVE
#define LIVE 0 /* that every intent ends or is in doubt */
#endif
#ifndef KEEP
#define KEEP 0 /* forget nothing that is doomed */
#endif

/* In ticks. A lease of two can be over for its owner, for who is ahead, and for all, at different times. */
#ifndef LEASE
#define LEASE 2
#endif
#define MARGIN 1 /* clocks differ by no more */
#define FLIGHT (1 - FINISHED_ONLY) /* a request may still arrive after its lease */
#ifndef WINDOW
#define WINDOW 7 /* one takeover fits in, a second one does not */
#endif

#if LEDGER
#define WORKER Ledger
#else
#define WORKER Worker
#endif

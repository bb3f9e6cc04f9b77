/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How late the machine is: a thread that sleeps a little, again and again, and
 * writes down when it was woken too late; and now and then works a little, as
 * who logs in does, and writes down for how long others had the processor
 * meanwhile.  Whoever judges a wait grants what the machine owed at that time.
 */
#ifndef STORM_METRONOME_H
#define STORM_METRONOME_H

void metronome_begin(void);
void metronome_end(void);

/* What is granted to a wait between these two moments (trouble_now()), in ms:
   of a chain of a few threads each may have been as late as the metronome was
   at most. */
double metronome_grants(double from, double to);

/* The latest it ever was, ms. */
double metronome_worst(void);

#endif

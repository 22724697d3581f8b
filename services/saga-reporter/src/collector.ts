import { setFlagsFromString } from 'node:v8'

/**
 * How V8 collects garbage here: almost everything lives as long as a call, a few milliseconds, and what stays is known
 * sagas. Marking all of it slows the process down for fifty milliseconds and stops it for some more, so it is made
 * rare. To be called before the first call comes.
 *
 * At the start, calls take long because their code is not compiled yet. V8 then takes what they make for long-lived,
 * and from then on makes a sixth of all objects old at once: six times as much to be marked away.
 *
 * By default everything is marked again once the heap has grown by a tenth to a third, here once it is two and a half
 * times as large: marking takes the same time however much has grown, so with less growth more calls are slow.
 */
export function tuneCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=150')
}

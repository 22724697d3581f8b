import { setTimeout as delay } from 'node:timers/promises'
import { cpuMsBelow } from '../git/cpu-time.js'
import { workThrough } from '../git/load.js'

/** One line of a chart at one size. */
export interface Figure {
  name: string
  /** The value in the chart: CPU milliseconds of a request, unless the name says otherwise. */
  value: number
  p50Ms?: number
}

export interface Question {
  name: string
  /** Sends a request about another item each time. */
  ask: (index: number) => Promise<unknown>
  /** Most requests. Unset: {@link timesMax}. */
  most?: number
}

/** A quantity that grows. */
export interface Subject {
  /** The unit of the sizes. */
  unit: string
  sizes: number[]
  /** The unit of the values. Unset: CPU milliseconds of a request. */
  scale?: string
  /** Starts its own servers, fills them for each size, and sends the requests. */
  run: (sizes: readonly number[], tell: Tell) => Promise<void>
}

export type Tell = (size: number, figures: Figure[]) => void

/** Measures each size; the first one also once before without counting, because new code is slower. */
export async function measureSizes(
  sizes: readonly number[],
  measure: (size: number, turn: number) => Promise<Figure[]>,
  tell: Tell,
): Promise<void> {
  for (const [turn, size] of [...sizes.slice(0, 1), ...sizes].entries()) {
    const figures = await measure(size, turn)
    if (turn > 0) tell(size, figures)
  }
}

/** Time limit, because a busy machine answers fewer requests. */
const seconds = 8
const warmUpSeconds = 3
/** Most requests, so that a small repository still has unread commits. */
const timesMax = 400

/**
 * Sends one request after the other, with one caller. CPU time is that of all processes below this one, which
 * include the services, PostgreSQL, Redis and git, minus their time without requests. So other load on the
 * machine affects it less than elapsed times.
 */
export async function askAll(questions: readonly Question[]): Promise<Figure[]> {
  const idle = await cpuOf(() => delay(idleMs))
  const figures: Figure[] = []
  for (const { name, ask, most = timesMax } of questions) {
    let asked = 0
    const work = () => ask(asked++).then(() => {})
    await workThrough(work, { workers: 1, seconds: warmUpSeconds, most: most / 4 })
    const before = asked
    const load = workThrough(work, { workers: 1, seconds, most: most - before })
    const { cpuMs, ms } = await cpuOf(() => load)
    const value = (cpuMs - (idle.cpuMs / idle.ms) * ms) / (asked - before)
    figures.push({ name, value: Math.max(value, valueMin), p50Ms: (await load).p50Ms })
  }
  return figures
}

const idleMs = 5_000
/** Smallest value, because a logarithmic axis has no zero. */
const valueMin = 0.01

/** Returns CPU milliseconds of all processes below this one during some work, and its duration. */
export async function cpuOf(work: () => Promise<unknown>): Promise<{ cpuMs: number; ms: number }> {
  const [cpuMs, startedMs] = [cpuMsBelow(process.pid), performance.now()]
  await work()
  return { cpuMs: cpuMsBelow(process.pid) - cpuMs, ms: performance.now() - startedMs }
}

/** Throws for a refusal, which would be a fast answer. */
export function expectAnswer({ status, text }: { status: number; text: string }): string {
  if (status >= 300) throw new Error(`${status} ${text.slice(0, 500)}`)
  return text
}

/** Returns one of some values; consecutive indexes are far apart. */
export const pick = <Value>(values: readonly Value[], index: number): Value =>
  values[(index * 7919) % values.length] as Value

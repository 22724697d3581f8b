import { setTimeout as delay } from 'node:timers/promises'
import { cpuMsBelow } from '../git/cpu-time.js'
import { workThrough } from '../git/load.js'

/** One line of a picture at one size. */
export interface Figure {
  name: string
  /** What the picture shows: CPU milliseconds of a request, unless the name says otherwise. */
  value: number
  p50Ms?: number
}

export interface Question {
  name: string
  /** Each time about something else. */
  ask: (index: number) => Promise<unknown>
  /** Asked no more often. Unset: {@link timesMax}. */
  most?: number
}

/** What grows. */
export interface Subject {
  /** What the sizes count. */
  unit: string
  sizes: number[]
  /** What the figures are. Unset: CPU milliseconds of a request. */
  scale?: string
  /** Starts servers of its own, fills them for each size, and asks. */
  run: (sizes: readonly number[], tell: Tell) => Promise<void>
}

export type Tell = (size: number, figures: Figure[]) => void

/**
 * Measures each size, the first one once before without counting: code that runs the first times is slower.
 */
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

/** At most: on a busy machine, fewer questions are asked. */
const seconds = 8
const warmUpSeconds = 3
/** A small repository has other commits left after so many questions. */
const timesMax = 400

/**
 * Asks one question after the other, each by one caller. CPU time is that of all processes below this one,
 * which the services, PostgreSQL, Redis and git are, without what they take while nobody asks: so other load
 * on the machine changes it less than it changes times.
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
/** A logarithmic axis has no zero. */
const valueMin = 0.01

/**
 * Milliseconds of CPU time of all processes below this one while some work is done, and how long it takes.
 */
export async function cpuOf(work: () => Promise<unknown>): Promise<{ cpuMs: number; ms: number }> {
  const [cpuMs, startedMs] = [cpuMsBelow(process.pid), performance.now()]
  await work()
  return { cpuMs: cpuMsBelow(process.pid) - cpuMs, ms: performance.now() - startedMs }
}

/** An answer that is refused would be a fast one. */
export function expectAnswer({ status, text }: { status: number; text: string }): string {
  if (status >= 300) throw new Error(`${status} ${text.slice(0, 500)}`)
  return text
}

/** One of some values, those next to each other far apart. */
export const pick = <Value>(values: readonly Value[], index: number): Value =>
  values[(index * 7919) % values.length] as Value

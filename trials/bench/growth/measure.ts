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
  /** Fills servers of its own, and asks. */
  measure: (size: number) => Promise<Figure[]>
}

/** At most: on a busy machine, fewer questions are asked. */
const seconds = 8
const warmUpSeconds = 5
/** A small repository has other commits left after so many questions. */
const timesMax = 400

/**
 * Asks one question after the other, each by one caller, after all of them were asked for a while: code that runs the first times is
 * slower. CPU time is that of all processes below this one, which the services, PostgreSQL, Redis and git are: other load on the machine
 * changes it less than it changes times.
 */
export async function askAll(questions: readonly Question[]): Promise<Figure[]> {
  const counted = questions.map(({ name, ask, most = timesMax }) => {
    let asked = 0
    const work = () => ask(asked++).then(() => {})
    return { name, work, most, asked: () => asked }
  })
  for (const { work, most } of counted)
    await workThrough(work, { workers: 1, seconds: warmUpSeconds, most: most / 4 })
  const figures: Figure[] = []
  for (const { name, work, most, asked } of counted) {
    const [askedBefore, cpuMsBefore] = [asked(), cpuMsBelow(process.pid)]
    const { p50Ms } = await workThrough(work, { workers: 1, seconds, most: most - askedBefore })
    figures.push({ name, value: (cpuMsBelow(process.pid) - cpuMsBefore) / (asked() - askedBefore), p50Ms })
  }
  return figures
}

/** An answer that is refused would be a fast one. */
export function expectAnswer({ status, text }: { status: number; text: string }): string {
  if (status >= 300) throw new Error(`${status} ${text.slice(0, 500)}`)
  return text
}

/** One of some values, those next to each other far apart. */
export const pick = <Value>(values: readonly Value[], index: number): Value =>
  values[(index * 7919) % values.length] as Value

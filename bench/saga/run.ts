import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checkLog, startDatabases } from './databases.js'
import { FlushProbe, likeTheLoad, sparse } from './disk.js'
import type { LoadOrder, LoadResult } from './load.js'
import { LoadProcess } from './load-process.js'
import { cpuSecondsOfTree, usageOf } from './process-usage.js'
import { type Subject, startReporter, startServer } from './subjects.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    /** Before each of these. */
    warmUp: { type: 'string', default: '2' },
    /** Events a second of `half`; half of what each side reaches right before when left out. */
    rate: { type: 'string' },
    /** Folder for a CPU profile of the reporter. */
    profile: { type: 'string' },
    /** What to measure: sides of the ratios, `half`, `pipeline`. */
    only: { type: 'string', default: 'echo,one,each,two,half,pipeline' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const parts = options.only.split(',')

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const allSides = ['echo', 'one', 'each', 'two'] as const
type Side = (typeof allSides)[number]
const sides = allSides.filter((side) => parts.includes(side))
const names: Record<Side, string> = {
  echo: 'bare grpc-js echo',
  one: 'one reporter',
  each: 'one INSERT per call',
  two: 'two reporters',
}

/** Long enough for the whole collections of the reporter's heap to be among them. */
const halfSeconds = 25
const halfSides = ['one', 'echo', 'each'] as const

const databases = await startDatabases(['one', 'each', 'two', 'pipeline', 'plain'])
const load = new LoadProcess()
let runs = 0
/** What each database must hold. */
const acknowledged = { one: 0, each: 0, two: 0 }

async function measure(side: Side, ports: number[], given: Partial<LoadOrder> = {}): Promise<LoadResult> {
  runs += 1
  const runDigits = `${1_000_000 + runs}`
  const order = {
    ports,
    streams: 100,
    seconds,
    warmUpSeconds: Number(options.warmUp),
    runDigits,
    echo: side === 'echo',
  }
  const result = await load.run({ ...order, ...given })
  if (result.refused > 0) throw new Error(`${names[side]}: ${result.refused} events refused`)
  if (side !== 'echo') acknowledged[side] += result.acknowledged
  return result
}

async function measureRatios(subjects: Record<Side, Subject[]>): Promise<void> {
  const figures: Record<Side, LoadResult[]> = { echo: [], one: [], each: [], two: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of sides) {
      const [before, databaseBefore] = [cpuOf(subjects[side]), cpuSecondsOfTree(databases.pid)]
      const result = await measure(
        side,
        subjects[side].map(({ port }) => port),
      )
      const [after, databaseAfter] = [cpuOf(subjects[side]), cpuSecondsOfTree(databases.pid)]
      const microseconds = (used: number) => `${((used * 1e6) / result.acknowledged).toFixed(1)} µs`
      console.log(
        `${round === 0 ? 'warm-up' : `round ${round}`}  ${names[side].padEnd(20)} ${result.perSecond.toFixed(0).padStart(6)}/s` +
          `  p50 ${result.p50Ms.toFixed(1)} ms  p99 ${result.p99Ms.toFixed(1)} ms  CPU per event: server ` +
          `${microseconds(after - before)}, database ${microseconds(databaseAfter - databaseBefore)}, load ${result.loadMicroseconds.toFixed(1)} µs`,
      )
      if (round > 0) figures[side].push(result)
    }
  }
  const perSecond = (side: Side) => figures[side].map((result) => result.perSecond)
  const ratio = (what: string, over: Side, under: Side) => {
    if (!sides.includes(over) || !sides.includes(under)) return
    const ratios = perSecond(over).map((value, round) => value / (perSecond(under)[round] ?? Number.NaN))
    say(what, median(ratios).toFixed(2), ratios.map((value) => value.toFixed(2)).join(' '))
  }
  console.log()
  for (const side of sides) say(names[side], `${median(perSecond(side)).toFixed(0)}/s`)
  ratio('one reporter ÷ echo', 'one', 'echo')
  ratio('one reporter ÷ one INSERT per call', 'one', 'each')
  ratio('two reporters ÷ one', 'two', 'one')
}

/**
 * The p99 of each side at half of what it reached right before, since machines change within minutes: that of the echo and
 * of one INSERT per call is what the machine leaves to any server. No commit is sooner than the disk: bare flushes are
 * timed before it, as many as a reporter needs, and beside it, a few.
 */
async function measureHalf(subjects: Record<Side, Subject[]>): Promise<void> {
  const probe = new FlushProbe()
  const flushMs: number[] = []
  const figures = halfSides.map((side) => ({
    side,
    rates: [] as number[],
    halves: [] as LoadResult[],
    besideMs: [] as number[],
  }))
  try {
    for (let round = 1; round <= rounds; round += 1) {
      // The system writes back what it holds half a minute later, and every flush of the WAL waits for that.
      execFileSync('sync')
      flushMs.push(await probe.p99Ms(halfSeconds, likeTheLoad))
      for (const { side, rates, halves, besideMs } of figures) {
        const ports = subjects[side].map(({ port }) => port)
        const rate =
          options.rate === undefined ? (await measure(side, ports)).perSecond / 2 : Number(options.rate)
        execFileSync('sync')
        const [half, beside] = await Promise.all([
          measure(side, ports, { rate, seconds: halfSeconds }),
          probe.p99Ms(halfSeconds, sparse),
        ])
        rates.push(rate)
        halves.push(half)
        besideMs.push(beside)
      }
    }
  } finally {
    probe.close()
  }
  const tell = (what: string, unit: string, values: number[]) =>
    say(what, `${median(values).toFixed(0)}${unit}`, values.map((value) => value.toFixed(0)).join(' '))
  console.log()
  for (const { side, rates, halves, besideMs } of figures) {
    tell(`${names[side]}, half of the most`, '/s', rates)
    tell(
      '  p99',
      ' ms',
      halves.map(({ p99Ms }) => p99Ms),
    )
    tell(
      '  p50',
      ' ms',
      halves.map(({ p50Ms }) => p50Ms),
    )
    tell('  p99 of a few bare flushes beside', ' ms', besideMs)
  }
  tell(`bare flushes alone, ${likeTheLoad.perSecond} a second, p99`, ' ms', flushMs)
}

const cpuOf = (subjects: Subject[]) => subjects.reduce((sum, { pid }) => sum + usageOf(pid).cpuSeconds, 0)

function say(what: string, value: string, more = ''): void {
  console.log(`${what.padEnd(46)} ${value.padStart(10)}  ${more}`)
}

async function measurePipeline(): Promise<void> {
  const { pipeline, plain } = databases.urls
  // Without the condition that picks sources: what is measured is built code.
  const execArgv = process.execArgv.filter((argument) => !argument.startsWith('--conditions'))
  const child = fork(
    fileURLToPath(new URL('./pipeline.ts', import.meta.url)),
    [pipeline, plain, `${rounds}`],
    { execArgv },
  )
  const [figures] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the pipeline ended early')
    }),
  ])) as [{ pipeline: number; plain: number }[]]
  const ratios = figures.map((figure) => figure.pipeline / figure.plain)
  say('pipeline alone', `${median(figures.map((figure) => figure.pipeline)).toFixed(0)}/s`)
  say(
    'plain unnest inserts of the same rows',
    `${median(figures.map((figure) => figure.plain)).toFixed(0)}/s`,
  )
  say(
    'pipeline ÷ plain unnest inserts',
    median(ratios).toFixed(2),
    ratios.map((value) => value.toFixed(2)).join(' '),
  )
}

async function startSubjects(): Promise<Record<Side, Subject[]>> {
  const { one, each, two } = databases.urls
  const start: Record<Side, () => Promise<Subject>[]> = {
    echo: () => [startServer('echo')],
    one: () => [startReporter(one, options.profile)],
    each: () => [startServer('insert-each', each)],
    two: () => [startReporter(two), startReporter(two)],
  }
  const subjects: Record<Side, Subject[]> = { echo: [], one: [], each: [], two: [] }
  const needed = new Set<Side>([...sides, ...(parts.includes('half') ? halfSides : [])])
  for (const side of needed) subjects[side] = await Promise.all(start[side]())
  return subjects
}

try {
  const subjects = await startSubjects()
  if (sides.length > 0) await measureRatios(subjects)
  if (parts.includes('half')) await measureHalf(subjects)
  for (const subject of Object.values(subjects).flat()) await subject.stop()
  for (const side of ['one', 'each', 'two'] as const) await checkLog(databases.urls[side], acknowledged[side])
  if (parts.includes('pipeline')) await measurePipeline()
} finally {
  load.close()
  await databases.close()
}

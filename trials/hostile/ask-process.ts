import { setTimeout as delay } from 'node:timers/promises'

/** A request of the neighbour, and its frequency. */
export interface Question {
  url: string
  token: string
  everyMs: number
}

/** The statistics of the answers to the neighbour. */
export interface Answers {
  p99Ms: number
  worstMs: number
  count: number
  /** Answers without success, and requests without an answer. */
  failures: number
}

/** Time after which a neighbour gives up. */
const timeoutMs = 30_000

const questions = JSON.parse(process.argv[2] ?? '') as Question[]
let isOver = false

async function ask({ url, token }: Question): Promise<{ tookMs: number; isGood: boolean }> {
  const startedMs = performance.now()
  const signal = AbortSignal.timeout(timeoutMs)
  const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': token }, signal }).catch(() => null)
  const whole = await answer?.arrayBuffer().catch(() => null)
  return { tookMs: performance.now() - startedMs, isGood: answer?.ok === true && whole !== null }
}

async function askUntilOver(question: Question): Promise<Answers> {
  const asked: ReturnType<typeof ask>[] = []
  while (!isOver) {
    asked.push(ask(question))
    await delay(question.everyMs)
  }
  const answers = await Promise.all(asked)
  const times = answers.map(({ tookMs }) => tookMs).sort((one, other) => one - other)
  return {
    p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0,
    worstMs: times.at(-1) ?? 0,
    count: times.length,
    failures: answers.filter(({ isGood }) => !isGood).length,
  }
}

// Loading and the first connection are not measured.
await Promise.all(questions.map(ask))
process.send?.('ready')
process.once('message', () => {
  isOver = true
})
const answers = await Promise.all(questions.map(askUntilOver))
process.send?.(answers, () => process.disconnect())

import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@switchyard/testing'
import { chanceOf, shuffle } from '../support/chance.js'
import { findProblems } from './check.js'
import { type Fault, faults, type Scene } from './faults.js'
import { startInstallation } from './installation/installation.js'
import { startLoad } from './load/load.js'

/** Time limit after a fault until every service is ready and every kind of write is acknowledged again. */
const recoveredWithinMs = 90_000

export interface ChaosOptions {
  seed: number
  /** Unset: every short fault once, one after the other. */
  minutes?: number
  log(line: string): void
}

export interface Survived {
  fault: string
  /** Number of failed writes during the fault. */
  failed: number
  recoverySeconds: number
}

export interface Outcome {
  survived: Survived[]
  skipped: string[]
  problems: string[]
  acknowledged: Record<string, number>
  failed: number
  webhooks: { requests: number; deliveries: number }
}

/**
 * Starts an installation with load, injects faults, and compares the stored data with the acknowledged
 * writes.
 */
export async function runChaos({ seed, minutes, log }: ChaosOptions): Promise<Outcome> {
  const chance = chanceOf(seed)
  const installation = await startInstallation(minutes === undefined ? 512 : 2048)
  let isRight = false
  try {
    const load = await startLoad(installation)
    const scene: Scene = { installation, load, chance }
    try {
      await waitForRecovery(scene)
      const { possible, skipped } = sortOut(scene)
      for (const line of skipped) log(`SKIPPED: ${line}`)
      const survived: Survived[] = []
      for (const round of plan(possible, chance, minutes)) {
        survived.push(await survive(round, scene, minutes === undefined ? 500 : 2000))
        log(lineOf(survived.at(-1)))
      }
      const problems = await findProblems(scene)
      isRight = problems.length === 0
      const figures = { acknowledged: load.acknowledged(), failed: load.failed() }
      return { survived, skipped, problems, ...figures, webhooks: load.receiver.figures() }
    } finally {
      await load.close()
    }
  } finally {
    if (!isRight) log(`the logs are in ${installation.folder}`)
    await installation.stop(!isRight)
  }
}

const lineOf = (survived?: Survived) =>
  survived
    ? `${survived.fault}: ${survived.failed} writes failed, all well after ${survived.recoverySeconds.toFixed(1)} s`
    : ''

function sortOut({ installation }: Scene) {
  const lacks = (fault: Fault) => fault.lacks?.(installation) ?? null
  return {
    possible: faults.filter((fault) => lacks(fault) === null),
    skipped: faults.filter((fault) => lacks(fault) !== null).map((fault) => `${fault.name}: ${lacks(fault)}`),
  }
}

/** Yields the faults of each round: in a short run each fault alone. */
function* plan(possible: Fault[], chance: () => number, minutes?: number): Generator<Fault[]> {
  if (minutes === undefined)
    yield* shuffle(
      possible.filter(({ long }) => !long),
      chance,
    ).map((fault) => [fault])
  else yield* longPlan(possible, chance, performance.now() + minutes * 60_000)
}

/**
 * A clock fault waits for an acknowledged write before it begins, so its pair must be a fault during which
 * writes continue.
 */
const fits = (fault: Fault, other: Fault) =>
  fault.hits !== other.hits &&
  (fault.hits !== 'clock' || other.writesContinue === true) &&
  (other.hits !== 'clock' || fault.writesContinue === true)

/** Yields all faults repeatedly, four of ten with another one that affects a different part. */
function* longPlan(possible: Fault[], chance: () => number, endMs: number): Generator<Fault[]> {
  for (;;) {
    for (const fault of shuffle(possible, chance)) {
      if (performance.now() > endMs) return
      const others = possible.filter((other) => fits(fault, other))
      const other = others[Math.floor(chance() * others.length)]
      yield other && chance() < 0.4 ? [fault, other] : [fault]
    }
  }
}

async function survive(round: Fault[], scene: Scene, heldMs: number): Promise<Survived> {
  const { load, chance } = scene
  const failedBefore = load.failed()
  const ends = await Promise.all(round.map(async (fault) => fault.begin(scene)))
  await delay(heldMs * (1 + chance()))
  if (round.every(({ writesContinue }) => writesContinue)) {
    const before = load.counts()
    await waitFor(() => load.idleSince(before).length === 0, {
      what: `writes during ${round.map(({ name }) => name)}`,
      timeoutMs: recoveredWithinMs,
      intervalMs: 100,
    })
  }
  for (const end of ends) await end()
  const fault = round.map(({ name }) => name).join(' + ')
  const recoverySeconds = await waitForRecovery(scene).catch((error: Error) => {
    throw new Error(`after ${fault}: ${error.message}`)
  })
  return { fault, failed: load.failed() - failedBefore, recoverySeconds }
}

/** @returns seconds until every service was ready and every kind of write was acknowledged again */
async function waitForRecovery({ installation, load }: Scene): Promise<number> {
  const startedMs = performance.now()
  const before = load.counts()
  let missing = ''
  const isWell = async () => {
    const idle = load.idleSince(before)
    const notReady = await installation.notReady()
    missing = `idle: ${idle.join(', ')}; not ready: ${notReady.join(', ')}`
    return idle.length === 0 && notReady.length === 0
  }
  await waitFor(isWell, { what: 'recovery', timeoutMs: recoveredWithinMs, intervalMs: 100 }).catch(() => {
    throw new Error(`no recovery within ${recoveredWithinMs / 1000} s: ${missing}`)
  })
  return (performance.now() - startedMs) / 1000
}

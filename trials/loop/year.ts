import type { QueueSample, SagaRun } from '@switchyard/delivery-impact'
import { chanceOf } from '../support/chance.js'

const minuteMs = 60_000
const dayMinutes = 24 * 60
export const yearMinutes = 365 * dayMinutes

/** A service. Minutes count from the beginning of the year, which is a Monday. */
export interface Service {
  number: number
  sagasAnHour: number
  failureRate: number
  seconds: number
}

export interface Deployment {
  id: number
  services: number[]
  startedMinute: number
  finishedMinute: number
}

export const kinds = ['rate', 'new_failure', 'slow', 'stuck', 'queue', 'jobs'] as const
export type Kind = (typeof kinds)[number]
const planned = kinds.filter((kind) => kind !== 'jobs')

/** A temporary problem of services. */
export interface Trouble {
  kind: Kind
  services: number[]
  fromMinute: number
  toMinute: number
  /** Share of the sagas or jobs that fail or wait, or the factor by which sagas and queues are slower. */
  size: number
  fingerprint: string
  /** Id of the deployment that caused it; null: none. */
  cause: number | null
}

export interface Year {
  services: Service[]
  /** Deployments by time. */
  deployments: Deployment[]
  troubles: Trouble[]
}

export interface Plan {
  seed: number
  services: number
  deployments: number
  regressions: number
  outages: number
}

/** Returns random numbers and choices of a seed. */
function drawsOf(seed: number) {
  const chance = chanceOf(seed)
  const between = (from: number, to: number) => from + chance() * (to - from)
  return {
    chance,
    between,
    logBetween: (from: number, to: number) => Math.exp(between(Math.log(from), Math.log(to))),
    pick: <Item>(items: readonly Item[]): Item => items[Math.floor(chance() * items.length)] as Item,
  }
}

type Draws = ReturnType<typeof drawsOf>

/** Plans a year from a seed: its deployments, its problems and their causes. */
export function planYear(plan: Plan): Year {
  const draws = drawsOf(plan.seed)
  const services = Array.from({ length: plan.services }, (_, number) => ({
    number,
    sagasAnHour: draws.logBetween(60, 900),
    failureRate: draws.logBetween(0.002, 0.04),
    seconds: draws.logBetween(0.2, 60),
  }))
  const year: Year = { services, deployments: [], troubles: [] }
  for (let number = 0; number < plan.regressions; number += 1) planRegression(year, draws, number)
  for (let number = 0; number < plan.outages; number += 1) planOutage(year, draws, number)
  while (year.deployments.length < plan.deployments) {
    const minute = workingMinute(draws.chance)
    const chosen = chooseServices(year, draws)
    deploy(year, draws, chosen, minute)
    // Some deployments are concurrent, even with the same service.
    if (draws.chance() < 0.1) {
      const beside = draws.chance() < 0.5 ? chosen : chooseServices(year, draws)
      deploy(year, draws, beside, minute + draws.between(0, 8))
    }
  }
  year.deployments.sort((a, b) => a.startedMinute - b.startedMinute)
  return year
}

function deploy(
  { deployments }: Year,
  { between }: Draws,
  services: number[],
  startedMinute: number,
): Deployment {
  const finishedMinute = startedMinute + between(1, 5)
  const deployment = { id: deployments.length + 1, services, startedMinute, finishedMinute }
  deployments.push(deployment)
  return deployment
}

const chooseServices = ({ services }: Year, { pick }: Draws): number[] => [
  ...new Set(Array.from({ length: pick([1, 1, 1, 2, 3]) }, () => pick(services).number)),
]

function planRegression(year: Year, draws: Draws, number: number): void {
  const { chance, between, logBetween, pick } = draws
  const chosen = chooseServices(year, draws)
  const cause = deploy(year, draws, chosen, workingMinute(chance))
  const fromMinute = cause.finishedMinute + between(0, 3)
  const toMinute = fromMinute + between(45, 240)
  const kind = queueKindOf(planned[number % planned.length] as Kind, number)
  const size = sizeOf(kind, logBetween)
  const fingerprint = `regression-${number}`
  year.troubles.push({
    kind,
    services: [pick(chosen)],
    fromMinute,
    toMinute,
    size,
    fingerprint,
    cause: cause.id,
  })
  // Most regressions end with a rollback.
  if (chance() < 0.7) deploy(year, draws, chosen, toMinute)
}

function planOutage({ services, deployments, troubles }: Year, draws: Draws, number: number): void {
  const { chance, between, logBetween, pick } = draws
  const near = chance() < 0.33 ? pick(deployments).finishedMinute + between(12, 55) : null
  const fromMinute = near ?? between(0, yearMinutes)
  const share = chance() < 0.5 ? between(0.3, 1) : 0
  const hit = services.filter(() => chance() < share).map((service) => service.number)
  const kind = queueKindOf(pick(planned), number)
  troubles.push({
    kind,
    services: hit.length > 0 ? hit : [pick(services).number],
    fromMinute,
    toMinute: fromMinute + logBetween(5, 90),
    size: kind === 'slow' || kind === 'queue' ? between(2, 8) : between(0.2, 1),
    fingerprint: chance() < 0.5 ? 'usual-0' : `outage-${number}`,
    cause: null,
  })
}

/** Every second problem of a queue makes its jobs fail instead of making it slow. */
const queueKindOf = (kind: Kind, number: number): Kind =>
  kind === 'queue' && number % 2 === 1 ? 'jobs' : kind

function sizeOf(kind: Kind, logBetween: (from: number, to: number) => number): number {
  switch (kind) {
    case 'rate':
    case 'jobs':
      return logBetween(0.1, 0.6)
    case 'new_failure':
      return logBetween(0.04, 0.4)
    case 'slow':
      return logBetween(1.6, 5)
    case 'stuck':
      return logBetween(0.08, 0.5)
    case 'queue':
      return logBetween(3, 20)
  }
}

/** Returns a minute between 9 and 18 from Monday to Friday. */
function workingMinute(chance: () => number): number {
  const week = Math.floor(chance() * 52)
  const day = Math.floor(chance() * 5)
  return (week * 7 + day) * dayMinutes + 9 * 60 + chance() * 9 * 60
}

/** Returns the relative load of a minute: higher by day than by night, and half on weekends. */
function rhythm(minute: number): number {
  const hour = (minute % dayMinutes) / 60
  const day = Math.floor(minute / dayMinutes) % 7
  return (0.65 - 0.45 * Math.cos(((hour - 2) / 24) * 2 * Math.PI)) * (day < 5 ? 1 : 0.5)
}

const seedOf = (...numbers: number[]) =>
  numbers.reduce(
    (seed, number) => Math.floor(chanceOf(seed ^ Math.imul(number + 1, 0x9e3779b1))() * 2 ** 32),
    1,
  )

/** Returns a number of the normal distribution (G. Box and M. Muller, 1958). */
const normal = (chance: () => number) =>
  Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance())

function poisson(mean: number, chance: () => number): number {
  let [count, product] = [0, chance()]
  for (const limit = Math.exp(-mean); product > limit; product *= chance()) count += 1
  return count
}

const startOfYear = Date.UTC(2024, 0, 1)
export const timeOf = (minute: number): number => startOfYear + minute * minuteMs

/** Returns the activity of services by minute, which is the same for every call. */
export function observe(year: Year, seed: number) {
  const troublesOf = year.services.map(({ number }) =>
    year.troubles.filter(({ services }) => services.includes(number)),
  )
  /**
   * Returns the shares of failed and of waiting sagas in each hour before a minute, and the activity of
   * queues in them.
   */
  function hoursBefore(service: Service, minute: number, hours: number) {
    const did = Array.from({ length: hours }, (_, hour) =>
      minutesOf(service, minute - (hour + 1) * 60, minute - hour * 60),
    )
    const sharesOf = (isHit: (run: SagaRun) => boolean) =>
      did.map(({ runs }) => ({ hits: runs.filter(isHit).length, of: runs.length }))
    const shares = { failed: sharesOf(({ failed }) => failed), stuck: sharesOf(({ stuck }) => stuck) }
    return { shares, queues: did.reverse().flatMap(({ queues }) => queues) }
  }
  function minutesOf(service: Service, from: number, to: number) {
    const [runs, queues]: [SagaRun[], QueueSample[]] = [[], []]
    const near = (troublesOf[service.number] ?? []).filter(
      ({ fromMinute, toMinute }) => fromMinute < to && toMinute > from,
    )
    for (let minute = Math.floor(from); minute < to; minute += 1) {
      const hourly = chanceOf(seedOf(seed, service.number, Math.floor(minute / 60)))
      const noise = { failures: Math.exp(0.4 * normal(hourly)), seconds: Math.exp(0.07 * normal(hourly)) }
      const chance = chanceOf(seedOf(seed, service.number, minute, 7))
      const sagas = poisson((service.sagasAnHour / 60) * rhythm(minute), chance)
      for (let number = 0; number < sagas; number += 1) {
        const at = minute + (number + chance()) / sagas
        if (at >= from && at < to) runs.push(runAt(at, service, near, noise, chance))
      }
      queues.push(queueAt(minute, service, near, chance))
    }
    return { runs, queues: queues.filter(({ at }) => at >= timeOf(from) && at < timeOf(to)) }
  }
  return { minutesOf, hoursBefore }
}

function runAt(
  minute: number,
  service: Service,
  near: readonly Trouble[],
  noise: { failures: number; seconds: number },
  chance: () => number,
): SagaRun {
  const active = near.filter(({ fromMinute, toMinute }) => minute >= fromMinute && minute < toMinute)
  const harmed = active.find(
    ({ kind, size }) => (kind === 'rate' || kind === 'new_failure') && chance() < size,
  )
  const failed = harmed !== undefined || chance() < Math.min(0.5, service.failureRate * noise.failures)
  const slower = active.find(({ kind }) => kind === 'slow')?.size ?? 1
  const stuck = active.some(({ kind, size }) => kind === 'stuck' && chance() < size) || chance() < 0.002
  const seconds = service.seconds * noise.seconds * slower * Math.exp(0.5 * normal(chance))
  const usual =
    chance() < 0.03 ? `rare-${Math.floor(chance() * 1e9)}` : `usual-${Math.floor(chance() ** 2 * 8)}`
  const own = harmed?.kind === 'new_failure' ? harmed.fingerprint : usual
  return {
    at: timeOf(minute),
    failed,
    seconds: stuck ? null : seconds,
    fingerprint: failed ? own : null,
    stuck,
  }
}

/** Latencies are whole seconds, as in the history of queues. */
function queueAt(
  minute: number,
  service: Service,
  near: readonly Trouble[],
  chance: () => number,
): QueueSample {
  const sizeOfTrouble = (asked: Kind) =>
    near.find(({ kind, fromMinute, toMinute }) => kind === asked && minute >= fromMinute && minute < toMinute)
      ?.size
  const usualSeconds = 0.5 + service.seconds / 20
  const latencySeconds = Math.floor(
    (sizeOfTrouble('queue') ?? 1) * usualSeconds * Math.exp(0.4 * normal(chance)),
  )
  const jobs = poisson((service.sagasAnHour / 60) * rhythm(minute), chance)
  const failing = Math.max(sizeOfTrouble('jobs') ?? 0, service.failureRate)
  const failed = Array.from({ length: jobs }, chance).filter((drawn) => drawn < failing).length
  return { at: timeOf(minute), latencySeconds, jobs, failed }
}

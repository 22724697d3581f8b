import {
  type Finding,
  findImpact,
  isCommonCause,
  looksWithin,
  type ServiceHistory,
} from '@switchyard/delivery-impact'
import { type Deployment, type observe, type Service, timeOf, type Year } from './year.js'

const windowMinutes = 60
const sagasMin = 20
/** Deployments of a service that finish within this many minutes of each other share their consequences. */
const sharedMinutes = 12

export interface Alarm {
  deployments: number[]
  service: number
  finding: Finding
  /** Minutes from the end of the deployment to the comparison that found it. */
  delayMinutes: number
  finishedMinute: number
}

type Observed = ReturnType<typeof observe>

/** Returns every alarm of a year that comparisons of each deployment raise, one for each service. */
export function alarmsOf(year: Year, observed: Observed): Alarm[] {
  const alarms: Alarm[] = []
  for (const deployment of year.deployments)
    for (const number of deployment.services) {
      const service = year.services[number] as Service
      const shared = sharersOf(year, deployment, number)
      // The first of several concurrent deployments raises the alarm for all.
      if (shared[0]?.id !== deployment.id) continue
      const alarm = firstAlarm(year, observed, deployment, service)
      if (alarm) alarms.push({ ...alarm, deployments: shared.map(({ id }) => id) })
    }
  return alarms
}

const sharersOf = ({ deployments }: Year, { startedMinute, finishedMinute }: Deployment, service: number) =>
  deployments.filter(
    (other) =>
      other.services.includes(service) &&
      other.startedMinute <= finishedMinute + sharedMinutes &&
      other.finishedMinute >= startedMinute - sharedMinutes,
  )

function firstAlarm(year: Year, observed: Observed, deployment: Deployment, service: Service) {
  const { startedMinute, finishedMinute } = deployment
  const from = startedMinute - windowMinutes
  const daysKept = new Map<number, ReturnType<Observed['hoursBefore']>>()
  const historyOf = (of: Service, to: number): ServiceHistory => {
    const { runs, queues } = observed.minutesOf(of, from, to)
    const day = daysKept.get(of.number) ?? observed.hoursBefore(of, startedMinute, 24)
    daysKept.set(of.number, day)
    const knownFingerprints = new Set(
      runs.flatMap(({ fingerprint }) => (isUsual(fingerprint) ? [fingerprint] : [])),
    )
    const earlier = day.queues.filter(({ at }) => at < timeOf(from))
    return { runs, queues: [...earlier, ...queues], hours: day.shares, knownFingerprints }
  }
  // Sagas and queues have separate common causes, which stay.
  let parts = [sagasOf, queuesOf]
  for (const delayMinutes of looksWithin(windowMinutes)) {
    const to = finishedMinute + delayMinutes
    const moments = {
      from: timeOf(from),
      startedAt: timeOf(startedMinute),
      finishedAt: timeOf(finishedMinute),
      to: timeOf(to),
      sagasMin,
    }
    const history = historyOf(service, to)
    for (const part of parts) {
      const [finding] = findImpact(part(history), moments)
      if (!finding) continue
      const others = year.services
        .filter(({ number }) => !isDeployed(year, number, from, to))
        .map((other) => part(historyOf(other, to)))
      if (!isCommonCause(others, moments))
        return { service: service.number, finding, delayMinutes, finishedMinute }
      parts = parts.filter((each) => each !== part)
    }
  }
  return null
}

const sagasOf = (history: ServiceHistory): ServiceHistory => ({ ...history, queues: [] })
const queuesOf = (history: ServiceHistory): ServiceHistory => ({ ...history, runs: [] })

const isUsual = (fingerprint: string | null): fingerprint is string =>
  fingerprint?.startsWith('usual-') ?? false

const isDeployed = ({ deployments }: Year, service: number, from: number, to: number): boolean =>
  deployments.some(
    ({ services, startedMinute, finishedMinute }) =>
      services.includes(service) && startedMinute < to && finishedMinute > from,
  )

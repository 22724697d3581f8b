import { parseArgs } from 'node:util'
import { medianOf } from '@switchyard/delivery-impact'
import { median } from '../support/statistics.js'
import { type Alarm, alarmsOf } from './looks.js'
import { kinds, observe, planYear, type Trouble, type Year } from './year.js'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } })
const seed = Number(values.seed)
const plan = { seed, services: 30, deployments: 3000, regressions: 120, outages: 150 }

const year = planYear(plan)
const observed = observe(year, seed)
const startedAt = performance.now()
const alarms = alarmsOf(year, observed)

type Did = ReturnType<typeof observed.minutesOf>
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)
const failedOf = ({ runs }: Did) => runs.filter(({ failed }) => failed).length / Math.max(1, runs.length)
const figures = {
  rate: failedOf,
  new_failure: failedOf,
  stuck: ({ runs }: Did) => runs.filter(({ stuck }) => stuck).length / Math.max(1, runs.length),
  queue: ({ queues }: Did) => medianOf(queues.map(({ latencySeconds }) => latencySeconds ?? 0)) ?? 0,
  jobs: ({ queues }: Did) =>
    sumOf(queues.map(({ failed }) => failed)) / Math.max(1, sumOf(queues.map(({ jobs }) => jobs))),
}

const regressions = year.troubles.filter(({ cause }) => cause !== null)
const outages = year.troubles.filter(({ cause }) => cause === null)
const isRight = ({ deployments, service }: Alarm, { cause, services }: Trouble) =>
  cause !== null && deployments.includes(cause) && services.includes(service)
const right = alarms.filter((alarm) => regressions.some((regression) => isRight(alarm, regression)))
const wrong = alarms.filter((alarm) => !right.includes(alarm))
const found = regressions.filter((regression) => alarms.some((alarm) => isRight(alarm, regression)))
const visible = regressions.filter((regression) => isVisible(year, regression))
const blamed = outages.filter((outage) => wrong.some((alarm) => overlaps(alarm, outage)))
const delays = right.map(({ delayMinutes }) => delayMinutes)

/**
 * Returns whether a person could see a regression: twenty sagas or jobs in the hour after it, and twice the
 * figure of the hour before.
 */
function isVisible({ services }: Year, { services: [number = 0], fromMinute, toMinute, kind }: Trouble) {
  const service = services[number]
  if (!service) return false
  const before = observed.minutesOf(service, fromMinute - 60, fromMinute)
  const after = observed.minutesOf(service, fromMinute, Math.min(toMinute, fromMinute + 60))
  if (after.runs.length < 20) return false
  if (kind === 'slow') return true
  const figureOf = figures[kind]
  return figureOf(after) > 0 && figureOf(after) >= 2 * figureOf(before)
}

function overlaps({ service, finishedMinute }: Alarm, { services, fromMinute, toMinute }: Trouble) {
  return services.includes(service) && fromMinute < finishedMinute + 60 && toMinute > finishedMinute - 60
}

const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`
const count = (kind: string) =>
  `${found.filter((one) => one.kind === kind && visible.includes(one)).length} of ${visible.filter((one) => one.kind === kind).length}`
console.log(
  `Seed ${seed}: ${year.deployments.length} deployments of ${plan.services} services in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
)
console.table({
  'regression planted': {
    'alarm for its deployment': found.length,
    'no alarm': regressions.length - found.length,
  },
  'no regression planted': {
    'alarm for its deployment': wrong.length,
    'no alarm': year.deployments.length - regressions.length - wrong.length,
  },
})
console.log(
  `Precision ${percent(right.length, alarms.length)}, recall ${percent(found.filter((one) => visible.includes(one)).length, visible.length)} of the ${visible.length} that a person could see`,
)
console.log(`By kind: ${kinds.map((kind) => `${kind} ${count(kind)}`).join(', ')}`)
console.log(
  `Median delay ${median(delays)} minutes; ${blamed.length} of ${outages.length} outages blamed on a deployment (${percent(blamed.length, outages.length)})`,
)
for (const { finding, service, deployments } of wrong)
  console.log(
    'wrong:',
    deployments.join(' '),
    'service',
    service,
    finding.measure,
    finding.pValue.toExponential(1),
    finding.before,
    finding.after,
    finding.samplesAfter,
  )
for (const one of visible)
  if (!found.includes(one))
    console.log(
      'missed:',
      one.kind,
      one.size.toFixed(2),
      'service',
      one.services,
      year.services[one.services[0] ?? 0]?.sagasAnHour.toFixed(0),
    )

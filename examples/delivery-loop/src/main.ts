import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSagaClient } from '@switchyard/saga-client'
import { type Api, createApi } from './api.js'
import { type Deployment, deploy, findProject, type Impact, openShop, readImpact, type Shop } from './shop.js'
import { reportSagas } from './traffic.js'

const { SWITCHYARD_URL, SWITCHYARD_TOKEN, SAGA_ADDRESS, SAGA_TOKEN, SECONDS_BEFORE } = process.env
const url = (SWITCHYARD_URL || 'http://127.0.0.1:8080').replace(/\/$/, '')
/**
 * Time between two sagas. A comparison needs 20 sagas after a deployment, and enough before it to exclude
 * chance.
 */
const everyMs = 1000
const secondsBefore = Number(SECONDS_BEFORE || 60)
const rolloutMs = 5000
const shareOfFailures = 0.4
const compareMsMax = 5 * 60_000
const pollMs = 2000

const print = (text: string) => process.stdout.write(`${text}\n`)
const say = (text: string) => print(`${new Date().toTimeString().slice(0, 8)} ${text}`)

/** Removes the project of an earlier run. Its sagas are removed later by retention. */
async function remove(api: Api): Promise<void> {
  const project = await findProject(api)
  if (project) await api.send('DELETE', `/projects/${project.id}`)
  print(project ? `Removed ${project.path_with_namespace}.` : 'There is no example data.')
  if (project) print('Its sagas go when SAGA_RETENTION says: 30 days after their end, unless it is set.')
}

/** Waits until the worker has compared a deployment. */
async function compared(api: Api, shop: Shop, deployment: Deployment, signal: AbortSignal): Promise<Impact> {
  const giveUpAt = Date.now() + compareMsMax
  for (;;) {
    const impact = await readImpact(api, shop, deployment)
    if (impact.after !== null) return impact
    if (Date.now() > giveUpAt) throw new Error('The worker has compared nothing: does it run?')
    await wait(pollMs, undefined, { signal })
  }
}

const words: Record<string, string> = { failures: 'more sagas fail', new_failure: 'a new failure' }

function tell({ services, rule_runs }: Impact, name: string): void {
  const findings = services.flatMap(({ findings }) => findings)
  if (findings.length === 0) say(`${name}: nothing became worse.`)
  for (const { measure, confidence } of findings) {
    const percent = Math.floor(confidence * 10_000) / 100
    say(`${name}: ${words[measure] ?? measure}, with a confidence over ${percent} %.`)
  }
  for (const { rule, dry_run, ...run } of rule_runs) {
    const deeds = [
      ...(run.freeze ? [`frozen ${run.environment}`] : []),
      ...(run.banner_message === null ? [] : ['shown a banner']),
      ...(run.webhook ? ['told the webhooks'] : []),
    ].join(', ')
    say(`The rule '${rule.name}' ${dry_run ? `would have ${deeds}; it is a dry run` : `has ${deeds}`}.`)
  }
}

/**
 * Runs the example while both services report sagas. One of them begins to fail with the second deployment.
 */
async function play(api: Api, shop: Shop, traffic: Traffic, signal: AbortSignal): Promise<void> {
  say(`${shop.checkout} and ${shop.mail} report a saga a second each, and all succeed.`)
  await wait(secondsBefore * 1000, undefined, { signal })
  const [sha, next] = shop.commits
  const during = () => wait(rolloutMs, undefined, { signal })
  const harmless = await deploy(api, shop, { sha, service: shop.mail, during })
  say(`Deployment ${harmless.iid} has shipped ${shop.mail}, which stays as it was.`)
  const harmful = await deploy(api, shop, {
    sha: next,
    service: shop.checkout,
    during: () => {
      traffic.isBroken = true
      return during()
    },
  })
  say(`Deployment ${harmful.iid} has shipped ${shop.checkout}: four of ten sagas fail from now on.`)
  say('The first comparison comes two minutes after the end of a deployment.')
  tell(await compared(api, shop, harmless, signal), `Deployment ${harmless.iid}`)
  tell(await compared(api, shop, harmful, signal), `Deployment ${harmful.iid}`)
  print(`
Now look:
  the overview, where the deployment is a red mark: ${url}/console/
  what began with it:                               ${url}/console/failures
  before and after:                                 ${url}/console/projects/${shop.path}/deployments/${harmful.id}
  what the rule did, or would have done:            ${url}/console/projects/${shop.path}/settings?rule=${shop.ruleId}
All of it is example data. The same command with --remove removes it.`)
}

interface Traffic {
  isBroken: boolean
}

async function main(api: Api, stop: AbortController): Promise<void> {
  const earlier = await findProject(api)
  if (earlier)
    throw new Error(`There is example data already, ${earlier.path_with_namespace}: --remove removes it.`)
  print(`Example data goes to ${url}. It takes about ${Math.ceil((secondsBefore + 150) / 60)} minutes.`)
  const shop = await openShop(api)
  const traffic: Traffic = { isBroken: false }
  const address = SAGA_ADDRESS || '127.0.0.1:50051'
  const reporterOf = (serviceName: string) =>
    createSagaClient({
      address,
      serviceName,
      token: SAGA_TOKEN || undefined,
      giveUpAfterMs: 10_000,
      onNotStored: ({ operation }, result) =>
        stop.abort(
          new Error(
            `${operation} was not stored: ${JSON.stringify(result)}. The gRPC port is ${address}, unless SAGA_ADDRESS names another one.`,
          ),
        ),
    })
  const reporters = [reporterOf(shop.checkout), reporterOf(shop.mail)]
  const ended = new AbortController()
  const signal = AbortSignal.any([stop.signal, ended.signal])
  const checkoutFails = () =>
    traffic.isBroken && Math.random() < shareOfFailures ? new Error(shop.problem) : undefined
  const reports = reporters.map((reporter, index) =>
    reportSagas(reporter, { everyMs, signal, problemOf: index === 0 ? checkoutFails : () => undefined }),
  )
  try {
    await play(api, shop, traffic, stop.signal)
  } finally {
    ended.abort()
    await Promise.all(reports)
    await Promise.all(reporters.map((reporter) => reporter.close()))
  }
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () =>
    stop.abort(new Error('Stopped. The same command with --remove removes what is there.')),
  )
try {
  const { values } = parseArgs({ options: { remove: { type: 'boolean', default: false } } })
  if (!SWITCHYARD_TOKEN) throw new Error('SWITCHYARD_TOKEN has to be a token of scope api.')
  const api = createApi(url, SWITCHYARD_TOKEN)
  await (values.remove ? remove(api) : main(api, stop))
} catch (error) {
  const { message } = (stop.signal.aborted ? stop.signal.reason : error) as Error
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

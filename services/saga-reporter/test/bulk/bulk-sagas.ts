import type { createTokens, startHarness } from '../harness.js'

type Harness = Pick<Awaited<ReturnType<typeof startHarness>>, 'baseUrl'>
type Tokens = Awaited<ReturnType<typeof createTokens>>

/** Returns functions that call the bulk endpoints of a running service. */
export function bulkClient({ baseUrl }: Harness, tokens: Tokens) {
  const send = (
    method: string,
    path: string,
    { body, token = 'administrator' }: { body?: object; token?: keyof Tokens | null } = {},
  ) =>
    fetch(`${baseUrl}/api/v4/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token && { 'PRIVATE-TOKEN': tokens[token] }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const json = async (path: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: the tests compare what they read
    (await (await send('GET', path)).json()) as any
  /** Waits until the job has one of these states. */
  async function ended(id: number, ...states: string[]) {
    const endMs = Date.now() + 30_000
    for (;;) {
      const job = await json(`sagas/bulk/${id}`)
      if (states.includes(job.state)) return job
      if (Date.now() > endMs) throw new Error(`job ${id} is still ${job.state}: ${JSON.stringify(job)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  async function start(body: object, expected = 201) {
    const response = await send('POST', 'sagas/bulk', { body })
    const job = await response.json()
    if (response.status !== expected) throw new Error(`${response.status}: ${JSON.stringify(job)}`)
    return job as { id: number; matched: number; state: string }
  }
  /** Reports events in requests of at most 900. */
  async function report(events: object[]) {
    for (let at = 0; at < events.length; at += 900) {
      const response = await send('POST', 'saga_events', {
        body: { events: events.slice(at, at + 900) },
        token: 'reporter',
      })
      const { results } = (await response.json()) as { results: { outcome: string }[] }
      const refused = results.filter(({ outcome }) => outcome !== 'recorded')
      if (refused.length > 0) throw new Error(JSON.stringify(refused[0]))
    }
  }
  return { send, json, ended, start, report }
}

/** Returns the events after which a saga has ended with status Error. */
export const failure = (sagaId: string, serviceName: string, tenant = 'default') => [
  { operation: 'SagaStarted', saga_id: sagaId, service_name: serviceName, tenant },
  { operation: 'ActivityExecuteStarted', saga_id: sagaId, activity_id: `${sagaId}-a`, tenant },
  {
    operation: 'ActivityCompensateAborted',
    saga_id: sagaId,
    activity_id: `${sagaId}-a`,
    errors: 'no',
    tenant,
  },
  { operation: 'SagaEnded', saga_id: sagaId, tenant },
]

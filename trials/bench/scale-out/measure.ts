import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { type Installation, startInstallation } from '../../scale-out/installation/installation.js'
import { startTree } from '../../support/tree.js'
import { runBatchLoad } from '../saga/batch-load.js'
import { runSingleLoad } from '../saga/single-load.js'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '8' } } })
const seconds = Number(values.seconds)

type Target = Pick<Installation, 'url' | 'grpcAddress' | 'rootToken' | 'stop'>

const env = { RATE_LIMIT_PER_MINUTE: '0' }
const commits = '/api/v4/projects/root%2Fbench/repository/commits'
let runs = 0

async function http(target: Target, request: autocannon.Request): Promise<number> {
  const result = await autocannon({
    url: target.url,
    connections: 8,
    duration: seconds,
    headers: { 'PRIVATE-TOKEN': target.rootToken, 'Content-Type': 'application/json' },
    requests: [request],
  })
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors at ${request.path}`)
  return result['2xx'] / result.duration
}

/** Each commit adds a new file, and all are on one branch. */
let files = 0
const commitRequest: autocannon.Request = {
  method: 'POST',
  path: commits,
  setupRequest: (request) => {
    files += 1
    const actions = [{ action: 'create', file_path: `${files % 100}/${files}`, content: `${files}\n` }]
    return { ...request, body: JSON.stringify({ branch: 'main', commit_message: `${files}`, actions }) }
  },
}

async function measure(target: Target) {
  const post = (path: string, body: object) =>
    fetch(`${target.url}${path}`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': target.rootToken, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/api/v4/projects', { name: 'bench', initialize_with_readme: true })
  const port = Number(target.grpcAddress.split(':')[1])
  const order = () => {
    runs += 1
    return { port, seconds, warmUpSeconds: 3, runDigits: String(runs).padStart(7, '0') }
  }
  const single = await runSingleLoad({ ...order(), callers: 50 })
  const batch = await runBatchLoad({ ...order(), callers: 4, batchEvents: 100 })
  return {
    'saga events/s, single calls': single.perSecond,
    'saga events/s, batches of 100': batch.perSecond,
    'commits/s': await http(target, commitRequest),
    'lists of commits/s': await http(target, { path: `${commits}?per_page=20` }),
    'lists of sagas/s': await http(target, { path: '/api/v4/sagas?per_page=20' }),
  }
}

const subjects: [string, () => Promise<Target>][] = [
  ['npm start', () => startTree({ env })],
  ['one of each', () => startInstallation({ single: true, env })],
  ['two of each', () => startInstallation({ env })],
]
for (const [name, start] of subjects) {
  const target = await start()
  try {
    for (const [what, perSecond] of Object.entries(await measure(target)))
      console.log(`${name.padEnd(12)} ${what.padEnd(32)} ${perSecond.toFixed(0).padStart(7)}`)
  } finally {
    await target.stop()
  }
}

// Writes packages/contracts/openapi.json: the OpenAPI documents of all services as one document. With
// --check, it fails when the file is out of date.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readArguments } from '../ops/setup/arguments.mjs'
import { bootstrap, root } from '../ops/setup/bootstrap.mjs'
import { getFreePort } from '../packages/local-servers/src/process/free-port.ts'

const { values } = readArguments('node scripts/openapi.mjs [--check]', { options: ['check'] })
const file = join(root, 'packages/contracts/openapi.json')
const services = ['git-api', 'admin-broadcast', 'jobqueue-metrics', 'saga-reporter']

/** Addresses on which nothing listens: services start while PostgreSQL and Redis are unavailable. */
const environment = {
  PATH: process.env.PATH,
  HOST: '127.0.0.1',
  GRPC_PORT: '0',
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  SWITCHYARD_STORAGE_ROOT: join(tmpdir(), 'switchyard-openapi'),
  LOG_LEVEL: 'silent',
  SHUTDOWN_TIMEOUT_MS: '1000',
}

/** Returns the OpenAPI document of a service, started from its bundle. */
async function documentOf(service) {
  const port = await getFreePort()
  const child = spawn(process.execPath, [join(root, 'services', service, 'dist/bundle/main.js')], {
    env: { ...environment, PORT: String(port) },
    stdio: 'inherit',
  })
  const exited = once(child, 'exit')
  try {
    return await fetchWhenUp(`http://127.0.0.1:${port}/-/openapi.json`, child)
  } finally {
    child.kill()
    await exited
  }
}

async function fetchWhenUp(url, child) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(200)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} has stopped`)
    const response = await fetch(url).catch(() => null)
    if (response?.ok) return response.json()
    if (response) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  }
  throw new Error(`nothing answers at ${url}`)
}

/** Merges components. A component of two services must be equal in both. */
function merge(parts, kind) {
  const merged = {}
  for (const [name, part] of parts.flatMap((each) => Object.entries(each))) {
    if (name in merged && JSON.stringify(merged[name]) !== JSON.stringify(part))
      throw new Error(`two services have a different ${kind} ${name}`)
    merged[name] = part
  }
  return merged
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))

await bootstrap(new AbortController().signal, {
  names: services.map((service) => `services/${service}`),
  withTools: true,
})
const documents = await Promise.all(services.map(documentOf))
const components = documents.map((document) => document.components)
const merged = {
  ...documents[0],
  paths: merge(
    documents.map(({ paths }) => paths),
    'path',
  ),
  components: Object.fromEntries(
    Object.keys(components[0]).map((kind) => [
      kind,
      sorted(
        merge(
          components.map((each) => each[kind]),
          kind,
        ),
      ),
    ]),
  ),
}
const text = `${JSON.stringify(merged, null, 2)}\n`

if (!values.check) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error('stale: packages/contracts/openapi.json\nrun: pnpm generate openapi')
  process.exitCode = 1
} else console.log(`${Object.keys(merged.paths).length} paths, fresh`)

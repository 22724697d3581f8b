// Writes the files that docker-compose.yml reads: `.env` with settings, and the folder `secrets` with one
// random secret in each file. Never replaces a setting or a secret. The URLs, which contain passwords, are
// rewritten from them each time.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readArguments } from '../setup/arguments.mjs'

const { operands } = readArguments(
  `node ops/docker/make-env.mjs [FOLDER]
  Writes .env and the folder secrets into FOLDER, else into this checkout.`,
  { operands: ['FOLDER?'] },
)
const repository = resolve(import.meta.dirname, '../..')
const folder = resolve(operands[0] ?? repository)
const secretsFolder = join(folder, 'secrets')
const services = ['git_api', 'saga_reporter', 'admin_broadcast', 'jobqueue_metrics', 'worker']
const password = () => randomBytes(24).toString('base64url')

/** Returns the content of a file; undefined for a missing file. */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return undefined
  }
}

/** Writes a file that does not exist yet, and returns whether it did. */
function writeNew(path, text, mode) {
  try {
    writeFileSync(path, text, { mode, flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

const settings = parseEnv(read(join(folder, '.env')) ?? '')

// Only the owner can enter the folder. Each file can be read by the user of the container that it is mounted
// into.
if (!existsSync(secretsFolder)) mkdirSync(secretsFolder, { mode: 0o700 })

/** Returns the secret of a file, or creates it: with the value in `.env`, otherwise a random one. */
function secret(name, make, variable = name.toUpperCase()) {
  const path = join(secretsFolder, name)
  writeNew(path, `${settings[variable] || make()}\n`, 0o444)
  return readFileSync(path, 'utf8').trim()
}

function writeDerived(name, text) {
  const path = join(secretsFolder, name)
  if (!writeNew(path, `${text}\n`, 0o644)) writeFileSync(path, `${text}\n`)
}

const databaseUrl = (user, secretOfUser) =>
  `postgresql://${user}:${encodeURIComponent(secretOfUser)}@postgres:5432/switchyard`

writeDerived('database_url', databaseUrl('switchyard', secret('postgres_password', password)))
for (const service of services) {
  const ofService = secret(`postgres_password_${service}`, password)
  writeDerived(`database_url_${service}`, databaseUrl(`switchyard_${service}`, ofService))
}
// With docker-compose.monitoring.yml.
secret('postgres_password_monitoring', password)
secret('grafana_password', password)

/**
 * Writes the file of the users of Redis. `default`, with `redis_password`, has all rights. Each service has
 * the rights of ops/deploy/redis/users.acl and a password that is derived from `redis_password`.
 */
function redisUsers() {
  const administrator = secret('redis_password', password)
  const hashed = (secretOfUser) => `on #${createHash('sha256').update(secretOfUser).digest('hex')}`
  const rules = readFileSync(join(repository, 'ops/deploy/redis/users.acl'), 'utf8').trim().split('\n')
  const users = rules.map((line) => {
    const user = line.split(' ')[1]
    const ofService = createHmac('sha256', administrator).update(user).digest('base64url')
    if (user === 'switchyard_monitoring')
      writeDerived('redis_exporter_passwords', JSON.stringify({ [`redis://${user}@redis:6379`]: ofService }))
    else
      writeDerived(
        `redis_url_${user.replace('switchyard_', '')}`,
        `redis://${user}:${ofService}@redis:6379/0`,
      )
    return `${line} ${hashed(ofService)}`
  })
  return [`user default ${hashed(administrator)} ~* &* +@all`, ...users].join('\n')
}
writeDerived('redis_users', redisUsers())
secret('root_token', () => `swy-${password()}`, 'SWITCHYARD_ROOT_TOKEN')
secret('webhook_secret_keys', () => randomBytes(32).toString('base64url'))
secret('storages_secret', password)
// Single sign-on: the secret from the provider, or a list of providers. With the written values, it is off.
secret('oidc_client_secret', password)
secret('oidc_providers', () => '[]')
// Copies of backups: their encryption password, and the key of the bucket from its owner.
secret('restic_password', password)
secret('aws_secret_access_key', password)
// Credentials for the server or collector of the audit log, which are used once `.env` has its address:
// docs/audit-log.md.
secret('audit_export_http_token', password)
secret('audit_export_http_secret', password)
secret('audit_export_otlp_headers', () => 'x-source=switchyard')
// Switchyard's own jobs, at REDIS_URL. docs/job-queues.md describes the other possible values.
secret(
  'jobqueue_sources',
  () => '[{"kind":"bullmq","name":"switchyard","prefix":"{switchyard}","discover":false}]',
)

const example = readFileSync(join(repository, '.env.example'), 'utf8')
if (!writeNew(join(folder, '.env'), example, 0o600) && !settings.SECRETS_FOLDER)
  console.log(
    'Add SECRETS_FOLDER=./secrets to .env, and remove the passwords, the token and the keys from .env: files in `secrets` hold them.',
  )
console.log(`The secrets are in ${secretsFolder}. The administrator's token is in root_token.`)

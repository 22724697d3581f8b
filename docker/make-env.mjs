// Writes `.env` for docker-compose.yml, with random secrets, readable by its owner only. Never overwrites.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const repository = resolve(import.meta.dirname, '..')
const target = resolve(process.argv[2] ?? resolve(repository, '.env'))
const secret = () => randomBytes(24).toString('base64url')

const text = readFileSync(resolve(repository, '.env.example'), 'utf8')
  .replace(
    /^# What [\s\S]*?\n\n/,
    '# Secrets of this installation: keep them, and keep them to yourself.\n\n',
  )
  .replace(/^SWITCHYARD_ROOT_TOKEN=$/m, () => `SWITCHYARD_ROOT_TOKEN=swy-${secret()}`)
  .replace(/^WEBHOOK_SECRET_KEYS=$/m, () => `WEBHOOK_SECRET_KEYS=${randomBytes(32).toString('base64url')}`)
  .replaceAll(/^((?:POSTGRES|REDIS)_PASSWORD\w*)=$/gm, (_, name) => `${name}=${secret()}`)

try {
  writeFileSync(target, text, { mode: 0o600, flag: 'wx' })
  console.log(`Wrote ${target}. The administrator's token is in it: SWITCHYARD_ROOT_TOKEN.`)
} catch (error) {
  if (error.code !== 'EEXIST') throw error
  console.error(
    `${target} exists already and stays as it is: delete it first if you mean to replace its secrets.`,
  )
  process.exitCode = 1
}

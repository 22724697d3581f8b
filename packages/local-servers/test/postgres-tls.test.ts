import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '@switchyard/db'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningPostgres, startPostgres } from '../src/postgres.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-tls-'))
const [authority, otherAuthority] = [join(folder, 'ca.pem'), join(folder, 'other.pem')]
let postgres: RunningPostgres

/** Creates a self-signed certificate for localhost. */
function makeCertificate(file: string): void {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', `${file}.key`, '-out', file], {
    stdio: 'ignore',
  })
}

beforeAll(async () => {
  for (const file of [authority, otherAuthority]) makeCertificate(file)
  postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => {}, durable: false })
  const admin = new pg.Client(postgres.adminUrl)
  await admin.connect()
  // The server writes its files itself, because it may run as another user.
  for (const [name, file] of Object.entries({ 'server.crt': authority, 'server.key': `${authority}.key` })) {
    const lines = `unnest(string_to_array(${pg.escapeLiteral(readFileSync(file, 'utf8'))}, E'\\n'))`
    await admin.query(`COPY (SELECT ${lines}) TO PROGRAM 'cat > ${name} && chmod 600 ${name}'`)
  }
  await admin.query('ALTER SYSTEM SET ssl = on')
  await admin.query('SELECT pg_reload_conf()')
  await admin.end()
})

afterAll(async () => {
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function isEncrypted(host: string, parameters: string): Promise<boolean | undefined> {
  const url = `${postgres.url.replace('127.0.0.1', host)}?${parameters}`
  const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'test' })
  try {
    const ssl = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    return (await database.prisma.$queryRawUnsafe<{ ssl: boolean }[]>(ssl))[0]?.ssl
  } finally {
    await database.close()
  }
}

it('sslmode=verify-full of DATABASE_URL encrypts, and connects only to the host of a certificate that the authority has signed', async () => {
  expect(await isEncrypted('localhost', `sslmode=verify-full&sslrootcert=${authority}`)).toBe(true)
  expect(await isEncrypted('localhost', '')).toBe(false)
  await expect(
    isEncrypted('localhost', `sslmode=verify-full&sslrootcert=${otherAuthority}`),
  ).rejects.toThrow()
  await expect(isEncrypted('127.0.0.1', `sslmode=verify-full&sslrootcert=${authority}`)).rejects.toThrow()
})

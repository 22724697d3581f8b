import { parseArgs } from 'node:util'
import { createDatabase } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { databaseUrl, loadConfig } from '@switchyard/service-kit/config'
import { z } from 'zod'
import { isCellName } from './cell-settings.js'
import { placeTenant } from './place-tenant.js'

const { positionals } = parseArgs({ allowPositionals: true })
const [tenant = '', cell = ''] = positionals
if (tenant === '' || !isCellName(cell) || positionals.length > 2) {
  process.stderr.write('usage: saga:place-tenant TENANT CELL\n')
  process.exit(2)
}
const config = loadConfig('saga:place-tenant', z.object({ DATABASE_URL: databaseUrl() }), process.env)

const url = config.DATABASE_URL.reveal()
const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'saga-place-tenant' })
try {
  await placeTenant(database, tenant, cell)
  process.stdout.write(`${tenant} belongs to the cell ${cell}\n`)
} catch (error) {
  if (!(error instanceof DomainError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
} finally {
  await database.close()
}

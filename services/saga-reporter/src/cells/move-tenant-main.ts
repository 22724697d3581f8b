import { parseArgs } from 'node:util'
import { createDatabase } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { commandLineProblem, databaseUrl, loadConfig } from '@switchyard/service-kit/config'
import { z } from 'zod'
import { defaultCell, isCellName } from './cell-settings.js'
import { moveTenant } from './move-tenant.js'

const usage = 'Usage: npm run saga:move-tenant TENANT CELL\n'

function refuse(problem: string): never {
  process.stderr.write(`✗ ${problem}\n${usage}`)
  process.exit(2)
}

function readCommandLine() {
  try {
    return parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } })
  } catch (error) {
    return refuse(commandLineProblem(error))
  }
}

const { values, positionals } = readCommandLine()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const [tenant = '', cell = ''] = positionals
if (tenant === '') refuse('TENANT is missing')
if (!isCellName(cell)) refuse('CELL is missing, or is no name of a cell')
if (positionals.length > 2) refuse(`'${positionals[2]}' is one argument too many`)

/** URLs may contain commas, and no spaces. */
const cellUrls = z
  .string()
  .default('')
  .transform((text, context) =>
    text
      .split(/\s+/)
      .filter((entry) => entry !== '')
      .map((entry) => {
        const [name = '', ...rest] = entry.split('=')
        const url = databaseUrl().safeParse(rest.join('='))
        if (isCellName(name) && url.success) return [name, url.data] as const
        context.addIssue({
          code: 'custom',
          message: 'must be cells such as second=postgresql://…, separated by spaces',
        })
        return z.NEVER
      }),
  )
const schema = z.object({ DATABASE_URL: databaseUrl(), SAGA_CELL_DATABASE_URLS: cellUrls })
const config = loadConfig('saga:move-tenant', schema, process.env)

const urls = new Map([...config.SAGA_CELL_DATABASE_URLS, [defaultCell, config.DATABASE_URL]])
const open = (url: string) =>
  createDatabase({ url, poolSizeMax: 4, applicationName: 'saga-move-tenant', answerTimeoutMs: 0 })
const databases = new Map([...urls].map(([name, url]) => [name, open(url.reveal())]))
try {
  await moveTenant(databases, tenant, cell)
  process.stdout.write(`${tenant} belongs to the cell ${cell}\n`)
} catch (error) {
  if (!(error instanceof DomainError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
} finally {
  await Promise.all([...databases.values()].map((database) => database.close()))
}
